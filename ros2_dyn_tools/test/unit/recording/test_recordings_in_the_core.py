# SPDX-License-Identifier: Apache-2.0
"""What runs beside an arm, fed with recordings: of real arms where those are at hand, and of a simulated one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from real_arms import REAL_ARMS, real_arm
from robots import joint, link, robot
from ros2_dyn.control.model_doubt import Doubt, allowance
from ros2_dyn.control.state_plausibility import PlausibilityLimits, StatePlausibility
from ros2_dyn.model import JointDynamics, RobotModel
from ros2_dyn.runtime import ArmRuntime, CollisionUpdate, JointSample, Settings
from ros2_dyn.runtime.inputs import CollisionReset
from ros2_dyn.runtime.model_monitor import BANDWIDTH
from ros2_dyn.simulation.demo_trajectory import DemoTrajectory
from ros2_dyn.simulation.simulated_arm import ComputedTorque, SimulatedArm
from ros2_dyn_tools.recording.detection import observe
from ros2_dyn_tools.recording.friction_identification import identify_friction
from ros2_dyn_tools.recording.recording import Recording
from ros2_dyn_tools.report.contact_report import collision_report
from tiers import part


@pytest.mark.parametrize("name", REAL_ARMS)
def test_a_recorded_arm_with_its_published_model_without_friction_is_not_doubted(name):
    model, recording = real_arm(name)
    limits = model.effort_limit.tolist()
    allowances = [allowance(limit, 0.0, 0.0, Settings().commands.model_tolerance) for limit in limits]
    doubt, largest = Doubt(model.n), 0.0
    for t, r, qd in zip(recording.t, observe(model, recording, BANDWIDTH).tolist(), recording.qd.tolist()):
        allowed = [each.at(abs(v)) for each, v in zip(allowances, qd)]
        largest = max(largest, *(abs(x) / e for x, e in zip(r, allowed)))
        assert doubt.update(t, r, allowed) is None
    assert largest > 0.3  # the tolerance is not many times what a real arm needs


@pytest.mark.parametrize("name", REAL_ARMS)
def test_recordings_of_real_arms_fit(name):
    model, recording = real_arm(name)
    wraps = [joint.type == "continuous" for joint in model.joints]
    limits = PlausibilityLimits(model.joint_names, model.lower, model.upper, wraps, detect_frozen=False)
    plausibility = StatePlausibility(limits)
    for t, q, qd in zip(recording.t, recording.q, recording.qd):
        assert not any(plausibility.check(range(model.n), round(1e9 * t), q, qd, t))


@pytest.mark.parametrize("name", part(REAL_ARMS, 1))
def test_a_recording_of_a_real_arm_gives_the_residuals_of_the_library_and_no_false_alarm(name):
    model, recording = real_arm(name)
    fitted = identify_friction(model, recording.between(0.0, 0.5))
    report = collision_report(fitted, recording)
    drives = [joint.dynamics for joint in fitted.joints]
    settings = Settings.from_values(
        {
            "robot.joints": model.joint_names,
            "friction.viscous": [drive.viscous for drive in drives],
            "friction.coulomb": [drive.coulomb for drive in drives],
            "robot.armature": [drive.armature for drive in drives],
            "friction.transition_velocity": drives[0].transition_velocity,
            "collision.threshold": list(report.thresholds),
        }
    )
    runtime, rest = ArmRuntime(model, settings), report.recording

    def play(rest: Recording, offset: float, external=0.0) -> list[CollisionUpdate | None]:
        """Play a recording from a time on, s."""
        found = []
        for t, q, qd, effort in zip(rest.t + offset, rest.q.tolist(), rest.qd.tolist(), rest.effort):
            sample = JointSample(round(1e9 * t), model.joint_names, q, qd, (effort + external).tolist())
            found.append(runtime.step(sample, t).collision)
        return found

    judged = [u for u, t in zip(play(recording, 0.0), recording.t) if rest.t[0] <= t <= rest.t[-1]]
    assert_allclose([update.residual for update in judged], report.residuals, rtol=0, atol=1e-6)
    assert not any(any(update.exceeded) for update in judged)
    runtime.step(CollisionReset(), recording.t[-1])
    pushed = play(rest, recording.t[-1] + 1.0, 1.1 * report.smallest[1] * np.eye(model.n)[1])
    assert pushed[-1].collision


def hinge(**properties) -> RobotModel:
    """Return a pendulum of 2 kg at 0.5 m that turns about a horizontal axis, with friction."""
    axis = joint("hinge", "revolute", "a", "b", axis=(0, -1, 0))
    pendulum = RobotModel.from_urdf(robot(link("a"), link("b", 2.0, (0.5, 0, 0)), axis))
    return pendulum.with_joint_dynamics({"hinge": JointDynamics(**properties)})


def test_observer_that_knows_all_friction_sees_no_contact():
    friction = {"viscous": 1.0, "coulomb": 1.0, "load": 0.1, "offset": 0.4, "presliding": ((0.02, 2.0),)}
    model = hinge(**friction)
    trajectory = DemoTrajectory(model, [0.3], 0.5)
    arm = SimulatedArm(model, ComputedTorque(trajectory), trajectory.at(0.0)[0], trajectory.at(0.0)[1])
    rows = []
    for _ in range(1500):
        now = arm.motion()
        rows.append((now.t, now.q, now.qd, now.tau))
        arm.advance(2)
    recording = Recording(*map(np.array, zip(*rows)))
    assert np.max(np.abs(observe(model, recording, 25.0)[100:])) < 0.1
    for missing in friction:
        poorer = hinge(**{name: value for name, value in friction.items() if name != missing})
        assert np.max(np.abs(observe(poorer, recording, 25.0)[100:])) > 0.2, missing
