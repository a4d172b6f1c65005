# SPDX-License-Identifier: Apache-2.0
"""Timing on a noisy machine: candidates take turns, and the median of their turns counts."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping

TURNS = 15
TURN_LENGTH = 0.005
"""Seconds that one turn of one candidate takes, about."""


def interleaved(candidates: Mapping[str, Callable[[], object]], turns: int = TURNS) -> dict[str, float]:
    """Microseconds per call of each candidate: the median over its turns."""
    calls = {name: max(1, round(TURN_LENGTH / _seconds(function, 1))) for name, function in candidates.items()}
    measured: dict[str, list[float]] = {name: [] for name in candidates}
    for _ in range(turns):
        for name, function in candidates.items():
            measured[name].append(_seconds(function, calls[name]))
    return {name: 1e6 * statistics.median(values) for name, values in measured.items()}


def _seconds(function: Callable[[], object], calls: int) -> float:
    function()
    started = time.perf_counter()
    for _ in range(calls):
        function()
    return (time.perf_counter() - started) / calls
