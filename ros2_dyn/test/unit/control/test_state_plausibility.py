# SPDX-License-Identifier: Apache-2.0
"""Which measured states fit the ones before them."""

from math import pi

import numpy as np
import pytest

from ros2_dyn.control.state_plausibility import PlausibilityLimits, StatePlausibility

PERIOD = 0.004


class Stream:
    """States of two joints, the second of which is continuous."""

    def __init__(self, **options) -> None:
        limits = PlausibilityLimits(("a", "b"), (-3.0, -np.inf), (3.0, np.inf), (False, True), **options)
        self.plausibility = StatePlausibility(limits)
        self.stamp = 10**18

    def send(self, q, qd=(0.0, 0.0), joints=(0, 1), period=PERIOD) -> str:
        """Send the next state; return what does not fit."""
        self.stamp += round(1e9 * period)
        self.q = self.plausibility.unwrapped(list(q))
        self.found = self.plausibility.check(joints, self.stamp, self.q, qd, 1e-9 * (self.stamp - 10**18))
        return self.found.problem or self.found.velocity_problem


def test_a_motion_with_its_velocities_fits_and_wraps():
    stream, t = Stream(), 0.0
    for _ in range(1000):
        t += PERIOD
        angle = (3 * t + pi) % (2 * pi) - pi
        assert not stream.send((np.sin(3 * t), angle), (3 * np.cos(3 * t), 3.0))
        assert stream.q[1] == pytest.approx(3 * t)


@pytest.mark.parametrize("period", [0.001, 0.004, 0.02])
@pytest.mark.parametrize("speed", [0.8, 10.0])
def test_positions_that_move_without_velocity_do_not_fit_before_they_moved_far(speed, period):
    stream, moved = Stream(), 0.0
    while not stream.send((moved, 0.0), period=period):
        moved += speed * period
    assert moved < 0.15 + speed * period


def test_a_lie_is_not_believed_again_as_long_as_it_lasts():
    stream = Stream()
    believed = [not stream.send((-2 + 0.004 * i, 0.0)) for i in range(1000)]
    assert not any(believed[100:])


def test_positions_that_move_smoothly_are_believed_and_their_rates_replace_wrong_velocities():
    stream, q, v = Stream(), 0.0, 0.0
    for _ in range(200):
        v = min(1.0, v + 3 * PERIOD)
        q += v * PERIOD
        stream.send((q, 0.0), (-v, 0.0))
    assert not stream.found.problem
    assert "with a velocity of -1" in stream.found.velocity_problem
    assert np.allclose(stream.found.rates, [1.0, 0.0], atol=0.02)


def accelerations(period: float) -> list[float]:
    """Return accelerations of a joint that is led to and fro for 4 s, at up to 0.4 rad/s, rad/s^2."""
    return [4.0 * np.sign(np.cos(np.pi * i * period / 0.2)) for i in range(round(4 / period))]


@pytest.mark.parametrize("period", [0.001, 0.002, 0.004, 0.01])
@pytest.mark.parametrize("factor", [0.0, -1.0, 0.1, 0.5])
def test_positions_show_a_speed_that_velocities_deny_long_before_these_are_doubted(factor, period):
    """A joint below 0.5 rad/s may lie for ever: its limit has to see it."""
    stream, q, v = Stream(), 0.0, 0.0
    for i, acceleration in enumerate(accelerations(period)):
        v += acceleration * period
        q += v * period
        stream.send((q, 0.0), (factor * v, 0.0), period=period)
        assert not stream.found.problem
        shown = stream.plausibility.shown((factor * v, 0.0))[0]
        if i * period % 0.2 > 0.05 and abs(v) > 0.1:  # within 50 ms
            assert shown == pytest.approx(v, abs=0.1)


