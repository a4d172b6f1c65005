# SPDX-License-Identifier: Apache-2.0
"""Who publishes joint states: whether more than one node may give the same joints."""

from __future__ import annotations

from collections.abc import Sequence


class StateSources:
    """Compares the number of publishers with that of the sets of joints which their messages hold.

    An arm and a gripper are two publishers with two sets of joints. Two publishers with one set give the same joints,
    or one of them is silent; a message does not tell who sent it.
    """

    def __init__(self) -> None:
        self._publishers = 1
        self._problem = ""
        self._seen: dict[tuple[str, ...], float] = {}

    def note(self, names: Sequence[str], now: float) -> None:
        """Take note of a message with these joints at a time, s."""
        key = tuple(names)
        if key not in self._seen:
            self._forget(now)
        self._seen[key] = now

    def on_publishers(self, count: int, now: float) -> str:
        """Take the number of publishers at a time, s; return a problem that was not there the last time."""
        before, self._publishers = self._problem, count
        self._problem = self.problem(now)
        return "" if before else self._problem

    def problem(self, now: float) -> str:
        """Return why two publishers may give the same joints; empty where each has joints of its own."""
        self._forget(now)
        sets = len(self._seen)
        if self._publishers <= max(sets, 1):
            return ""
        kinds = "the same joints" if sets <= 1 else f"{sets} sets of joints"
        return f"{self._publishers} publishers on joint_states, but {kinds}: two give the same, or one is silent"

    def _forget(self, now: float) -> None:
        """Forget the joints of which nothing has come for 5 s."""
        self._seen = {each: at for each, at in self._seen.items() if now - at <= 5.0}
