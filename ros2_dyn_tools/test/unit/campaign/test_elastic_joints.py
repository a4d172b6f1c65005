# SPDX-License-Identifier: Apache-2.0
"""Arms with elastic joints and encoders on the links: what is commanded acts on motors, and reaches the links later."""

from __future__ import annotations

import numpy as np
import pytest

from arm_world import leave_alone
from ros2_dyn.dynamics import gravity, mass_matrix
from ros2_dyn.model import JointDynamics
from ros2_dyn.runtime import Settings
from ros2_dyn.simulation.applied_force import AppliedForce
from ros2_dyn_tools.campaign.arm_pool import nominal_arm, random_home, with_friction
from ros2_dyn_tools.campaign.driver import DriverQuality
from ros2_dyn_tools.campaign.target_generator import TargetQuality
from ros2_dyn_tools.campaign.world import World
from ros2_dyn_tools.campaign.world_options import WorldOptions
from tiers import part

MOTOR_STEP = 1e-4  # s


class Motors:
    """Motors with rotors and friction, which act on the links through springs of a resonance, Hz."""

    uses_dynamics = False
    damping = 0.0

    def __init__(self, declared, links, home, resonance: float) -> None:
        joints = [joint.dynamics for joint in declared.joints]
        self.inertia = np.array([each.armature for each in joints])
        self.coulomb, self.viscous = np.array([(each.coulomb, each.viscous) for each in joints]).T
        load = np.diag(mass_matrix(links, home))
        reduced = self.inertia * load / (self.inertia + load)
        self.stiffness = reduced * (2 * np.pi * resonance) ** 2
        self.loss = 2 * 0.03 * np.sqrt(self.stiffness * reduced)
        self.effort, self.limit = gravity(links, home), links.effort_limit
        self.q, self.qd, self.t = home + self.effort / self.stiffness, np.zeros(links.n), 0.0

    def __call__(self, t, q, qd, M, h):
        """See `EffortLaw`: what the springs exert on the links."""
        while self.t < t:
            self.t += MOTOR_STEP
            qd_new = self.qd + MOTOR_STEP * (self.effort - self._pull(q, qd) - self.viscous * self.qd) / self.inertia
            stopped = self.coulomb * MOTOR_STEP / self.inertia
            self.qd = np.sign(qd_new) * np.maximum(np.abs(qd_new) - stopped, 0.0)
            self.q = self.q + MOTOR_STEP * self.qd
        return self._pull(q, qd)

    def _pull(self, q, qd):
        return self.stiffness * (self.q - q) + self.loss * (self.qd - qd)

    # ---- as a drive

    def command(self, numbers):
        """Exert efforts, N m or N, shape (n,)."""
        self.effort = np.clip(np.asarray(numbers, dtype=float), -self.limit, self.limit)
        return self

    def tell(self, samples):
        """Tell the efforts of the motors."""
        return [sample._replace(effort=self.effort.tolist()) for sample in samples]


def pushed(name: str, resonance: float) -> World:
    """Return a world of an arm that was pushed in mode impedance."""
    declared = with_friction(nominal_arm(name), 0.25)
    links = declared.with_joint_dynamics({joint: JointDynamics() for joint in declared.joint_names})
    home = random_home(declared, np.random.default_rng(2))
    settings = Settings.from_values({"robot.joints": declared.joint_names, "collision.bandwidth": 0.0})
    driver, targets = DriverQuality(250.0, 1e-5, 1e-3), TargetQuality(amplitude=0.0, force=0.0)
    options = WorldOptions(settings, driver, targets=targets, step=5e-4)
    push = AppliedForce(links.default_tip, (7.5, 5.0, -10.0), start=2.0, duration=0.15)
    played = World(1, links, home, options, declared, contacts=[push])
    motors = Motors(declared, links, home, resonance)
    played.arm.law = played.controllers.drive = motors
    played.driver.faults.append(motors.tell)
    played.want_mode("impedance")
    played.run(1.5)
    assert played.node.mode == "impedance", played.node.runtime.reason
    leave_alone(played)
    played.run(4.0)
    return played


@pytest.mark.parametrize(("name", "resonance"), part([("panda", 12.0), ("ur5", 8.0), ("panda", 20.0)], 1, 2))
def test_arm_whose_springs_and_dampers_make_it_swing_is_stopped_softly_until_it_does_not(name, resonance):
    """It swung with up to 16 rad/s, and went on to swing while the stop braked it."""
    played = pushed(name, resonance)
    motion = played.finish().motion
    assert np.max(np.abs(motion.qd)) < 2.5  # beyond 1.25 the mode is stopped
    assert np.max(np.abs(motion.qd[motion.t > 3.5])) < 0.25
    assert played.node.runtime.loop.swing.delay > 0.02
