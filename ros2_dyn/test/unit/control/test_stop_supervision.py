# SPDX-License-Identifier: Apache-2.0
"""Supervision of stops: which motions after a stop are failures, when they are noticed, and what follows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from ros2_dyn.control.stop_supervision import StopFailure, StopSupervision

PERIOD = 0.004


def judge(
    position: Callable[[float], float],
    until: float = 2.0,
    settles: float = 0.02,
    period: float = PERIOD,
    noise: float = 0.0,
    velocity: float | None = None,
) -> tuple[float, StopFailure] | None:
    """Stop at 0 s; return the first failure and its time, s.

    Args:
        position: position of the first of two joints at a time, s.
        until: end, s.
        settles: time from which the command has reached the braking effort, s.
        period: of the states, s.
        noise: standard deviation of the positions, rad.
        velocity: velocity that the driver reports, rad/s; None: the true one.
    """
    rng, supervision = np.random.default_rng(1), StopSupervision()
    for k in range(round(-0.2 / period), round(until / period)):
        t = k * period
        if k == 0:
            supervision.request()
        supervision.observe(t, np.array([position(t), 0.0]) + noise * rng.standard_normal(2))
        true = (position(t) - position(t - 1e-6)) / 1e-6
        failure = supervision.judge(np.array([true if velocity is None else velocity, 0.0]), t >= settles)
        if failure is not None:
            return t, failure
    return None


def decays(rate: float, speed: float = 1.0) -> Callable[[float], float]:
    """Return a motion whose speed, rad/s, decays with a rate, 1/s, from 0 s on."""
    return lambda t: speed * t if t < 0 else speed * (1 - np.exp(-rate * t)) / rate


@pytest.mark.parametrize("period", [0.002, 0.004, 0.01, 0.05])
@pytest.mark.parametrize("rate", [5.0, 15.0, 50.0])
def test_speed_that_decays_is_no_failure(rate, period):
    assert judge(decays(rate), period=period) is None


@pytest.mark.parametrize("noise", [1e-5, 1e-4])
def test_noise_is_no_failure(noise):
    assert judge(decays(15.0), noise=noise) is None
    assert judge(lambda t: 0.0, noise=noise) is None


def test_braking_at_the_effort_limit_is_no_failure():
    """From 3 rad/s, 5 rad/s^2 take more than the ratio of two windows allows."""
    end = 3.0 / 5.0
    assert judge(lambda t: 3.0 * t if t < 0 else 3.0 * min(t, end) - 2.5 * min(t, end) ** 2) is None


@pytest.mark.parametrize("velocity", [None, 0.0], ids=["velocity told", "velocity hidden"])
@pytest.mark.parametrize(("speed", "latest"), [(0.1, 0.2), (0.49, 0.34), (3.0, 0.2)])
def test_speed_that_stays_is_noticed_soon_after_the_stop_took_effect(speed, latest, velocity):
    """Within a fifth of a second; or, where springs are tried first, of a third."""
    failed = judge(lambda t: speed * t, velocity=velocity)
    assert failed is not None
    t, failure = failed
    assert 0.1 < t < 0.02 + latest
    assert failure.joints.tolist() == [True, False]


def test_speed_that_stays_is_noticed_though_the_command_never_settles():
    failed = judge(lambda t: 0.6 * t, settles=np.inf)
    assert failed is not None
    assert failed[0] < 0.4


@pytest.mark.parametrize("speed", [0.2, 0.49])
def test_arm_that_creeps_is_held_before_the_stop_fails(speed):
    """Springs stop it, as gradually as those of a critically damped arm take over what damping alone has balanced."""
    supervision, t = StopSupervision(), -0.2
    q, qd, held_at = 0.0, speed, None
    supervision.request()
    for _ in range(500):
        t += PERIOD
        anchor = supervision.anchor
        spring = 0.0 if anchor is None else 100.0 * (anchor[0] - q)
        qd += PERIOD * (15.0 * (speed - qd) + spring)
        q += PERIOD * qd
        supervision.observe(t, np.array([q]))
        assert supervision.judge(np.array([qd]), True) is None
        held_at = t if held_at is None and anchor is not None else held_at
    assert held_at is not None
    assert held_at < 0.2
    assert qd < 0.05
    assert supervision.stage == 0


def test_speed_that_grows_is_noticed_at_once():
    failed = judge(lambda t: 0.5 * t + (10 * t**2 if t > 0 else 0.0), settles=np.inf)
    assert failed is not None
    assert failed[0] < 0.1


def test_swinging_is_no_rest():
    """With a period of one window positions come back where they were."""
    failed = judge(lambda t: 0.01 * np.sin(2 * np.pi * t / 0.06))
    assert failed is not None
    assert failed[0] < 0.4


def test_arm_that_slows_down_too_slowly_is_noticed_after_a_second():
    failed = judge(decays(3.0, 2.0))
    assert failed is not None
    assert failed[0] <= 1.01


@pytest.mark.parametrize(
    ("push", "fails"), [(lambda t: 0.2 * min(t, 1.0), False), (lambda t: 0.2 * t, True), (lambda t: 0.7 * t, True)]
)
def test_arm_that_came_to_rest_may_be_moved_slowly_and_a_little(push, fails):
    failed = judge(lambda t: push(t - 1.0) if t > 1.0 else 0.0, until=4.0)
    assert (failed is not None) == fails


def test_an_escalated_stop_that_acts_late_is_judged_from_then_on():
    """The arm falls until its controller follows the commands. It has then the effort that brakes it."""
    supervision, effort = StopSupervision(), np.array([3.0, -2.0])
    failures = []
    q, qd = 0.0, 0.3
    for k in range(-50, 200):
        t = k * PERIOD
        if k == 0:
            supervision.request()
        inert = 0 <= t < 0.3
        q, qd = q + PERIOD * qd, qd + 10 * PERIOD if inert else qd * (1 - 15 * PERIOD) if t >= 0 else qd
        supervision.observe(t, np.array([q, 0.0]))
        failures.append(supervision.judge(np.array([qd, 0.0]), t > 0.1, inert=inert))
    assert sum(failure is not None for failure in failures) == 1
    assert supervision.at_rest
    assert supervision.withdraw(effort).tolist() == effort.tolist()


def test_joints_that_an_escalated_stop_accelerates_are_left_without_effort():
    supervision, effort = StopSupervision(), np.array([3.0, -2.0])
    failures = []
    for k in range(-50, 200):
        t = k * PERIOD
        if k == 0:
            supervision.request()
        supervision.observe(t, np.array([0.1 * np.exp(5 * t), 0.0]))
        failure = supervision.judge(np.array([0.5 * np.exp(5 * t), 0.0]), True)
        if failure is not None:
            failures.append(t)
            assert supervision.stage == len(failures)
    assert len(failures) == 2
    assert supervision.withdraw(effort).tolist() == [0.0, -2.0]
    supervision.reset()
    assert supervision.withdraw(effort).tolist() == [3.0, -2.0]
    assert supervision.anchor is None


def test_states_that_were_measured_before_a_stop_and_come_after_it_do_not_judge_it():
    """A node that was held up reads them one after the other: the arm has gone on, for nothing braked it."""
    supervision, resumes = StopSupervision(), 0.2
    supervision.request()
    for k in range(40):  # up to shortly before it goes on
        t = k * PERIOD
        supervision.observe(t, np.array([0.5 * t, 0.0]))
        assert supervision.judge(np.array([0.5, 0.0]), True, age=resumes - t) is None


@pytest.mark.parametrize(("pause", "moved"), [(0.1, False), (1.0, True)])
def test_an_arm_that_was_not_seen_is_held_where_it_is_then(pause, moved):
    """A spring to where it was before would throw it."""
    supervision = StopSupervision()
    supervision.request()
    for k in range(100):
        supervision.observe(k * PERIOD, np.zeros(2))
        supervision.judge(np.zeros(2), True)
    assert supervision.anchor.tolist() == [0.0, 0.0]
    supervision.observe(99 * PERIOD + pause, np.array([0.03, 0.0]))
    supervision.judge(np.zeros(2), True)
    assert supervision.anchor.tolist() == [0.03 if moved else 0.0, 0.0]
