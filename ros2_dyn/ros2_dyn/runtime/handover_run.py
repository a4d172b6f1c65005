# SPDX-License-Identifier: Apache-2.0
"""Steps through a handover: passes on what it asks for, and gives it the answers."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

from ros2_dyn.runtime.handover_protocol import ArmView, Ask, EnterMode, Look, NoAnswer, Outcome, Procedure, Step


class HandoverRun:
    """One handover, in time."""

    def __init__(
        self, procedure: Procedure, ask: Callable[[Ask], None], see: Callable[[], ArmView], timeout: float
    ) -> None:
        """Create it; it begins with the first `on_time`.

        Args:
            procedure: what is done, see `take_over` and `give_back`.
            ask: passes on what is asked for, except looks; the answer comes by `answer`.
            see: looks at the arm.
            timeout: time within which controllers have to be listed and switched, s.
        """
        self.outcome: Outcome | None = None
        """How it ended; None: it has not yet."""
        self._procedure, self._ask, self._see, self._timeout = procedure, ask, see, timeout
        self._asked: Ask | None = None
        self._due = -inf

    def on_time(self, now: float) -> None:
        """Let time pass, s: look where a look is due, and give up what is not answered."""
        if self.outcome is not None or now < self._due:
            return
        if self._asked is None:
            self._go_on(None, now)
        elif isinstance(self._asked, Look):
            self._go_on(self._see(), now)
        else:
            self._go_on(NoAnswer(f"no answer within {self._timeout:g} s"), now)

    def answer(self, asked: Ask, value: Any, now: float) -> None:
        """Take an answer at a time, s; one that comes too late is dropped."""
        if asked is self._asked and self.outcome is None:
            self._go_on(value, now)

    def _go_on(self, value: Any, now: float) -> None:
        try:
            asked = self._procedure.send(value)
        except StopIteration as end:
            self.outcome = end.value
            return
        self._asked = asked
        if isinstance(asked, Look):
            self._due = now + asked.after
            return
        waits = isinstance(asked, EnterMode | Step)  # the runtime always answers
        self._due = inf if waits else now + self._timeout
        self._ask(asked)
