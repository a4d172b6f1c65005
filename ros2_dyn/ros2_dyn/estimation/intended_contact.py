# SPDX-License-Identifier: Apache-2.0
"""Contact that a mode intends, such as the hand that guides the arm, which is no collision as long as it lasts."""

from __future__ import annotations

from math import inf

LASTING_TIME = 2.0
"""Time for which such a contact may outlast its mode, s; beyond it, a wrong model would look like one for ever."""


class IntendedContact:
    """Tells whether what is felt is a contact that was intended when it began."""

    def __init__(self) -> None:
        self._until = -inf

    def excuses(self, intended: bool, felt: bool, now: float) -> bool:
        """Return whether external efforts are no collision.

        Args:
            intended: whether the mode intends contact.
            felt: whether a joint exceeds its threshold.
            now: time, s.
        """
        if intended:
            self._until = now + LASTING_TIME
        elif not felt:
            self._until = -inf
        return intended or now <= self._until
