# SPDX-License-Identifier: Apache-2.0
"""`make bench-collision`: random contacts on simulated arms that are not quite what their model says."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import track

from ros2_dyn.dynamics import friction, rnea
from ros2_dyn.estimation.collision import CollisionDetector
from ros2_dyn.estimation.wrench_estimator import isolate_contact
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn.simulation.applied_force import AppliedForce
from ros2_dyn.simulation.perturbed import perturbed, quantise, with_friction
from ros2_dyn.simulation.simulated_arm import ComputedTorque, SimulatedArm
from ros2_dyn_tools.recording.detection import calibrate, detect, observe
from ros2_dyn_tools.recording.recording import Recording

URDF = Path(__file__).parents[2] / "ros2_dyn" / "config" / "mock_arm.urdf"
VISCOUS, COULOMB = (6.0, 6.0, 4.0, 1.0, 1.0, 0.5), (5.0, 5.0, 4.0, 1.0, 1.0, 0.6)
INERTIA_ERROR, FRICTION_ERROR = 0.05, 0.10
VELOCITY_NOISE = 2e-3
"""rad/s."""
EFFORT_NOISE, EFFORT_RESOLUTION = 2e-3, 5e-4
"""Shares of the effort limits."""
RATE, STEP = 500.0, 1e-3
ARMS, CONTACTS, CALIBRATION, FREE = 10, 1000, 60.0, 30 * 60.0
"""Arms, contacts in all, s of calibration each, s without contact in all."""
BEFORE, AFTER = 0.3, 0.5
"""Seconds that are watched before and after a contact begins."""
HOME = np.array([0.0, -1.2, 1.4, -1.8, -1.57, 0.0])


class RandomMotion:
    """Three sines a joint, of random frequencies and phases; velocities up to some 1.5 rad/s."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._w, self._phase = rng.uniform(0.3, 3.0, (3, 6)), rng.uniform(0, 2 * np.pi, (3, 6))
        self._A = rng.uniform(0.1, 0.4, (3, 6))

    def at(self, t: float | Array) -> tuple[Array, Array, Array]:
        """q, qd, qdd at t, shape (..., 6)."""
        angle = self._w * np.asarray(t)[..., None, None] + self._phase
        parts = (np.sin(angle), self._w * np.cos(angle), -(self._w**2) * np.sin(angle))
        q, qd, qdd = (np.sum(self._A * part, axis=-2) for part in parts)
        return HOME + q, qd, qdd


@dataclass
class Bench:
    """A real arm, its model, and the thresholds of its detector."""

    nominal: RobotModel
    real: RobotModel
    rng: np.random.Generator
    bandwidth: float

    def __post_init__(self) -> None:
        free = self.free_motions(CALIBRATION)
        self.thresholds = calibrate(self.nominal, free, observe(self.nominal, free, self.bandwidth))

    def measured(self, t: Array, q: Array, qd: Array, tau: Array) -> Recording:
        """With noise, in coarse steps."""
        limit = self.nominal.effort_limit
        qd = qd + VELOCITY_NOISE * self.rng.normal(size=qd.shape)
        tau = tau + EFFORT_NOISE * limit * self.rng.normal(size=tau.shape)
        return Recording(t, q, qd, quantise(tau / limit, EFFORT_RESOLUTION) * limit)

    def free_motions(self, seconds: float) -> Recording:
        """Motions of 10 s each, one after the other, as in use."""
        parts = [self.free(RandomMotion(self.rng), 0.0, 10.0) for _ in range(round(seconds / 10))]
        t = np.concatenate([part.t + 11.0 * i for i, part in enumerate(parts)])
        return Recording(t, *(np.concatenate(columns) for columns in list(zip(*parts))[1:]))

    def free(self, motion: RandomMotion, start: float, end: float) -> Recording:
        """A motion that nothing disturbs, perfectly tracked."""
        t = np.arange(round(start * RATE), round(end * RATE)) / RATE
        q, qd, qdd = motion.at(t)
        return self.measured(t, q, qd, rnea(self.real, q, qd, qdd) + friction(self.real, qd))


class Trial(NamedTuple):
    """What became of one contact."""

    strength: float
    """Greatest external effort, low-passed as by a perfect observer, over the threshold of its joint."""
    theory: float
    """When that passes a threshold first, s after the contact begins; infinite: never."""
    delay: float
    """When the contact was detected; infinite: not."""
    early: bool
    """Whether there was an alarm before."""
    own: float
    """External effort, low-passed, of the joint that moves the touched link, over its threshold."""
    link: str
    told: str


def push(bench: Bench, rng: np.random.Generator) -> Trial:
    """A random contact in a random motion."""
    motion, start = RandomMotion(rng), rng.uniform(1.0, 60.0)
    link = bench.nominal.child_links[int(rng.integers(6))]
    direction = rng.normal(size=3)
    force = rng.uniform(10, 100) * direction / np.linalg.norm(direction)
    impulse = bool(rng.integers(2))
    duration = rng.uniform(0.05, 0.2) if impulse else np.inf
    contact = AppliedForce(
        link, force, on_link(bench.nominal, link, rng), "impulse" if impulse else "step", 0.0, duration
    )
    pushed, external = simulate(bench, motion, start, contact)
    before = bench.free(motion, start - BEFORE, start)
    whole = Recording(*(np.concatenate(parts) for parts in zip(before, pushed)))
    residuals = observe(bench.nominal, whole, bench.bandwidth)
    detector, found = CollisionDetector(bench.thresholds), np.inf
    told, peak = "", 0.0
    for t, r in zip(whole.t.tolist(), residuals.tolist()):
        if detector.update(r):
            found = t - start
        size = float(np.linalg.norm(np.divide(r, detector.threshold)))
        if size > peak and found <= t - start < found + 3 / bench.bandwidth:  # where the residual is greatest
            told, peak = isolate_contact(bench.nominal, r, detector.threshold).link or "?", size
    ideal = low_pass(external, bench.bandwidth)
    ratio = np.abs(ideal) / bench.thresholds
    passes = np.flatnonzero(np.any(ratio > 1, axis=1))
    theory = passes[0] * STEP if len(passes) else np.inf
    own = float(ratio[:, bench.nominal.child_links.index(link)].max())
    return Trial(float(ratio.max()), theory, found, found < 0, own, link, told)


