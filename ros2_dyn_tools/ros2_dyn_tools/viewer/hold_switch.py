# SPDX-License-Identifier: Apache-2.0
"""The enabling signal of a button that is held in a browser.

The browser reports 20 times a second that the button is held. The signal ends soon after the last report, whatever
ended them: a released button, a closed lid, a page in the background, a network that is down. After it has ended it
begins again only with a new press.

Reports say nothing about when they were sent. Those that a network holds up arrive after the button is released, so
they must not count. A browser never reports faster than its timer: reports that come late, one after the other, show
how late they may be at most (`_lateness`), and those that come in a burst are old.
"""

from __future__ import annotations

from math import inf

REPORT_RATE = 20.0
"""Rate at which the browser reports that the button is held, Hz."""
TIMEOUT = 0.15
"""Time after the last report at which the signal ends, s."""
STEADY = 3
"""Number of reports at the right pace before the signal begins."""
BURST, MAX_BURST = 0.02, 2
"""Reports that follow each other faster were held up, s; after so many in a row the press does not count any more."""
PAUSE = 0.4
"""Time without reports that tells a new press from one that goes on, s."""
MAX_LATENESS = 0.3
"""Largest lateness at which a report still counts, s."""
TIMER_DRIFT = 0.1
"""How much slower than it should a browser's timer may run."""


class HoldSwitch:
    """One button of one browser."""

    def __init__(self) -> None:
        self._reported_at = -inf
        self._lateness = 0.0
        """How late the newest report may be, compared with the first one of this press, s."""
        self._steady = 0
        self._burst = 0
        self._spent = False
        """Whether the signal of this press has ended, or is never to begin."""

    def report(self, now: float) -> None:
        """Take a report that the button is held, at a time, s, which never decreases."""
        gap = now - self._reported_at
        self._reported_at = now
        if gap >= PAUSE:
            self._steady, self._burst, self._lateness, self._spent = 1, 0, 0.0, False
            return
        self._burst = self._burst + 1 if gap < BURST else 0
        self._lateness = max(0.0, self._lateness + gap - (1 + TIMER_DRIFT) / REPORT_RATE)
        begun = self._steady >= STEADY
        if self._burst >= MAX_BURST or (begun and (gap > TIMEOUT or self._lateness > MAX_LATENESS)):
            self._spent = True
        if not begun:
            self._steady = self._steady + 1 if BURST <= gap <= TIMEOUT else 1

    def release(self) -> None:
        """Take it that the browser is gone."""
        self._steady, self._spent = 0, True

    def enabled(self, now: float) -> bool:
        """Return the enabling signal at a time, s."""
        return self._steady >= STEADY and not self._spent and now - self._reported_at <= TIMEOUT