@pytest.mark.parametrize("period", [0.001, 0.004, 0.01])
@pytest.mark.parametrize(
    ("noise", "resolution", "slip", "lag"),
    [(1e-4, 1e-9, 0.0, 0.0), (0.0, 1.5e-3, 0.0, 0.0), (1e-5, 1e-9, 0.04, 0.0), (1e-5, 1e-9, 0.0, 0.03)],
)
def test_positions_that_are_coarse_or_noisy_or_slip_show_no_speed_beyond_that_of_honest_velocities(
    noise, resolution, slip, lag, period
):
    """Else modes would end that are slow enough."""
    stream, rng, q, v, told, fastest = Stream(), np.random.default_rng(1), 0.0, 0.0, 0.0, 0.0
    for i, acceleration in enumerate(accelerations(period)):
        v += acceleration * period
        q += v * period
        told += (v - told) * period / (period + lag) if lag else v - told
        measured = resolution * np.round((q + slip * (i * period > 2) + rng.normal(0.0, noise)) / resolution)
        stream.send((measured, 0.0), (told, 0.0), period=period)
        fastest = max(fastest, abs(v))
        assert abs(stream.plausibility.shown((told, 0.0))[0]) < max(fastest, abs(told)) + 0.02


@pytest.mark.parametrize("zeros", [1, 5, 25])
@pytest.mark.parametrize("pause", [0.2, 3.0])
def test_zeros_that_a_driver_tells_first_when_it_begins_again_are_not_believed(pause, zeros):
    stream, at = Stream(), (1.0, -1.2)
    for _ in range(50):
        assert not stream.send(at)
    assert "seen again" in stream.send((0.0, 0.0), period=pause)
    for _ in range(zeros - 1):
        stream.send((0.0, 0.0))
        assert stream.found.problem
    found = [(stream.send(at), stream.found.problem)[1] for _ in range(100)]
    assert all(found[:20])
    assert not any(found[60:])


@pytest.mark.parametrize("pause", [0.004, 0.05, 0.1])
def test_zeros_after_a_pause_that_is_no_longer_than_the_timeout_are_believed_no_sooner(pause):
    """They were believed once the position before was too old, however few of them had come."""
    stream, at = Stream(), (1.0, -1.2)
    for _ in range(50):
        assert not stream.send(at)
    stream.send((0.0, 0.0), period=pause)
    for _ in range(24):  # 0.096 s
        assert stream.found.problem
        stream.send((0.0, 0.0))
    assert not any([(stream.send(at), stream.found.problem)[1] for _ in range(100)][60:])


@pytest.mark.parametrize("ahead", [1.0, 1000.0])
@pytest.mark.parametrize("count", [1, 10, 70])
def test_stamps_that_were_ahead_of_the_clock_hide_no_joint(count, ahead):
    """A joint that moves seems elsewhere under such a stamp, and was not believed until the clock reached it."""
    stream, q, qd = Stream(), 0.0, (0.2, 0.0)

    def send(period: float = PERIOD) -> str:
        nonlocal q
        q += 0.2 * PERIOD
        stream.send((q, 0.0), qd, period=period)
        return stream.found.problem

    for _ in range(50):
        assert not send()
    assert "seen again" in send(ahead)
    for _ in range(count - 1):
        send()
    found = [send(PERIOD - ahead), *(send() for _ in range(100))]
    assert not any(found[26:])  # after `timeout`


@pytest.mark.parametrize(("speed", "then"), [(0.0, 0.0), (1.0, 1.0), (1.0, 0.0)])
def test_joint_that_is_seen_again_where_its_velocities_brought_it_is_believed_at_once(speed, then):
    stream = Stream()
    for i in range(50):
        assert not stream.send((speed * PERIOD * i, 0.0), (speed, 0.0))
    q = speed * PERIOD * 49
    assert not stream.send((q + 0.2 * (speed + then) / 2, 0.0), (then, 0.0), period=0.2)


def test_positions_that_run_away_hold_nothing_while_wrong_velocities_are_replaced():
    """Every `timeout` one of them fits the one before: it was believed because another joint moved without velocity."""
    stream, believed = Stream(), []
    for i in range(250):
        stream.send((0.0501 * i, PERIOD * i), (0.0, 0.0))  # the second moves at 1 rad/s
        if "'b'" in stream.found.velocity_problem and not stream.found.problem and i > 50:
            believed.append(stream.found)
    assert believed
    assert all(found.misplaced for found in believed)
    assert np.allclose([found.rates for found in believed], [0.0, 1.0], atol=0.02)