def on_link(model: RobotModel, link: str, rng: np.random.Generator) -> Array:
    """A point on a link's surface, roughly: between its two joints, 6 cm off the line between them."""
    i = model.child_links.index(link)
    outwards = model.X_tree[i + 1].r if i + 1 < model.n else np.array([0.0, 0.0, 0.1])
    off = rng.normal(size=3)
    return rng.uniform(0.0, 1.0) * outwards + 0.06 * off / np.linalg.norm(off)


def simulate(bench: Bench, motion: RandomMotion, start: float, contact: AppliedForce) -> tuple[Recording, Array]:
    """What is measured at the rate of the states, and the external efforts at each step."""

    class Later:
        def at(self, t: float) -> tuple[Array, Array, Array]:
            return motion.at(start + t)

    q, qd, _ = motion.at(start)
    arm = SimulatedArm(bench.real, ComputedTorque(Later()), q, qd, step=STEP, contacts=[contact])
    motions = [arm.motion()]
    for _ in range(round(AFTER / STEP)):
        arm.advance()
        motions.append(arm.motion())
    every = round(1 / RATE / STEP)
    t, q, qd, _, tau, external = (np.array(x) for x in zip(*motions))
    return bench.measured(start + t[::every], q[::every], qd[::every], tau[::every]), external


def low_pass(x: Array, bandwidth: float) -> Array:
    """As a perfect observer would see it."""
    a, y, out = 1 - np.exp(-bandwidth * STEP), np.zeros(x.shape[1]), []
    for value in x:
        out.append(y)
        y = y + a * (value - y)
    return np.array(out)


def main() -> None:
    """Measure, print, and write it to the folder given first; then come the observer's bandwidth, 1/s, and a seed."""
    folder, bandwidth = Path(sys.argv[1]), float(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(int(sys.argv[3]))
    nominal = with_friction(RobotModel.from_urdf_file(URDF), VISCOUS, COULOMB)
    arms = [
        Bench(nominal, perturbed(nominal, rng, INERTIA_ERROR, FRICTION_ERROR), rng, bandwidth)
        for _ in track(range(ARMS), "calibrating")
    ]
    alarms = sum(free_alarms(arm) for arm in track(arms, "without contact"))
    trials = [push(arms[i % ARMS], rng) for i in track(range(CONTACTS), "contacts")]
    report = summary(trials, nominal.child_links) | {
        "bandwidth_per_s": bandwidth,
        "thresholds": np.round(np.median([arm.thresholds for arm in arms], axis=0), 2).tolist(),
        "false_alarms": alarms,
        "free_minutes": FREE / 60,
    }
    (folder / "collision.json").write_text(json.dumps(report, indent=2), encoding="utf-8")
    Console().print_json(data=report)


def _further_out(trial: Trial, links: Sequence[str]) -> bool:
    """Whether the link that was named lies outside of the one that was touched."""
    return links.index(trial.told) > links.index(trial.link)


def free_alarms(arm: Bench) -> int:
    """Alarms in this arm's share of the time without contact, in new motions of a minute each."""
    count = 0
    for _ in range(round(FREE / 60 / ARMS)):
        free = arm.free(RandomMotion(arm.rng), 0.0, 60.0)
        count += len(detect(observe(arm.nominal, free, arm.bandwidth), arm.thresholds))
    return count


def summary(trials: list[Trial], links: Sequence[str]) -> dict[str, object]:
    """The figures."""
    strong = [t for t in trials if t.strength >= 2]
    detected = [t for t in strong if 0 <= t.delay < np.inf]
    over = [t.delay - 1.3 * t.theory - 1 / RATE for t in detected]
    named = [t for t in trials if t.told not in ("", "?")]
    felt = [t for t in trials if t.own >= 2]
    return {
        "contacts": len(trials),
        "above_twice_the_threshold": len(strong),
        "of_these_missed": sum(t.delay == np.inf for t in strong),
        "alarms_before_contact": sum(t.early for t in trials),
        "delay_ms_p50_p95": [round(1e3 * float(np.percentile([t.delay for t in detected], p)), 1) for p in (50, 95)],
        "theory_ms_p50_p95": [round(1e3 * float(np.percentile([t.theory for t in detected], p)), 1) for p in (50, 95)],
        "within_that_bound": round(float(np.mean(np.array(over) <= 0)), 3),
        "own_joint_above_twice_its_threshold": len(felt),
        "of_these_link_right_where_named": round(float(np.mean([t.told == t.link for t in felt if t.told != "?"])), 3),
        "link_named_at_all": len(named),
        "of_named_right": round(float(np.mean([t.told == t.link for t in named])), 3),
        "of_named_too_far_out": sum(_further_out(t, links) for t in named),
    }


if __name__ == "__main__":
    main()
