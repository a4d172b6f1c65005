# SPDX-License-Identifier: Apache-2.0
"""Events of the pipeline: interventions, rejections and changes, for logs and diagnostics."""

from __future__ import annotations

from typing import Literal, NamedTuple

from ros2_dyn.errors import MessageError

Level = Literal["info", "warning", "error"]


class Event(NamedTuple):
    """One intervention, refusal or change."""

    kind: str
    """A short constant phrase to count by, such as "slew limit"."""
    text: str
    """A sentence with the joint, the value and the limit."""
    level: Level = "warning"
    logged: bool = True
    """Whether it belongs into a log; False for repetitions."""
    topic: str = ""
    """The input that was rejected, or doubted; empty where none was."""


class Violation(NamedTuple):
    """A condition that does not hold, so that a mode stops."""

    kind: str
    """A short constant phrase to count by."""
    detail: str = ""
    """The joint, the value and the limit, with a leading colon."""
    remedy: str = ""
    """What to do about it before a mode begins; empty where that is plain."""


def rejection(topic: str, error: MessageError) -> Event:
    """Return the event of a message that cannot be used."""
    return Event(error.reason, f"rejected a message on {topic}: {error}", topic=topic)