def test_noisy_positions_replace_no_velocity():
    """By chance two steps are equal, and looked like a smooth motion."""
    stream, rng = Stream(), np.random.default_rng(1)
    for _ in range(2000):
        stream.send(rng.normal(0.0, 0.04, 2), period=0.01)
        assert not stream.found.rates or stream.found.misplaced


def test_velocities_are_believed_again_a_second_after_they_were_wrong():
    stream, q = Stream(), 0.0
    found = []
    for i in range(800):
        q += 0.004 * min(1.0, 0.01 * i)
        velocity = min(1.0, 0.01 * i) * (i > 200)
        found.append(bool(stream.send((q, 0.0), (velocity, 0.0))))
    assert all(found[150:440])
    assert not any(found[500:])


def test_an_outlier_does_not_fit_and_what_follows_does():
    stream = Stream()
    found = [bool(stream.send((1.0 if i == 50 else 0.0, 0.0))) for i in range(100)]
    assert [i for i, misfit in enumerate(found) if misfit] == [50]


def test_several_outliers_discredit_the_stream_for_a_second():
    stream = Stream()
    found = [bool(stream.send((1.0 if i in (50, 60, 70) else 0.0, 0.0))) for i in range(400)]
    assert all(found[70:299])
    assert not any(found[301:])


def slips(steps: list[float], every: float, noise: float = 0.0) -> list[str]:
    """Return what did not fit where an encoder slips now and then, s, amid a motion."""
    rng, stream, slipped, found = np.random.default_rng(1), Stream(), 0.0, []
    for k, step in enumerate(steps):
        slipped += step
        for i in range(round(every / PERIOD)):
            t = k * every + i * PERIOD
            q, qd = 0.3 * np.sin(2 * t) + noise * rng.normal(), 0.6 * np.cos(2 * t) + 10 * noise * rng.normal()
            found.append(stream.send((slipped + q, 0.0), (qd, 0.0)))
    return [text for text in found if text]


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(("step", "every"), [(0.04, 0.5), (0.015, 0.2), (0.02, 1.0)])
def test_small_steps_of_an_encoder_add_up(step, every, sign):
    assert "in small steps" in slips(10 * [sign * step], every)[0]


@pytest.mark.parametrize("steps", [[0.04, 0.04, 0.04], [0.4]], ids=["in small steps", "at once"])
def test_only_the_position_that_slipped_is_in_doubt(steps):
    stream, doubted, q = Stream(timeout=0.1), set(), 0.0
    for k in range(400):
        q += steps.pop(0) if steps and k % 50 == 25 else 0.0
        stream.send((q, 0.3 * k * PERIOD), (0.0, 0.3))
        doubted.add(tuple(stream.found.misplaced))
    assert doubted == {(), (True, False)}


def test_small_steps_to_and_fro_and_noise_do_not():
    assert not slips(20 * [0.04, -0.04], 0.2)
    assert not slips(10 * [0.0], 1.0, noise=1e-3)
    assert not slips(4 * [0.04], 30.0)


@pytest.mark.parametrize("shift", [0.02, -0.045])
@pytest.mark.parametrize("period", [0.001, 0.01])
def test_two_drivers_of_arms_that_stand_nearly_alike_do_not_fit(shift, period):
    stream, told = Stream(), []
    for _ in range(20):
        stream.send((0.0, 0.0), period=0.8 * period)
        told.append(stream.send((shift, 0.0), period=0.2 * period))
    assert "to and fro" in told[-1]
    assert stream.found.misplaced == (True, False)


def test_after_a_jump_positions_fit_again_once_nothing_of_before_counts():
    stream = Stream(timeout=0.1)
    found = [bool(stream.send((1.0 * (i >= 50), 0.0))) for i in range(600)]
    assert all(found[50:76])
    assert not any(found[400:])


@pytest.mark.parametrize(("position", "fits"), [(5.9, True), (6.1, False), (-6.1, False), (1e6, False)])
def test_a_position_far_beyond_its_limits_does_not_fit(position, fits):
    stream = Stream()
    assert bool(stream.send((position, 1e5))) is not fits


