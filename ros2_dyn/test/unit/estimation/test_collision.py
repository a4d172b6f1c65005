"""Observers, thresholds, calibration and where a contact is: against closed forms, and on a simulated arm."""

from math import exp, inf, log, pi, sin

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import chi2

from robots import joint, link, mock_arm, random_state, robot
from ros2_dyn.dynamics import jacobian, kinetic_energy, potential_energy, rnea, static_torque
from ros2_dyn.errors import InputError
from ros2_dyn.estimation.calibration import MARGIN, Calibration
from ros2_dyn.estimation.collision import CollisionDetector, Thresholds
from ros2_dyn.estimation.filters import FilteredDerivative
from ros2_dyn.estimation.first_order_observer import FirstOrderObserver
from ros2_dyn.estimation.momentum_observer import OBSERVER_TERMS, DirectObserver, EnergyObserver, MomentumObserver
from ros2_dyn.estimation.wrench_estimator import isolate_contact, tip_wrench
from ros2_dyn.kernels import compile_kernel
from ros2_dyn.model import RobotModel

MODEL = mock_arm()
K = 40.0
HOME = np.array([0.0, -1.2, 1.4, -1.8, -1.57, 0.0])


# ---- the filter that all observers are


def test_a_step_is_followed_as_the_continuous_filter_would():
    """``r(t) = tau (1 - exp(-K t))`` at each sample, exactly, for samples at any times."""
    rng = np.random.default_rng(1)
    observer, t, x = FirstOrderObserver(K), 0.0, 0.0
    observer.update(t, [x], [0.0])
    for dt in rng.uniform(0.5e-3, 2e-3, 100):
        t, x = t + dt, x + 3.0 * dt
        assert observer.update(t, [x], [0.0])
        assert_allclose(observer.value, [3.0 * (1 - exp(-K * t))], rtol=1e-9)


def test_it_is_stable_however_slow_the_samples_are():
    """An explicit integration needs K dt < 2."""
    observer = FirstOrderObserver(1000.0)
    for i in range(20):
        observer.update(0.1 * i, [0.5 * i], [1.0])
    assert_allclose(observer.value, [4.0], rtol=1e-12)


def test_noise_becomes_what_is_said():
    """It is s K."""
    rng, dt, s = np.random.default_rng(2), 1e-3, 0.01
    observer = FirstOrderObserver(K)
    values = []
    for i in range(40_000):
        observer.update(dt * i, [rng.normal(0, s)], [0.0])
        values.append(observer.value[0])
    assert_allclose(np.std(values[1000:]), s * K, rtol=0.05)


def test_samples_that_lie_wrong():
    """Repeated and late ones are passed over; after a gap, or time set back, all begins anew."""
    observer = FirstOrderObserver(K)
    for i in range(100):
        observer.update(0.01 * i, [2.0 * i], [0.0])
    before = observer.value
    assert not observer.update(0.99, [7.0], [0.0])
    assert not observer.update(0.97, [7.0], [0.0])
    assert observer.value == before
    assert observer.restarts == 0
    assert observer.update(1.03, [206.0], [0.0])  # four periods are bridged
    assert_allclose(observer.value, [200.0], rtol=1e-6)
    assert observer.update(1.2, [1000.0], [0.0])
    assert (observer.value, observer.restarts) == ([0.0], 1)
    assert observer.update(0.2, [0.0], [0.0])
    assert (observer.value, observer.restarts) == ([0.0], 2)


# ---- the observers


def along(motion, external, dt=1e-3, T=1.0, model=MODEL):
    """Play a motion t -> (q, qd, qdd), with an external effort t -> (n,), to all observers; what they say, by time."""
    kernel = compile_kernel(model, OBSERVER_TERMS, "python", ("q", "qd"))
    momentum, force, energy = MomentumObserver(K), DirectObserver(K), EnergyObserver(K)
    for i in range(round(T / dt) + 1):
        t = i * dt
        q, qd, qdd = motion(t)
        expected = rnea(model, q, qd, qdd)
        tau = expected - external(t)
        p, beta, g, f = kernel(q.tolist(), qd.tolist())
        momentum.observe(t, tau, p, beta, g, f)
        force.observe(t, tau, expected)
        energy.observe(t, tau, qd, kinetic_energy(model, q, qd) + potential_energy(model, q), f)
        yield t, momentum.value, force.value, energy.value


