# SPDX-License-Identifier: Apache-2.0
"""The gains of the control laws, and the ramp from one set of them to the next, so that efforts do not step."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ros2_dyn.control.parameter import LISTS, Group
from ros2_dyn.control.ramp import Ramp
from ros2_dyn.runtime.settings import Settings


class GainRamp:
    """Parameters of the modes on their way from one value to the next.

    Efforts are linear in almost all gains, so that a linear way of the gains is one of the efforts.
    """

    def __init__(self) -> None:
        self._before: Settings | None = None
        self._ramp = Ramp()

    def change(self, before: Settings, settings: Settings, now: float) -> None:
        """Begin the ramp from what is in use to other settings, at a time, s."""
        self._before = None if before.modes == settings.modes else before
        self._ramp = Ramp(now, settings.commands.ramp_time)

    def at(self, settings: Settings, now: float) -> Settings:
        """Return the settings with the gains of a time, s."""
        s, before = self._ramp.share(now), self._before
        if before is None or s == 1:
            self._before = None
            return settings
        n = len(settings.robot.joints)
        return replace(settings, modes=tuple(_between(*each, s, n) for each in zip(before.modes, settings.modes)))


def gains(group: type[Group]) -> list[str]:
    """Return the numbers of a mode that may change while it commands, by the names of their fields."""
    return [key for key, each in group.parameters().items() if not each.locked and each.kind in (float, LISTS[1])]


def _between(before: Group, after: Group, s: float, n: int) -> Group:
    """Return parameters of a mode at a share of the way; lists that are not set count as n zeros."""
    changed: dict[str, Any] = {}
    for key in gains(type(after)):
        old, new = getattr(before, key), getattr(after, key)
        if isinstance(new, tuple) and old != new:
            changed[key] = tuple(a + s * (b - a) for a, b in zip(old or (0.0,) * n, new or (0.0,) * n))
        elif old != new:
            changed[key] = old + s * (new - old)
    return replace(after, **changed) if changed else after
