"""The state machine of the modes: which mode the arm is in, why, and whether it is being left.

monitor --enter--> gravity | hand_guiding | feed_forward | force --stop--> stopped --enter--> ...
any --leave--> monitor, which still ramps down (`leaving`) --silence--> monitor
any --abort--> monitor, at once
"""

from __future__ import annotations

from ros2_dyn.control.modes import ACTIVE_MODES, Mode


class ModeStateMachine:
    """Modes and their transitions; it knows nothing of efforts."""

    def __init__(self) -> None:
        self.mode: Mode = "monitor"
        self.reason = ""
        """Why the last mode ended, where it did not end by request."""
        self.leaving = False
        """Whether commands still ramp down on the way to monitor."""

    @property
    def is_active(self) -> bool:
        """Whether the control law of a mode is in charge."""
        return self.mode in ACTIVE_MODES

    def enter(self, mode: Mode) -> None:
        """Enter one of `ACTIVE_MODES`."""
        self.mode, self.reason, self.leaving = mode, "", False

    def leave(self) -> None:
        """Return to monitor by request, through a ramp."""
        self.mode, self.reason, self.leaving = "monitor", "", True

    def stop(self, reason: str) -> None:
        """Stop for a reason; commands go on to the safe effort."""
        self.mode, self.reason, self.leaving = "stopped", reason, False

    def silence(self) -> None:
        """Command nothing any more; the reason stays."""
        self.mode, self.leaving = "monitor", False

    def abort(self, reason: str) -> None:
        """Command nothing any more, for a reason."""
        self.reason = reason
        self.silence()