def swing(t):
    """All joints move, at different rates."""
    w = np.array([2.0, 3.0, 2.5, 4.0, 5.0, 3.5])
    return HOME + 0.4 * np.sin(w * t), 0.4 * w * np.cos(w * t), -0.4 * w**2 * np.sin(w * t)


def test_all_observers_see_the_external_effort():
    """Constant from 0.3 s on, in a motion with a right model: its low-passed step; its power, from the energy."""
    e = np.array([3.0, -20.0, 10.0, 1.0, -0.5, 0.2])
    for t, momentum, force, energy in along(swing, lambda t: e * (t >= 0.3)):
        if t < 0.3 - 1e-9:
            assert_allclose(momentum, 0, atol=1e-3)
        if t > 0.6:
            before = swing(t - 1 / K)[1]  # a low-passed power lags by 1/K
            assert_allclose(energy[0], e @ before, rtol=0, atol=0.1 * abs(e @ before) + 1.0)
        if t > 0.31:
            step = e * (1 - exp(-K * (t - 0.3)))
            assert_allclose(momentum, step, rtol=0, atol=0.03 * np.abs(e).max())  # the step lies between two samples
            assert_allclose(force, step, rtol=0, atol=0.03 * np.abs(e).max())
    assert_allclose(momentum, e, atol=5e-3)
    assert_allclose(force, e, atol=1e-9)


def test_the_momentum_observer_knows_friction_and_springs_that_it_is_told():
    """A model with friction explains the efforts of a model with friction."""
    observer = MomentumObserver(K)
    for i in range(200):
        observer.observe(1e-3 * i, [3.0], [0.5 * 1e-3 * i], [0.0], [1.0], [1.5])
    assert_allclose(observer.value, [0.0], atol=1e-12)  # 0.5 = 3 - 1 - 1.5
    energy = EnergyObserver(K)
    for i in range(200):
        energy.observe(1e-3 * i, [3.0, 1.0], [2.0, 0.0], 3.0 * 1e-3 * i, [1.5, 9.0])
    assert_allclose(energy.value, [0.0], atol=1e-12)  # 3 W = (3 - 1.5) * 2


# ---- thresholds


def test_a_step_is_detected_when_theory_says():
    """After -ln(1 - e/tau)/K, rounded up to a sample, and the samples that are asked for."""
    dt, tau, e = 1e-3, 2.0, 1.0
    for samples in (1, 2, 5):
        observer, detector = FirstOrderObserver(K), CollisionDetector(Thresholds((e,)), samples)
        observer.update(0.0, [0.0], [0.0])
        i = 0
        while not detector.collision:
            i += 1
            observer.update(i * dt, [tau * i * dt], [0.0])
            detector.update(observer.value, [0.0])
        assert i == np.ceil(-log(1 - e / tau) / K / dt) + samples - 1


def test_hysteresis_and_latch():
    """A joint stands out until it is well below; the collision stays until it is reset."""
    detector = CollisionDetector(Thresholds((1.0, inf)), samples=2, hysteresis=0.5)
    seen = []
    for r in (2.0, 0.9, 2.0, -2.0, 0.9, 0.6, 0.4, 0.9):
        begins = detector.update([r, 100.0], [0.0, 0.0])
        seen.append((begins, detector.exceeded[0], detector.collision))
    quiet, out = (False, False, False), (False, True, True)
    assert seen == [quiet, quiet, quiet, (True, True, True), out, out, (False, False, True), (False, False, True)]
    assert detector.exceeded == [False, False]
    detector.update([2.0, 0.0], [0.0, 0.0])
    detector.reset()
    assert not detector.collision
    assert not detector.update([2.0, 0.0], [0.0, 0.0])
    assert detector.update([2.0, 0.0], [0.0, 0.0])


def test_thresholds_grow_with_motion():
    """By the speed, and by the acceleration where it is known."""
    thresholds = Thresholds((1.0, 2.0), (0.5, 0.0), (0.0, 0.1))
    assert thresholds.at([-2.0, 3.0]) == [2.0, 2.0]
    assert thresholds.at([-2.0, 3.0], [1.0, -10.0]) == [2.0, 3.0]
    assert Thresholds((inf, inf)).at([1.0, 1.0]) == [inf, inf]
    for wrong in (
        {"constant": (-1.0,)},
        {"constant": (float("nan"),)},
        {"constant": (1.0,), "per_velocity": (1.0, 2.0)},
    ):
        with pytest.raises(InputError):
            Thresholds(**wrong)


