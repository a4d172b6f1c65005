# SPDX-License-Identifier: Apache-2.0
"""The modes of the arm, and the behaviours after a stop."""

from __future__ import annotations

from typing import Literal

Mode = Literal["monitor", "gravity", "hand_guiding", "feed_forward", "force", "impedance", "stopped"]
"""`monitor` commands nothing; `stopped` follows a stop; the others can be entered and command."""
ACTIVE_MODES: tuple[Mode, ...] = ("gravity", "hand_guiding", "feed_forward", "force", "impedance")
"""Modes that can be entered and command."""
CONTACT_MODES: tuple[Mode, ...] = ("hand_guiding", "force", "impedance")
"""Modes in which people or things are touched, so that the tip is slow."""
WALLED_MODES: tuple[Mode, ...] = ("gravity", "hand_guiding", "impedance", "stopped")
"""Modes with soft walls before the joint limits."""
TRACKING_MODES: tuple[Mode, ...] = ("feed_forward", "force")
"""Modes that follow a target, and stop without it."""
StopBehaviour = Literal["hold_gravity", "zero_effort", "none"]
"""Command after a stop: damped gravity compensation, which goes on; zero, then none; or none at once."""