def test_an_arm_that_moves_far_beyond_its_limits_is_believed_to_be_there_until_it_is_lost_from_sight():
    """A hand pushes it. To disbelieve it would be to let it go."""
    stream = Stream()
    assert not any(stream.send((0.01 * i, 0.0), (0.01 / PERIOD, 0.0)) for i in range(800))
    assert not stream.send((7.99, 0.0))
    assert "far beyond its limits" in stream.send((7.99, 0.0), period=0.5)


def test_a_joint_without_limits_may_be_anywhere():
    plausibility = StatePlausibility(PlausibilityLimits(("a",), (0.0,), (0.0,), (False,)))
    assert not plausibility.check((0,), 1, (2.0,), (0.0,), 0.0).problem


def test_a_gap_without_states_is_bridged_by_the_motion_that_is_possible():
    stream = Stream(timeout=0.1)
    stream.send((0.0, 0.0), (1.0, 0.0))
    assert not stream.send((0.07, 0.0), (0.3, 0.0), period=0.09)
    assert stream.send((0.6, 0.0), (0.3, 0.0), period=0.09)


@pytest.mark.parametrize(("speed", "fits"), [(0.0, True), (1e-14, True), (1e-8, True), (1e-6, False)])
def test_numbers_that_repeat_do_not_fit_where_they_have_velocities(speed, fits):
    """A simulated arm without noise settles at velocities such as 1e-14, also where its positions are 0."""
    stream = Stream()
    found = [stream.send((0.0, 0.0), (speed, 0.0)) for _ in range(5)]
    assert not found[0]
    assert all(not problem for problem in found) is fits


def test_repetitions_fit_where_they_are_not_looked_for():
    stream = Stream(detect_frozen=False)
    assert not any(stream.send((0.5, 0.5), (1e-3, 0.0)) for _ in range(20))


def test_one_part_that_repeats_its_numbers_discredits_the_whole_state():
    stream = Stream()
    for i in range(10):
        moving = stream.send((1e-4 * i, 0.5), (0.025, 0.1), joints=(0,))
        frozen = stream.send((1e-4 * i, 0.5), (0.025, 0.1), joints=(1,))
        assert bool(moving) == (i > 1)
        assert bool(frozen) == (i > 0)
    assert not stream.send((1e-4 * i, 0.501), (0.025, 0.1), joints=(1,))


def test_one_part_that_does_not_fit_discredits_the_states_that_are_made_with_it():
    stream = Stream()
    for joints in ((0,), (1,)):
        assert not stream.send((0.0, 0.0), joints=joints)
    assert stream.send((0.0, 2.0), joints=(1,))
    assert stream.send((0.0, 2.0), joints=(0,))
    assert not stream.send((0.0, 0.0), joints=(1,))


@pytest.mark.parametrize(("deceleration", "frozen"), [(25.0, False), (np.inf, True)])
def test_positions_that_stop_at_once_are_frozen_where_velocities_follow_them(deceleration, frozen):
    lag, dt = 0.008, 0.002
    stream, q, v, rate, problem = Stream(velocity_lag=lag), 0.0, 0.5, 0.5, ""
    for i in range(200):
        v = v if i < 100 else max(0.0, v - min(deceleration, 1e6) * dt)
        q += v * dt
        rate += dt / (dt + lag) * (v - rate)
        problem = stream.send((q, 0.0), (rate, 0.0), period=dt)
    assert ("amid a motion" in problem) is frozen


def test_numbers_that_repeat_are_found_although_the_stamps_went_back():
    stream = Stream()
    assert stream.send((0.1, 0.2), (0.01, 0.0)) == ""
    assert "repeats the same numbers" in stream.send((0.1, 0.2), (0.01, 0.0))
    stream.plausibility.restart()
    stream.stamp -= 10**12
    assert "repeats the same numbers" in stream.send((0.1, 0.2), (0.01, 0.0))
    assert stream.send((0.1001, 0.2), (0.01, 0.0)) == ""