# ---- calibration


def low_passed_noise(n, dt, s, seed):
    """White noise through the filter of the observer."""
    rng, r, out = np.random.default_rng(seed), 0.0, []
    for x in rng.normal(0, s, n):
        r += (1 - exp(-K * dt)) * (x - r)
        out.append(r)
    return np.array(out)


def test_false_alarms_are_as_rare_as_asked_for():
    """For noise of known spectrum: calibrated on a minute, asked for 600 an hour, tried on a hundred minutes."""
    dt, asked = 2e-3, 600.0
    calibration = Calibration(["a"])
    for i, r in enumerate(low_passed_noise(30_000, dt, 1.0, 1)):
        calibration.update(i * dt, [r], [1.0])
    (e,) = calibration.thresholds(asked)
    r = np.abs(low_passed_noise(3_000_000, dt, 1.0, 2))
    alarms = np.count_nonzero((r[:-1] <= e) & (r[1:] > e)) * 3600 / (dt * len(r))
    spread = np.sqrt(np.mean(r**2))
    assert e > 3 * spread
    assert alarms < 2 * asked  # 1.25 of the greatest of a minute may be the greater bound
    assert e < MARGIN * 6 * spread


def test_the_shorter_the_motion_the_higher_the_threshold():
    """Few swings say little about the spread: by chi-squared, twenty values may show 0.64 of it, two hundred 0.88."""

    def threshold(swings: int) -> float:
        calibration = Calibration(["a"])
        for i in range(40 * swings):
            calibration.update(0.01 * i, [sin(2 * pi * (i + 0.5) / 40)], [1.0])
        (e,) = calibration.thresholds(36.0)
        level = np.sqrt(2 * log(2.5 * 100)) * np.sqrt(0.5)
        return e / level

    for swings in (10, 100):
        assert_allclose(threshold(swings), np.sqrt(2 * swings / chi2.ppf(0.01, 2 * swings)), rtol=0.06)


def test_what_was_seen_is_no_collision():
    """Where it is rarer than noise of the same spread: a bump now and then."""
    calibration = Calibration(["a"])
    for i in range(3000):
        calibration.update(0.01 * i, [1.0 if i % 100 < 3 else 0.0], [1.0])
    assert_allclose(calibration.thresholds(3600.0), [MARGIN])


def test_calibration_refuses_what_is_no_free_motion():
    """Too short; a joint that never moved; a touch."""

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


# ---- where it comes from


def test_the_wrench_at_the_tip():
    """Given by the efforts that it causes; withheld near a singularity, and for less than six joints."""
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


def test_the_link_that_was_touched():
    """A force at each link: that link, or one further in where the force passes near the axis; never further out."""
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


def test_two_branches_are_two_contacts():
    """A robot with two arms that stand out both."""
    model = RobotModel.from_urdf(
        robot(
            link("base"),
            *(text for side in "ab" for text in (link(side, 1.0), joint(f"j{side}", "continuous", "base", side))),
        )
    )
    assert isolate_contact(model, [5.0, 0.0], [1.0, 1.0]).link == "a"
    assert "another branch" in isolate_contact(model, [5.0, 5.0], [1.0, 1.0]).reason


# ---- rates from positions


def test_delay_and_noise_gain_are_what_is_said():
    """Of a velocity that grows steadily, and of white noise."""
    dt, cutoff = 2e-3, 15.0
    filtered = FilteredDerivative(cutoff, [False])
    for i in range(1000):
        (rate,) = filtered.update(i * dt, [(i * dt) ** 2]) or [0.0]
    assert_allclose(rate, 2 * (999 * dt - filtered.delay(dt)), rtol=1e-9)
    assert_allclose(filtered.delay(dt), 1 / (2 * pi * cutoff) + dt / 2, rtol=1e-12)
    rng, rates = np.random.default_rng(5), []
    filtered.restart()
    for i in range(50_000):
        rates.append((filtered.update(i * dt, [rng.normal(0, 0.1)]) or [0.0])[0])
    assert_allclose(np.std(rates[1000:]), 0.1 * filtered.noise_gain(dt), rtol=0.015)
