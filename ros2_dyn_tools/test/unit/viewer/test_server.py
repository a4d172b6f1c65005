# SPDX-License-Identifier: Apache-2.0
"""Where the page listens, what it says of that, and whom it refuses."""

import asyncio
import socket
from collections.abc import Iterator

import pytest

from ros2_dyn.errors import InputError
from ros2_dyn_tools.viewer.server import address, exposure, free_port, is_own_page, start_server


def test_only_this_machine_is_not_exposed():
    assert exposure("127.0.0.1") == exposure("localhost") == exposure("::1") == ""


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.7", "arm.local"])
def test_other_addresses_say_what_is_exposed(host):
    assert "reset a collision" in exposure(host)


def test_port_that_is_taken_is_passed_over():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert port < free_port("127.0.0.1", port) <= port + 100


@pytest.mark.parametrize("host", ["192.0.2.1", "no such host"])
def test_address_of_another_machine_is_refused(host):
    with pytest.raises(InputError, match="cannot listen"):
        free_port(host, 8080)


@pytest.mark.parametrize("port", [-1, 65536])
def test_port_that_cannot_be_is_refused(port):
    with pytest.raises(InputError, match=f"port: expected a number from 0 to 65535, got {port}"):
        free_port("127.0.0.1", port)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Address of a page without a robot."""
    pytest.importorskip("viser", reason="viser is not here")
    server = start_server(port=0)
    yield address(server)
    server.stop()


def test_server_listens_where_it_should_and_never_makes_itself_public():
    pytest.importorskip("viser", reason="viser is not here")
    server = start_server(port=0)
    try:
        assert server.get_host() == "127.0.0.1"
        assert server.request_share_url() is None
    finally:
        server.stop()


def connect(url: str, origin: str | None, host: str = "") -> int:
    """Open a WebSocket as a browser does; return the size of the first message, or the status of the refusal."""
    import viser
    from websockets.asyncio.client import connect as websocket
    from websockets.exceptions import InvalidStatus

    async def first() -> int:
        where = url.replace("http://", "ws://")
        options = {"origin": origin, "subprotocols": [f"viser-v{viser.__version__}"], "max_size": None}
        if host:  # the name in the address is what goes into Host
            options |= {"host": "127.0.0.1", "port": int(url.rpartition(":")[2])}
            where = f"ws://{host}:{options['port']}"
        try:
            async with websocket(where, **options) as connection:
                return len(await asyncio.wait_for(connection.recv(), 20.0))
        except InvalidStatus as refusal:
            return -refusal.response.status_code

    return asyncio.run(first())


def test_websocket_of_the_page_itself_and_of_a_program_is_accepted(url):
    assert connect(url, url) > 0
    assert connect(url, None) > 0
    assert connect(url, url.replace("127.0.0.1", "localhost"), host="localhost") > 0


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("http://evil.example", ""),
        ("null", ""),
        ("http://127.0.0.1:1", ""),
        ("http://evil.example:{port}", "evil.example"),
    ],
)
def test_websocket_of_another_web_page_or_by_a_foreign_name_is_refused(url, origin, host):
    assert connect(url, origin.replace("{port}", url.rpartition(":")[2]), host) == -403


@pytest.mark.parametrize("host", ["evil.example:8080", "", "localhost.evil.example:8080"])
def test_page_is_not_served_by_a_foreign_name(host):
    assert not is_own_page(host, None, "127.0.0.1")


@pytest.mark.parametrize("host", ["localhost:8081", "[::1]:8080", "192.168.1.7:8080", "arm.lab:8080"])
def test_page_is_served_by_address_and_by_the_name_it_listens_on(host):
    assert is_own_page(host, f"http://{host}", "arm.lab")
