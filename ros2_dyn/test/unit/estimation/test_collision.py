# SPDX-License-Identifier: Apache-2.0
"""Observers, thresholds, calibration and contact isolation, against closed forms and on a simulated arm."""

from math import exp, inf, log, pi, sin

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import chi2

from robots import HOME, joint, link, mock_arm, random_state, robot
from ros2_dyn.dynamics import jacobian, rnea, static_torque
from ros2_dyn.errors import InputError
from ros2_dyn.estimation.calibration import MARGIN, Calibration
from ros2_dyn.estimation.collision import CollisionDetector
from ros2_dyn.estimation.filters import FilteredDerivative
from ros2_dyn.estimation.momentum_observer import OBSERVER_TERMS, DirectObserver, FirstOrderObserver, MomentumObserver
from ros2_dyn.estimation.wrench_estimator import isolate_contact, tip_wrench
from ros2_dyn.kernels import compile_kernel
from ros2_dyn.model import RobotModel

MODEL = mock_arm()
K = 40.0


# ---- the first-order observer, base of the others


def test_observer_follows_a_step_as_the_continuous_filter_does():
    """``r(t) = tau (1 - exp(-K t))``, for samples at irregular times."""
    rng = np.random.default_rng(1)
    observer, t, x = FirstOrderObserver(K), 0.0, 0.0
    observer.update(t, [x], [0.0])
    for dt in rng.uniform(0.5e-3, 2e-3, 100):
        t, x = t + dt, x + 3.0 * dt
        assert observer.update(t, [x], [0.0])
        assert_allclose(observer.value, [3.0 * (1 - exp(-K * t))], rtol=1e-9)


def test_observer_is_stable_for_slow_samples():
    """Explicit integration would need K dt < 2."""
    observer = FirstOrderObserver(1000.0)
    for i in range(20):
        observer.update(0.1 * i, [0.5 * i], [1.0])
    assert_allclose(observer.value, [4.0], rtol=1e-12)


def test_noise_of_the_observer_is_the_inputs_times_the_bandwidth():
    rng, dt, s = np.random.default_rng(2), 1e-3, 0.01
    observer = FirstOrderObserver(K)
    values = []
    for i in range(40_000):
        observer.update(dt * i, [rng.normal(0, s)], [0.0])
        values.append(observer.value[0])
    assert_allclose(np.std(values[1000:]), s * K, rtol=0.05)


def test_observer_ignores_late_samples_and_restarts_after_a_gap_or_a_step_back():
    observer = FirstOrderObserver(K)
    for i in range(100):
        observer.update(0.01 * i, [2.0 * i], [0.0])
    before = observer.value
    assert not observer.update(0.99, [7.0], [0.0])
    assert not observer.update(0.97, [7.0], [0.0])
    assert observer.value == before
    assert observer.restarts == 0
    assert observer.update(1.03, [206.0], [0.0])  # a gap of four periods is no restart
    assert_allclose(observer.value, [200.0], rtol=1e-6)
    assert observer.update(1.2, [1000.0], [0.0])
    assert (observer.value, observer.restarts) == ([0.0], 1)
    assert observer.update(0.2, [0.0], [0.0])
    assert (observer.value, observer.restarts) == ([0.0], 2)


@pytest.mark.parametrize("period", [0.002, 0.02])
def test_samples_in_pairs_do_not_restart_the_observer(period):
    observer, t = FirstOrderObserver(K), 0.0
    for i in range(2000):
        t += 1e-6 if i % 2 else period
        observer.update(t, [0.0], [-10.0])
    assert observer.restarts == 0
    assert_allclose(observer.value, [10.0], rtol=1e-3)


def test_numbers_without_end_restart_the_observer():
    observer = FirstOrderObserver(K)
    for i in range(1000):
        observer.update(0.002 * i, [0.0], [np.inf if i in (100, 101) else -10.0])
        assert np.all(np.isfinite(observer.value))
    assert_allclose(observer.value, [10.0], rtol=1e-3)


# ---- the observers


