# SPDX-License-Identifier: Apache-2.0
"""The page's server: where it listens, and what it refuses."""

from __future__ import annotations

import ipaddress
import socket
from typing import TYPE_CHECKING

from ros2_dyn.errors import InputError

if TYPE_CHECKING:
    import viser

MISSING = "viser is not installed: pip install 'ros2_dyn[view]', or pip install viser"
LOCAL = "127.0.0.1"
DEFAULT_PORT = 8080
PORTS = 100
"""Number of ports that are tried from the given one on."""


def start_server(host: str = LOCAL, port: int = DEFAULT_PORT) -> viser.ViserServer:
    """Start the server of a page, on the first free port from the given one on; 0 is any free port.

    Raises:
        InputError: viser is not installed, or the address is none of this machine.
    """
    try:
        import viser
    except ImportError:
        raise InputError("view", MISSING) from None

    class Server(viser.ViserServer):
        def request_share_url(self, verbose: bool = True) -> str | None:
            """Refuse: any browser may ask for it, and it would make the arm public through a server elsewhere."""
            return None

    server = Server(host=host, port=free_port(host, port), verbose=False)
    server.gui.configure_theme(show_logo=False, show_share_button=False, brand_color=(0, 95, 170))
    return server


def free_port(host: str, port: int) -> int:
    """Return the first port from the given one on that is free at an address of this machine; 0 stays.

    Raises:
        InputError: the address is none of this machine, or no port is free.
    """
    last: OSError | None = None
    for candidate in range(port, port + (PORTS if port else 1)):
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


def announce(server: viser.ViserServer, code: str = "") -> None:
    """Print where the page is, who can reach it, and the code for commands, if they are allowed."""
    print(f"page: {address(server)}", flush=True)
    if exposed := exposure(server.get_host(), bool(code)):
        print(exposed, flush=True)
    if code:
        print(f"code for commands: {code}", flush=True)


def exposure(host: str, allow_commands: bool) -> str:
    """Return who can reach a page at an address, and what they can do; empty where only this machine can."""
    if is_local(host):
        return ""
    who = "everybody who reaches this machine by a network" if is_everywhere(host) else f"everybody who reaches {host}"
    what = "see the robot, its description, states and diagnostics, and reset a collision"
    if allow_commands:
        what += "; with the code below also enter modes and give the enabling signal, which moves the arm"
    return f"exposed: {who} can {what}. Nothing is encrypted, and nobody has to log in."


def is_local(host: str) -> bool:
    """Return whether only this machine reaches an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_everywhere(host: str) -> bool:
    """Return whether an address stands for all of this machine."""
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return host == ""
