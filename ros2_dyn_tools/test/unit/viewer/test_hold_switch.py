# SPDX-License-Identifier: Apache-2.0
"""The enabling signal of a button in a browser: it ends whatever happens, and old reports do not count."""

import numpy as np
import pytest

from ros2_dyn_tools.viewer.hold_switch import MAX_LATENESS, REPORT_RATE, STEADY, TIMEOUT, HoldSwitch

PERIOD = 1 / REPORT_RATE


def pressed(switch: HoldSwitch, start: float, count: int, period: float = PERIOD) -> float:
    """Report at a pace; the time of the last one."""
    for i in range(count):
        switch.report(start + i * period)
    return start + (count - 1) * period


def enabled_during(switch: HoldSwitch, arrivals, end: float) -> np.ndarray:
    """Times, in ms, at which the signal is given, with reports at some arrivals."""
    arrivals, found = sorted(arrivals), []
    for now in np.arange(0.0, end, 1e-3):
        while arrivals and arrivals[0] <= now:
            switch.report(arrivals.pop(0))
        if switch.enabled(now):
            found.append(now)
    return np.array(found)


def test_held_button_enables_from_the_third_report_until_shortly_after_the_last():
    at = enabled_during(HoldSwitch(), 1.0 + PERIOD * np.arange(40), 5.0)
    assert at[0] == pytest.approx(1.0 + (STEADY - 1) * PERIOD, abs=2e-3)
    assert at[-1] == pytest.approx(1.0 + 39 * PERIOD + TIMEOUT, abs=2e-3)
    assert np.all(np.diff(at) < 2e-3)  # without a break


def test_a_click_enables_nothing():
    assert not len(enabled_during(HoldSwitch(), [1.0], 2.0))


@pytest.mark.parametrize("jitter", [0.03, 0.06])
def test_reports_that_jitter_keep_the_signal(jitter):
    arrivals = 1.0 + PERIOD * np.arange(200) + np.random.default_rng(3).uniform(0, jitter, 200)
    at = enabled_during(HoldSwitch(), arrivals, 12.0)
    assert len(at) > 9500
    begun = at[at > at[0] + 0.5]
    assert np.max(np.diff(begun)) < 2e-3


def test_after_a_break_the_same_press_enables_nothing_more_and_a_new_one_does():
    switch = HoldSwitch()
    end = pressed(switch, 1.0, 10)
    assert switch.enabled(end)
    end = pressed(switch, end + TIMEOUT + 0.05, 40)
    assert not switch.enabled(end)
    end = pressed(switch, end + 0.6, 10)
    assert switch.enabled(end)


def test_reports_that_a_network_held_up_and_delivers_at_once_enable_nothing():
    held_up = np.full(40, 4.0) + 1e-4 * np.arange(40)
    assert not len(enabled_during(HoldSwitch(), held_up, 6.0))


def test_a_stall_ends_the_signal_and_the_burst_after_it_does_not_bring_it_back():
    arrivals = [*(1.0 + PERIOD * np.arange(20)), *(4.0 + 1e-4 * np.arange(40)), *(4.01 + PERIOD * np.arange(3))]
    at = enabled_during(HoldSwitch(), arrivals, 6.0)
    assert at[-1] <= 1.0 + 19 * PERIOD + TIMEOUT + 1e-3


def test_reports_that_come_ever_later_end_the_signal_before_they_are_old():
    sent = PERIOD * np.arange(200)
    arrivals = 1.0 + sent * 1.8  # a link that carries 11 of 20 reports a second, so that they queue
    at = enabled_during(HoldSwitch(), arrivals, 20.0)
    reports_counted = int(np.sum(arrivals <= at[-1]))
    lateness = arrivals[reports_counted - 1] - 1.0 - sent[reports_counted - 1]
    assert lateness <= 1.5 * MAX_LATENESS
    assert at[-1] < 3.0


def test_browser_that_is_gone_enables_nothing():
    switch = HoldSwitch()
    end = pressed(switch, 1.0, 10)
    switch.release()
    assert not switch.enabled(end)
    assert not switch.enabled(pressed(switch, end + PERIOD, 10))
