# SPDX-License-Identifier: Apache-2.0
"""How much is tested: a representative part by default, all where the environment variable FULL is 1."""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import cycle, product
from typing import TypeVar

T = TypeVar("T")
S = TypeVar("S")
FULL = os.environ.get("FULL", "") not in ("", "0")


def part(cases: Iterable[T], *indices: int) -> list[T]:
    """Return all cases where FULL is 1, otherwise those at the indices."""
    cases = list(cases)
    return cases if FULL else [cases[i] for i in indices]


def by_turns(cases: Iterable[S], values: Iterable[T]) -> list[tuple[S, T]]:
    """Return all cases with all values where FULL is 1, otherwise each case with one value, by turns."""
    return [*product(cases, values)] if FULL else [*zip(cases, cycle(values))]
