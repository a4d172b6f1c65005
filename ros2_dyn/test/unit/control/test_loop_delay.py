# SPDX-License-Identifier: Apache-2.0
"""The delay of a loop, against loops whose delay is known."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from ros2_dyn.control.command_history import CommandHistory
from ros2_dyn.control.loop_delay import MAX_COMMAND_DELAY, RESOLUTION, CommandDelay, LoopDelay


def test_history_gives_the_command_that_was_held():
    history = CommandHistory(0.1)
    assert history.at(0.0) is None
    for k in range(1000):
        history.add(0.01 * k, np.array([float(k)]))
    assert_array_equal(history.at(9.955), [995])
    assert_array_equal(history.at(9.90001), [990])
    assert history.at(5.0) is None
    low, high = history.since(9.955)
    assert (low, high) == ([995], [999])  # the one that was held then, and all later ones
    assert history.last == [999]
    history.clear()
    assert history.at(9.955) is None
    assert history.last is None


def states(loop: LoopDelay, n: int, period: float, age: float, start: float = 0.0) -> float:
    """Let states of an age come at a period, and return the time."""
    for k in range(n):
        loop.on_state(start + k * period, start + k * period - age)
    return start + n * period


def test_delay_of_the_states_is_age_and_period():
    loop = LoopDelay(CommandHistory(1.0), 0.1)
    states(loop, 100, 0.002, 0.03)
    assert loop.longest == pytest.approx(0.032)


def test_states_that_come_in_bursts_are_as_late_as_the_last_of_a_pause():
    """Nine of ten come at once with the next, so that the median period is zero."""
    loop = LoopDelay(CommandHistory(1.0), 0.1)
    for k in range(100):
        for i in range(10):
            loop.on_state(0.02 * k, 0.02 * k - 0.002 * (9 - i))
    assert loop.longest == pytest.approx(0.02, rel=0.1)


def test_a_late_state_counts_at_once_and_fades_slowly():
    loop = LoopDelay(CommandHistory(1.0), 0.1)
    now = states(loop, 100, 0.01, 0.0)
    loop.on_state(now + 0.04, now + 0.04)
    assert loop.longest == pytest.approx(0.05)
    now = states(loop, 50, 0.01, 0.0, now + 0.05)
    assert 0.02 < loop.longest < 0.03
    states(loop, 500, 0.01, 0.0, now)
    assert loop.longest == pytest.approx(0.01, abs=1e-3)


def test_a_pause_that_no_mode_outlasts_is_forgotten():
    loop = LoopDelay(CommandHistory(1.0), 0.1)
    now = states(loop, 100, 0.01, 0.0)
    states(loop, 3, 0.01, 0.005, now + 5.0)
    assert loop.longest == pytest.approx(0.015)


def estimate(delay: float, noise: float = 0.0, amplitude: float = 1.0, period: float = 0.004) -> float:
    """Return the estimated delay of commands that wander, whose effort is measured with a bias."""
    rng, commands = np.random.default_rng(1), CommandHistory(0.24)
    found = CommandDelay(commands)
    sent = amplitude * np.cumsum(rng.normal(size=(500, 2)), axis=0)
    late = round(delay / period)
    for k, command in enumerate(sent):
        exerted = sent[max(k - 1 - late, 0)]
        found.on_effort(k * period, exerted + 3.0 + noise * rng.normal(size=2), np.array([50.0, 20.0]))
        commands.add(k * period, command)
    return found.delay


@pytest.mark.parametrize("delay", [0.008, 0.02, 0.08])
@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_measured_efforts_show_the_delay_of_commands(delay, noise):
    """It is rounded up, and counts the period in which a command is sent after the measurement."""
    assert delay <= estimate(delay, noise) <= delay + 0.004 + 2 * RESOLUTION


@pytest.mark.parametrize("delay", [0.008, 0.06])
def test_noise_of_a_light_joint_does_not_hide_the_delay_that_a_strong_one_shows(delay):
    """Drives measure with the same noise, 0.1 N m: a fifth of what the light joint may exert."""
    rng, commands, limit = np.random.default_rng(1), CommandHistory(0.24), np.array([50.0, 0.5])
    found, sent = CommandDelay(commands), np.cumsum(rng.normal(scale=0.005, size=(500, 2)), axis=0) * limit
    for k, command in enumerate(sent):
        exerted = sent[max(k - 1 - round(delay / 0.004), 0)]
        found.on_effort(0.004 * k, exerted + 0.1 * rng.normal(size=2), limit)
        commands.add(0.004 * k, command)
    assert delay <= found.delay <= delay + 0.004 + 2 * RESOLUTION


def test_efforts_may_follow_by_the_longest_delay_that_is_looked_for_until_they_show_theirs():
    rng, commands = np.random.default_rng(1), CommandHistory(0.24)
    loop, sent = LoopDelay(commands, 0.1), np.cumsum(rng.normal(size=(500, 1)), axis=0)
    allowed = []
    for k, command in enumerate(sent):
        loop.on_state(0.004 * k, 0.004 * k)
        loop.way.on_effort(0.004 * k, sent[max(k - 3, 0)], np.array([20.0]))
        commands.add(0.004 * k, command)
        allowed.append(loop.answer_time)
    assert set(allowed[:25]) == {MAX_COMMAND_DELAY}
    assert 0.008 < allowed[-1] < 0.03


@pytest.mark.parametrize("delay", [0.008, 0.06])
def test_slow_commands_show_the_delay_too(delay):
    """At 0.3 Hz, where delays of a period more or less differ by a thousandth."""
    commands, t = CommandHistory(0.24), 0.004 * np.arange(1500)
    found = CommandDelay(commands)
    sent = np.stack([np.sin(1.9 * t), np.cos(1.9 * t)], axis=1)
    for k, command in enumerate(sent):
        found.on_effort(t[k], sent[max(k - 1 - round(delay / 0.004), 0)], np.array([1.0, 1.0]))
        commands.add(t[k], command)
    assert delay <= found.delay <= delay + 0.004 + 2 * RESOLUTION


def test_of_delays_that_states_cannot_tell_apart_the_shortest_counts():
    """Twice a command came between a measurement and its state, which blurs the sums for long."""
    rng, commands = np.random.default_rng(1), CommandHistory(0.24)
    found = CommandDelay(commands)
    sent = np.cumsum(rng.normal(size=(1000, 2)), axis=0)
    for k in range(1, 1000):
        if k in (41, 42):
            commands.add(0.004 * k, sent[k] + 1.0)
        found.on_effort(0.004 * k + 1e-6, sent[k - 1], np.array([50.0, 20.0]))
        commands.add(0.004 * k, sent[k])
    assert found.delay == 0.0


def test_efforts_that_show_no_command_give_no_delay():
    assert estimate(0.02, noise=50.0) == 0.0
    assert estimate(0.02, amplitude=0.0) == 0.0


def test_noise_of_the_first_states_gives_no_delay():
    """Of 30 delays, one explained the only change that was seen by then: a loop counted as 0.12 s late for ever."""
    rng, limit = np.random.default_rng(1), np.ones(6)
    for _ in range(100):
        commands, t = CommandHistory(0.24), 0.004 * np.arange(100)
        found = CommandDelay(commands)
        for now, exerted, sent in zip(t, rng.normal(size=(100, 6)), rng.normal(size=(100, 6))):
            found.on_effort(now, limit / 2 + 0.02 * exerted * limit, limit)
            commands.add(now, limit / 2 + 0.02 * sent * limit)
        assert found.delay == 0.0


def test_efforts_that_change_by_rounding_alone_give_no_delay():
    """Those of an arm at rest: any delay may explain them."""
    assert estimate(0.02, amplitude=1e-9) == 0.0


def test_commands_that_come_sooner_than_before_make_the_loop_faster_slowly():
    """The stiffness of a wall goes with the square of that: a step of it would throw a joint."""
    loop = LoopDelay(CommandHistory(1.0), 0.1)
    loop.way.delay = 0.04
    now, before = states(loop, 10, 0.01, 0.0), loop.command_delay
    loop.way.delay = 0.01
    for _ in range(300):
        now, last = states(loop, 1, 0.01, 0.0, now), before
        before = loop.command_delay
        assert 0.97 * last < before <= last
    assert before == pytest.approx(0.01)


def test_the_declared_delay_of_commands_counts_until_efforts_show_more():
    loop = LoopDelay(CommandHistory(1.0), 0.1, declared=0.01)
    states(loop, 10, 0.002, 0.0)
    assert loop.longest == pytest.approx(0.012)


def test_stamps_ahead_of_their_arrival_hide_as_much_of_the_delay_at_least():
    """Of the declared delay; the state itself is not younger than its arrival."""
    loop = LoopDelay(CommandHistory(1.0), 0.1, declared=0.01)
    now = states(loop, 100, 0.002, -0.03)
    assert loop.ahead == pytest.approx(0.03)
    assert loop.longest == pytest.approx(0.002 + 0.01 + 0.03)
    now = states(loop, 50, 0.002, 0.0, now)
    assert 0.02 < loop.ahead < 0.03
    states(loop, 5000, 0.002, 0.0, now)
    assert loop.ahead == pytest.approx(0.0, abs=1e-3)


@pytest.mark.parametrize("offset", [-0.02, 0.0, 0.02, 0.03, 0.05])
def test_measured_efforts_show_the_whole_loop_whatever_the_clock_of_their_stamps(offset):
    """States are 30 ms late and commands 40 ms, and stamps are of a clock that is `offset` ahead, s."""
    rng, history, period = np.random.default_rng(1), CommandHistory(1.0), 0.004
    loop, limit = LoopDelay(history, 0.1), np.full(6, 100.0)
    walk = np.cumsum(rng.normal(scale=1.0, size=(1000, 6)), axis=0)
    for k in range(1000):
        now = k * period
        history.add(now, walk[k])
        measured = now - 0.03  # by our clock
        applied = round((measured - 0.04) / period)
        if applied >= 0:
            loop.on_state(now, measured + offset)
            loop.way.on_effort(measured + offset, walk[applied], limit)
    least = 0.03 + 0.04 + period
    assert least - 0.002 <= loop.longest <= least + 2 * RESOLUTION + max(offset - 0.03, 0.0)


def test_efforts_that_do_not_follow_the_commands_show_no_delay_until_commands_begin_again():
    rng, commands = np.random.default_rng(1), CommandHistory(0.24)
    found, limit = CommandDelay(commands), np.array([50.0, 20.0])
    sent = np.cumsum(rng.normal(size=(1200, 2)), axis=0)

    def play(first: int, late: int) -> float:
        for k in range(first, first + 300):
            found.on_effort(0.004 * k, sent[max(k - 1 - late, 0)], limit)
            commands.add(0.004 * k, sent[k])
        return found.delay

    right = play(0, late=2)
    found.begin()
    assert play(300, late=20) > 0.08
    found.disbelieve()
    assert found.delay == right
    assert play(600, late=20) == right
    found.begin()
    assert play(900, late=20) > 0.08
