# SPDX-License-Identifier: Apache-2.0
"""What a promise is: a function of the record of a world, with its text, and the faults that it is made anew after."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ros2_dyn_tools.campaign.broken import Broken
from ros2_dyn_tools.campaign.record import Record


class Disturbances(NamedTuple):
    """Faults from whose end on rest is promised anew."""

    during: Sequence[str] = ()
    """Kinds of faults during which more than the node's commands moves the arm, or nothing can brake it."""
    changes: Sequence[str] = ()
    """Kinds of faults whose beginning and end change what the arm is: rest is promised amid them."""
    unseen: Sequence[str] = ()
    """Kinds of faults during which the arm may not be seen: it goes no farther, is no faster, and rests afterwards."""

    @property
    def of_rest(self) -> Disturbances:
        """Those of rest."""
        return self._replace(during=(*self.during, *self.unseen))


Check = Callable[[Record, Disturbances], Iterator[Broken]]


class Promise(NamedTuple):
    """What is promised, and whether a record keeps it."""

    name: str
    text: str
    check: Check


def promise(check: Check, **numbers: float) -> Promise:
    """Make the function below a promise: its name and docstring are those of the promise."""
    text = " ".join((check.__doc__ or "").split()).format(**check.__globals__ | numbers)
    return Promise(check.__name__.replace("_", " "), text[0].lower() + text[1:].rstrip("."), check)


def broken_promises(promises: Sequence[Promise], record: Record, disturbing: Disturbances) -> list[Broken]:
    """Return the promises that a record breaks, each once, at the first time.

    Args:
        promises: what is promised.
        record: of the world.
        disturbing: faults from whose end on rest is promised anew.
    """
    found = []
    for promise in promises:
        earliest = min(promise.check(record, disturbing), key=lambda each: each.t, default=None)
        if earliest is not None:
            found.append(earliest._replace(promise=promise.name))
    return found
