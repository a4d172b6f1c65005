# SPDX-License-Identifier: Apache-2.0
"""Where the page listens, what it says of that, and who may command."""

import socket

import pytest

from ros2_dyn.errors import InputError
from ros2_dyn_tools.viewer.commands import LOCKED, TRIES, Lock
from ros2_dyn_tools.viewer.server import exposure, free_port, start_server


def test_only_this_machine_is_not_exposed():
    assert exposure("127.0.0.1", True) == exposure("localhost", True) == exposure("::1", False) == ""


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.7", "arm.local"])
def test_other_addresses_say_what_is_exposed(host):
    text = exposure(host, allow_commands=False)
    assert "reset a collision" in text
    assert "moves the arm" not in text
    assert "moves the arm" in exposure(host, allow_commands=True)


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


def test_server_listens_where_it_should_and_never_makes_itself_public():
    pytest.importorskip("viser", reason="viser is not here")
    server = start_server(port=0)
    try:
        assert server.get_host() == "127.0.0.1"
        assert server.request_share_url() is None
    finally:
        server.stop()


def test_lock_opens_for_its_code_alone():
    lock = Lock("a1b2c3d4")
    assert lock.opens(" a1b2c3d4 ", 0.0)
    assert not lock.opens("", 0.0)
    assert len(Lock().code) == 8
    assert Lock().code != Lock().code


def test_lock_takes_no_code_for_a_while_after_wrong_ones():
    lock = Lock("right")
    assert not any(lock.opens(f"wrong {i}", 10.0) for i in range(TRIES))
    assert not lock.opens("right", 10.0 + 0.9 * LOCKED)
    assert lock.opens("right", 10.0 + 1.1 * LOCKED)
