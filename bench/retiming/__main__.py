# SPDX-License-Identifier: Apache-2.0
"""`make bench-retiming`: timings of random paths of published arms.

Each path is the spline through five random postures, drawn evenly from the joint limits. Efforts and speeds are shares
of the limits, at 1 kHz, by the inverse dynamics. Times of computing are those of the processor.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from importlib.metadata import distribution
from pathlib import Path

import numpy as np

from ros2_dyn.dynamics import friction, rnea
from ros2_dyn.errors import InputError
from ros2_dyn.model import JointDynamics, Payload, RobotModel
from ros2_dyn_tools.timing import JointTrajectory, MotionBounds, retime

ARMS = {
    "Panda": ("panda_description/urdf/panda.urdf", [f"panda_joint{i}" for i in range(1, 8)]),
    "UR10": ("ur_description/urdf/ur10_robot.urdf", None),
}
FOLDER = Path(str(distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")))
LOADS = {"empty": None, "3 kg": Payload(3.0, (0.0, 0.0, 0.05))}
POSTURES = 5


def arm(name: str) -> RobotModel:
    """Return a published arm."""
    path, joints = ARMS[name]
    model = RobotModel.from_urdf_file(FOLDER / path)
    return model.reduced(joints) if joints else model


def rubbing(model: RobotModel) -> RobotModel:
    """Return the arm with friction of 15 % of the effort limits at the velocity limits, a third of it viscous."""
    limits = zip(model.joint_names, model.effort_limit, model.velocity_limit)
    return model.with_joint_dynamics({name: JointDynamics(0.05 * tau / qd, 0.1 * tau) for name, tau, qd in limits})


def random_path(model: RobotModel, seed: int) -> JointTrajectory:
    """Return random postures, 1 s apart."""
    low, high = np.maximum(model.lower, -np.pi), np.minimum(model.upper, np.pi)
    margin = 0.15 * (high - low)  # the spline swings beyond its points
    q = np.random.default_rng(seed).uniform(low + margin, high - margin, size=(POSTURES, model.n))
    return JointTrajectory(model.joint_names, np.arange(float(POSTURES)), q)


def measure(name: str, model: RobotModel, paths: int, jerk: float) -> str:
    """Return a row of the table."""
    efforts, speeds, ratios, times = [], [], [], []
    refused: Counter[str] = Counter()
    for seed in range(paths):
        path = random_path(model, seed)
        started = time.process_time()
        try:
            timed = retime(model, path, MotionBounds.of(model, jerk=jerk), rate=1000.0)
        except InputError as error:
            reasons = ("to stand still", "outside its limits")
            refused[next((reason for reason in reasons if reason in str(error)), str(error))] += 1
            continue
        times.append(time.process_time() - started)
        q, qd, qdd = timed.trajectory.positions, timed.trajectory.velocities, timed.trajectory.accelerations
        efforts.append(np.max(np.abs(rnea(model, q, qd, qdd) + friction(model, qd)) / model.effort_limit))
        speeds.append(np.max(np.abs(qd) / model.velocity_limit))
        ratios.append(timed.duration / timed.duration_by_velocity)
    print(dict(refused), file=sys.stderr)
    return (
        f"| {name} | {len(times)} | {np.max(efforts):.4f} | {np.max(speeds):.4f} | "
        f"{np.median(ratios):.3f} ({np.min(ratios):.3f} to {np.max(ratios):.3f}) | "
        f"{np.median(times):.2f} ({np.max(times):.2f}) |"
    )


def main() -> int:
    """Print the table."""
    paths = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    retime(arm("UR10"), random_path(arm("UR10"), 0), MotionBounds.of(arm("UR10")))  # imports
    print("| arm | timed | highest effort | highest speed | time over that of the velocity limits | computed in, s |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name in ARMS:
        for load, payload in LOADS.items():
            model = arm(name).carrying(payload)
            print(measure(f"{name}, {load}", model, paths, np.inf), flush=True)
            print(measure(f"{name}, {load}, friction", rubbing(model), paths, np.inf), flush=True)
        print(measure(f"{name}, empty, jerk 100 rad/s^3", arm(name), paths, 100.0), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
