# SPDX-License-Identifier: Apache-2.0
"""The gains of the control laws, and the ramp from one set of them to the next, so that efforts do not step."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ros2_dyn.control.ramp import Ramp
from ros2_dyn.runtime.settings import ABOUT, MODE_GROUP, TYPES, Settings


class GainRamp:
    """Parameters of the modes on their way from one value to the next.

    Efforts are linear in almost all gains, so that a linear way of the gains is one of the efforts.
    """

    def __init__(self) -> None:
        self._before: Settings | None = None
        self._changed: list[str] = []
        self._ramp = Ramp()

    def change(self, before: Settings, settings: Settings, now: float) -> None:
        """Begin the ramp from what is in use to other settings, at a time, s."""
        self._before = before
        self._changed = [name for name in GAINS if getattr(before, name) != getattr(settings, name)]
        self._ramp = Ramp(now, settings.ramp_time)

    def at(self, settings: Settings, now: float) -> Settings:
        """Return the settings with the gains of a time, s."""
        s, before = self._ramp.share(now), self._before
        if before is None or s == 1:
            self._before = None
            return settings
        return replace(settings, **{name: _between(before, settings, name, s) for name in self._changed})


GAINS = tuple(
    name
    for name, about in ABOUT.items()
    if about.group == MODE_GROUP and not about.locked and TYPES[name] in (float, tuple[float, ...])
)
"""The numbers that may change while a mode commands."""


def _between(before: Settings, after: Settings, name: str, s: float) -> Any:
    old, new = getattr(before, name), getattr(after, name)
    if not isinstance(new, tuple):
        return old + s * (new - old)
    zeros = (0.0,) * len(after.joints)
    return tuple(a + s * (b - a) for a, b in zip(old or zeros, new or zeros))
