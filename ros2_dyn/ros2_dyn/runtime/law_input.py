# SPDX-License-Identifier: Apache-2.0
"""What a control law works on, at one state."""

from __future__ import annotations

from typing import NamedTuple

from ros2_dyn.control.arm_state import ArmState
from ros2_dyn.control.sampled_stability import limit_bandwidth_to_sampling, limit_rate_to_sampling
from ros2_dyn.model.spatial import Array
from ros2_dyn.runtime.robot_dynamics import RobotDynamics, Terms
from ros2_dyn.runtime.settings import Settings
from ros2_dyn.runtime.states import SynchronizedState
from ros2_dyn.runtime.target_hybrid import TargetHybrid
from ros2_dyn.runtime.target_pose import TargetPose
from ros2_dyn.runtime.target_wrench import TargetWrench


class LawInput(NamedTuple):
    """What a control law works on."""

    robot: RobotDynamics
    settings: Settings
    """Those of the robot, with gains that may be on their way to other values."""
    state: SynchronizedState
    terms: Terms
    arm: ArmState
    """The same state, and the model's terms as arrays."""
    target_wrench: TargetWrench | TargetHybrid | None
    """Of modes force and impedance."""
    target_pose: TargetPose | None
    """Of mode impedance."""
    external_wrench: tuple[float, ...]
    """Wrench of the surroundings at the tip, in the tip's axes, N and N m; empty where it is not known."""
    now: float
    """Time, s."""
    period: float
    """Of the states, s."""
    delay: float
    """Longest age of a state when its command takes effect, s."""
    walls: tuple[Array, Array]
    """Lower and upper limits that the soft walls belong to, rad or m, each of shape (n,)."""
    gain: float = 1.0
    """Factor of the dampers, from 0 to 1, which `PassivityObserver` reduces."""

    def limit(self, rate: float) -> float:
        """Return a damping rate, 1/s, reduced to what the loop bears."""
        return self.gain * limit_rate_to_sampling(rate, self.period, self.delay)

    def limit_bandwidth(self, bandwidth: float) -> float:
        """Return the bandwidth of a spring, rad/s, reduced to what the loop bears."""
        return limit_bandwidth_to_sampling(bandwidth, self.period, self.delay)