def along(motion, external, dt=1e-3, T=1.0, model=MODEL):
    """Yield t and the values of all observers along a motion t -> (q, qd, qdd) with an external effort t -> (n,)."""
    kernel = compile_kernel(model, OBSERVER_TERMS, "python", ("q", "qd"))
    momentum, force = MomentumObserver(K), DirectObserver(K)
    for i in range(round(T / dt) + 1):
        t = i * dt
        q, qd, qdd = motion(t)
        expected = rnea(model, q, qd, qdd)
        tau = expected - external(t)
        momentum.observe(t, tau, kernel(q.tolist(), qd.tolist()))
        force.observe(t, tau, expected)
        yield t, momentum.value, force.value


def swing(t):
    """Return q, qd and qdd of a motion of all joints at different rates."""
    w = np.array([2.0, 3.0, 2.5, 4.0, 5.0, 3.5])
    return HOME + 0.4 * np.sin(w * t), 0.4 * w * np.cos(w * t), -0.4 * w**2 * np.sin(w * t)


def test_all_observers_follow_a_step_of_external_effort():
    e = np.array([3.0, -20.0, 10.0, 1.0, -0.5, 0.2])
    for t, momentum, force in along(swing, lambda t: e * (t >= 0.3)):
        if t < 0.3 - 1e-9:
            assert_allclose(momentum, 0, atol=1e-3)
        if t > 0.31:
            step = e * (1 - exp(-K * (t - 0.3)))
            assert_allclose(momentum, step, rtol=0, atol=0.03 * np.abs(e).max())  # the step lies between two samples
            assert_allclose(force, step, rtol=0, atol=0.03 * np.abs(e).max())
    assert_allclose(momentum, e, atol=5e-3)
    assert_allclose(force, e, atol=1e-9)


# ---- thresholds


def test_joint_exceeds_until_it_is_below_the_hysteresis_and_collision_until_reset():
    detector = CollisionDetector((1.0, inf))
    seen = []
    for r in (0.9, -2.0, 0.9, 0.81, 0.79, 0.9):
        begins = detector.update([r, 100.0])
        seen.append((begins, detector.exceeded[0], detector.collision))
    out = (False, True, True)
    assert seen == [(False, False, False), (True, True, True), out, out, (False, False, True), (False, False, True)]
    assert detector.exceeded == [False, False]
    detector.update([2.0, 0.0])
    detector.reset()
    assert not detector.collision
    assert detector.update([2.0, 0.0])


# ---- calibration


def low_passed_noise(n, dt, s, seed):
    """Return white noise through the filter of the observer."""
    rng, r, out = np.random.default_rng(seed), 0.0, []
    for x in rng.normal(0, s, n):
        r += (1 - exp(-K * dt)) * (x - r)
        out.append(r)
    return np.array(out)


def test_calibrated_thresholds_keep_the_rate_of_false_alarms():
    """Noise of known spectrum, calibrated on a minute for 600 an hour."""
    dt, asked = 2e-3, 600.0
    calibration = Calibration(["a"])
    for i, r in enumerate(low_passed_noise(30_000, dt, 1.0, 1)):
        calibration.update(i * dt, [r], [1.0])
    (e,) = calibration.thresholds(asked)
    r = np.abs(low_passed_noise(1_000_000, dt, 1.0, 2))
    alarms = np.count_nonzero((r[:-1] <= e) & (r[1:] > e)) * 3600 / (dt * len(r))
    spread = np.sqrt(np.mean(r**2))
    assert e > 3 * spread
    assert alarms < 2 * asked  # fewer, where the largest residual gives the higher threshold
    assert e < MARGIN * 6 * spread


def test_shorter_motion_gives_higher_thresholds():
    """By chi-squared, twenty values may have 0.64 of the standard deviation, two hundred 0.88."""

    def threshold(crossings: int) -> float:
        calibration = Calibration(["a"])
        for i in range(40 * crossings):
            calibration.update(0.01 * i, [sin(2 * pi * (i + 0.5) / 40)], [1.0])
        (e,) = calibration.thresholds(36.0)
        level = np.sqrt(2 * log(2.5 * 100)) * np.sqrt(0.5)
        return e / level

    for n in (10, 100):
        assert_allclose(threshold(n), np.sqrt(2 * n / chi2.ppf(0.01, 2 * n)), rtol=0.06)


def test_thresholds_exceed_the_largest_residual_by_the_margin():
    calibration = Calibration(["a"])
    for i in range(3000):
        calibration.update(0.01 * i, [1.0 if i % 100 < 3 else 0.0], [1.0])
    assert_allclose(calibration.thresholds(3600.0), [MARGIN])


