# SPDX-License-Identifier: Apache-2.0
"""The page's server: where it listens, and what it refuses."""

from __future__ import annotations

import ipaddress
import socket
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from unittest.mock import patch
from urllib.parse import urlsplit

from ros2_dyn.errors import InputError

if TYPE_CHECKING:
    import viser

LOCAL = "127.0.0.1"
DEFAULT_PORT = 8080


def start_server(host: str = LOCAL, port: int = DEFAULT_PORT) -> viser.ViserServer:
    """Start the server of a page, on the first free port from the given one on; 0 is any free port.

    Raises:
        InputError: viser is not installed, the address is none of this machine, or the requests cannot be checked.
    """
    try:
        import viser
        import websockets.asyncio.server as websocket_server
    except ImportError:
        raise InputError("view", "viser is not installed: pip install 'ros2_dyn[view]', or pip install viser") from None

    class Server(viser.ViserServer):
        def request_share_url(self, verbose: bool = True) -> str | None:
            """Refuse: any browser may ask for it, and it would make the arm public through a server elsewhere."""
            return None

    serve, checked = websocket_server.serve, []

    def serve_checked(handler: Any, *where: Any, process_request: Any, **options: Any) -> Any:
        def answer(connection: Any, request: Any) -> Any:
            headers = request.headers
            if not is_own_page(headers.get("Host", ""), headers.get("Origin"), host):
                return connection.respond(HTTPStatus.FORBIDDEN, "requests of other web pages are refused\n")
            return process_request(connection, request)

        checked.append(True)
        return serve(handler, *where, process_request=answer, **options)

    with patch.object(websocket_server, "serve", serve_checked):  # viser itself has no place for such a check
        server = Server(host=host, port=free_port(host, port), verbose=False)
    if not checked:
        server.stop()
        raise InputError("view", "this version of viser does not let ros2_dyn refuse other web pages: install 1.1.1")
    server.gui.configure_theme(show_logo=False, show_share_button=False, brand_color=(0, 95, 170))
    return server


def free_port(host: str, port: int) -> int:
    """Return the first port from the given one on that is free at an address of this machine; 0 stays.

    Raises:
        InputError: the address is none of this machine, or there is no such port, or none is free.
    """
    if not 0 <= port < 2**16:
        raise InputError("port", f"expected a number from 0 to 65535, got {port}")
    last: OSError | None = None
    for candidate in range(port, port + (100 if port else 1)):
        try:
            family, kind, _, _, address = socket.getaddrinfo(host, candidate, type=socket.SOCK_STREAM)[0]
            with socket.socket(family, kind) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(address)
                return candidate
        except (OSError, OverflowError) as error:
            last = error if isinstance(error, OSError) else OSError(str(error))
    raise InputError("host", f"cannot listen on {host}, port {port}: {last}")


def address(server: viser.ViserServer) -> str:
    """Return the address of the page for a browser."""
    host = server.get_host()
    name = "localhost" if is_everywhere(host) else f"[{host}]" if ":" in host else host
    return f"http://{name}:{server.get_port()}"


def is_own_page(host: str, origin: str | None, given: str) -> bool:
    """Return whether a request comes from the page itself, or from a program that is no browser.

    Any web page that a browser on this machine shows may open WebSockets to 127.0.0.1. The browser tells its origin.
    A name that its owner lets point to this machine (DNS rebinding) is the origin and the host: so names are refused,
    but for those of this machine.

    Args:
        host: header Host, with the port.
        origin: header Origin, which browsers send with WebSockets; None: there is none.
        given: address that the server listens on.
    """
    name = (urlsplit(f"//{host}").hostname or "").removesuffix(".")
    own = {"localhost", given.lower(), socket.gethostname().lower()}
    if not (_ip(name) is not None or name in own or name.removesuffix(".local") in own):
        return False
    return origin is None or urlsplit(origin).netloc.lower() == host.lower() != ""


def announce(server: viser.ViserServer) -> None:
    """Print where the page is, and who can reach it."""
    print(f"page: {address(server)}", flush=True)
    if exposed := exposure(server.get_host()):
        print(exposed, flush=True)


def exposure(host: str) -> str:
    """Return who can reach a page at an address, and what they can do; empty where only this machine can."""
    number = _ip(host)
    if host == "localhost" or (number is not None and number.is_loopback):
        return ""
    who = "everybody who reaches this machine by a network" if is_everywhere(host) else f"everybody who reaches {host}"
    what = "see the robot, its description, states and diagnostics, and reset a collision"
    return f"exposed: {who} can {what}. Nothing is encrypted, and nobody has to log in."


def is_everywhere(host: str) -> bool:
    """Return whether an address stands for all of this machine."""
    number = _ip(host)
    return host == "" or (number is not None and number.is_unspecified)


def _ip(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return a name as an IP address; None: it is none."""
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None
