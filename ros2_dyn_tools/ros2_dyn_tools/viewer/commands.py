# SPDX-License-Identifier: Apache-2.0
"""Modes and the enabling signal from the page, for browsers that were given the code."""

from __future__ import annotations

import hmac
import secrets
import threading
import time
from typing import TYPE_CHECKING, Any, Protocol

from ros2_dyn.control.modes import ACTIVE_MODES
from ros2_dyn_tools.viewer.hold_switch import REPORT_RATE, HoldSwitch

if TYPE_CHECKING:
    import viser

TRIES, LOCKED = 5, 30.0
"""Number of wrong codes after which none is taken for so long, s."""
ABOUT = (
    '<div style="font-size:12px;margin:2px 12px;opacity:.75">The signal ends when the button is released, the page is '
    "left, or the connection is slow. It is no emergency stop: keep that in your other hand.</div>"
)


class Commander(Protocol):
    """What carries out the commands."""

    def set_mode(self, mode: str) -> str:
        """Enter a mode; return why not, or an empty text."""


class Lock:
    """A code that has to be given before anything is commanded.

    The page is open to every browser that reaches its address. On the same machine that includes every web page that a
    browser shows: pages may open connections to other addresses. So commands need what only the terminal shows.
    """

    def __init__(self, code: str | None = None) -> None:
        self.code = code or secrets.token_hex(4)
        self._wrong, self._closed_until = 0, 0.0

    def opens(self, given: str, now: float) -> bool:
        """Return whether a code is the right one, at a time, s. After some wrong ones it is closed for a while."""
        if now < self._closed_until:
            return False
        if hmac.compare_digest(given.strip().encode(), self.code.encode()):
            self._wrong = 0
            return True
        self._wrong += 1
        if self._wrong >= TRIES:
            self._wrong, self._closed_until = 0, now + LOCKED
        return False


class CommandPanel:
    """The commands' part of the page. Each browser has its own, once it has given the code."""

    def __init__(self, server: viser.ViserServer, folder: Any, commander: Commander, lock: Lock) -> None:
        """Ask each browser for the code.

        Args:
            server: the page's.
            folder: where the controls are.
            commander: carries the commands out.
            lock: holds the code.
        """
        self._commander, self._lock, self._folder = commander, lock, folder
        self._switches: dict[int, HoldSwitch] = {}
        self._guard = threading.Lock()
        folder.visible = True
        server.on_client_connect(self._greet)
        server.on_client_disconnect(self._forget)

    def enabled(self, now: float) -> bool:
        """Return the enabling signal at a time of the monotonic clock, s."""
        with self._guard:
            return any(switch.enabled(now) for switch in self._switches.values())

    def _greet(self, client: viser.ClientHandle) -> None:
        with self._folder:
            code = client.gui.add_text("Code", "", hint="printed in the terminal where the page was started")
            unlock = client.gui.add_button("Unlock commands")

        def take(_: Any) -> None:
            if not self._lock.opens(code.value, time.monotonic()):
                client.add_notification("Commands", "wrong code, or too many wrong ones", color="red")
                return
            code.remove()
            unlock.remove()
            self._offer(client)

        unlock.on_click(take)

    def _offer(self, client: viser.ClientHandle) -> None:
        """Show the commands to a browser."""
        switch = HoldSwitch()
        with self._guard:
            self._switches[client.client_id] = switch
        with self._folder:
            mode = client.gui.add_dropdown("Mode", ACTIVE_MODES)
            enter = client.gui.add_button("Enter mode", color="blue")
            stop = client.gui.add_button("Stop commanding (monitor)", color="red")
            hold = client.gui.add_button("Hold to enable", color="green")
            client.gui.add_html(ABOUT)

        async def report(_: Any) -> None:  # in the server's own loop: a pool of threads would mix the times up
            with self._guard:
                switch.report(time.monotonic())

        hold.on_hold(report, callback_hz=REPORT_RATE)
        enter.on_click(lambda _: self._enter(client, mode.value))
        stop.on_click(lambda _: self._enter(client, "monitor"))

    def _enter(self, client: viser.ClientHandle, mode: str) -> None:
        problem = self._commander.set_mode(mode)
        if problem:
            client.add_notification(f"Mode {mode}", problem[:300], color="red")
        else:
            client.add_notification(f"Mode {mode}", "entered", auto_close_seconds=3.0, color="green")

    def _forget(self, client: viser.ClientHandle) -> None:
        with self._guard:
            if (switch := self._switches.pop(client.client_id, None)) is not None:
                switch.release()
