# SPDX-License-Identifier: Apache-2.0
"""What is odd in a robot description: where, how bad, and what to do."""

from __future__ import annotations

from typing import Literal, NamedTuple

Severity = Literal["error", "warning", "note"]
"""error: no body or joint is like this. warning: it is probably not meant. note: good to know."""


class Finding(NamedTuple):
    """One finding."""

    severity: Severity
    code: str
    """A fixed word for programs."""
    element: str
    """As the user knows it: ``"joint 'elbow'"``, ``"link 'tool0'"`` or ``"robot"``."""
    problem: str
    """What was found, with its number."""
    advice: str = ""
    """What to do."""

    def __str__(self) -> str:
        """Return it as one line."""
        return f"{self.element}: {self.problem}{self.advice and f'; {self.advice}'}"