def test_calibration_with_few_samples_a_still_joint_or_a_jump_raises_error():

    def calibration(samples=1000, speed=(1.0, 1.0), touch=0.0):
        c = Calibration(["a", "b"])
        for i in range(samples):
            c.update(1e-3 * i, [sin(0.1 * i), 0.1 * sin(0.3 * i) + (touch if i == 500 else 0.0)], speed)
        return c

    e = calibration().thresholds(1.0)
    assert e[0] > MARGIN * 0.99
    assert_allclose(calibration().thresholds(1.0, minimum=[10.0, 0.0]), [10.0, e[1]])
    for wrong, problem in (
        (calibration(samples=100), "at least 200"),
        (calibration(speed=(1.0, 0.0)), "b never moved"),
        (calibration(touch=5.0), "'b' jumped"),
    ):
        with pytest.raises(InputError, match=problem):
            wrong.thresholds(1.0)


# ---- contact isolation and the wrench at the tip


def test_tip_wrench_follows_from_its_efforts_and_is_withheld_where_it_is_unknown():
    F = np.array([10.0, -20.0, 5.0, 1.0, 2.0, -3.0])
    J = jacobian(MODEL, HOME)
    found = tip_wrench(J, static_torque(MODEL, HOME, -F) * -1, damping=1e-6)
    assert_allclose(found.wrench, F, rtol=0, atol=1e-6)
    damped = tip_wrench(J, J.T @ F)
    assert_allclose(damped.wrench, F, rtol=0, atol=0.05 * np.abs(F).max())
    stretched = tip_wrench(jacobian(MODEL, np.zeros(6)), np.ones(6))
    assert not stretched.wrench
    assert "near a singularity" in stretched.reason
    assert "3 joints do not determine" in tip_wrench(J[:, :3], np.ones(3)).reason


def test_isolated_link_is_the_touched_one_or_further_in():
    rng = np.random.default_rng(3)
    e = np.full(6, 0.5)
    links = MODEL.child_links
    right = 0
    for _ in range(200):
        q, _, _ = random_state(MODEL, int(rng.integers(1 << 30)))
        k = int(rng.integers(6))
        J = jacobian(MODEL, q, links[k], rng.uniform(-0.2, 0.2, 3))
        found = isolate_contact(MODEL, J[:3].T @ rng.normal(0, 40, 3), e).link
        if found:
            assert links.index(found) <= k
            right += found == links[k]
    assert right > 150
    assert isolate_contact(MODEL, np.zeros(6), e).reason == "no joint exceeds its threshold"
    assert "hardly" in isolate_contact(MODEL, [0.0, 0.6, 0, 0, 0, 0], e).reason


def test_contact_on_a_finger_that_another_one_follows_is_isolated():
    follows = joint("second", "prismatic", "palm", "b").replace("</joint>", '<mimic joint="first"/></joint>')
    gripper = link("base"), link("palm", 1.0), joint("wrist", "continuous", "base", "palm")
    fingers = link("a", 0.1), joint("first", "prismatic", "palm", "a"), link("b", 0.1), follows
    model = RobotModel.from_urdf(robot(*gripper, *fingers))
    assert isolate_contact(model, [0.0, 10.0], [1.0, 1.0]) == ("a", "")


def test_contacts_on_two_branches_are_not_isolated():
    model = RobotModel.from_urdf(
        robot(
            link("base"),
            *(text for side in "ab" for text in (link(side, 1.0), joint(f"j{side}", "continuous", "base", side))),
        )
    )
    assert isolate_contact(model, [5.0, 0.0], [1.0, 1.0]).link == "a"
    assert "another branch" in isolate_contact(model, [5.0, 5.0], [1.0, 1.0]).reason


# ---- rates from positions


def test_delay_of_a_filtered_derivative_is_as_computed():
    dt, cutoff = 2e-3, 15.0
    filtered = FilteredDerivative(cutoff, [False])
    for i in range(1000):
        (rate,) = filtered.update(i * dt, [(i * dt) ** 2]) or [0.0]
    assert_allclose(rate, 2 * (999 * dt - filtered.delay(dt)), rtol=1e-9)
    assert_allclose(filtered.delay(dt), 1 / (2 * pi * cutoff) + dt / 2, rtol=1e-12)
