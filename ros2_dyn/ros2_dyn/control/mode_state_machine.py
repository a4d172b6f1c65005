# SPDX-License-Identifier: Apache-2.0
"""The state machine of the modes.

monitor --enter--> a mode --stop--> stopped --enter--> ...
any --leave--> monitor (`leaving`: commands ramp down) --silence--> monitor
any --abort--> monitor at once
"""

from __future__ import annotations

from ros2_dyn.control.modes import MONITOR, STOPPED


class ModeStateMachine:
    """Modes and their transitions; efforts are the supervisor's."""

    def __init__(self) -> None:
        self.mode = MONITOR
        self.reason = ""
        """Reason for the end of the last mode; empty if it ended by request."""
        self.leaving = False
        """Whether commands still ramp down on the way to monitor."""

    @property
    def is_active(self) -> bool:
        """Whether a control law determines the commands."""
        return self.mode not in (MONITOR, STOPPED)

    def enter(self, mode: str) -> None:
        """Enter a mode by its name."""
        self.mode, self.reason, self.leaving = mode, "", False

    def leave(self) -> None:
        """Return to monitor by request; commands ramp down."""
        self.mode, self.reason, self.leaving = MONITOR, "", True

    def stop(self, reason: str) -> None:
        """Stop for a reason; commands continue to the safe effort."""
        self.mode, self.reason, self.leaving = STOPPED, reason, False

    def silence(self) -> None:
        """End commands; the reason stays."""
        self.mode, self.leaving = MONITOR, False

    def abort(self, reason: str) -> None:
        """End commands for a reason."""
        self.reason = reason
        self.silence()
