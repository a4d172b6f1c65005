# SPDX-License-Identifier: Apache-2.0
"""From a model and a purpose to joint efforts: control laws, modes, and the supervision of every command."""

from ros2_dyn.control.arm import Arm as Arm
from ros2_dyn.control.arm_state import ArmState as ArmState
from ros2_dyn.control.arm_state import arm_state as arm_state
from ros2_dyn.control.command_settings import CommandSettings as CommandSettings
from ros2_dyn.control.command_supervisor import CommandSupervisor as CommandSupervisor
from ros2_dyn.control.command_supervisor import SupervisorPolicy as SupervisorPolicy
from ros2_dyn.control.effort_limiter import CommandLimits as CommandLimits
from ros2_dyn.control.force_control import force_control as force_control
from ros2_dyn.control.gravity_compensation import gravity_compensation as gravity_compensation
from ros2_dyn.control.joint_pd import joint_pd as joint_pd
from ros2_dyn.control.modes import MODES as MODES
from ros2_dyn.control.modes import Law as Law
from ros2_dyn.control.modes import Mode as Mode
from ros2_dyn.control.modes import Needs as Needs
from ros2_dyn.control.sampled_stability import SampledLoop as SampledLoop
from ros2_dyn.control.soft_limits import soft_limits as soft_limits
from ros2_dyn.control.tip_friction import Anchor as Anchor
from ros2_dyn.control.tip_friction import TipFriction as TipFriction
from ros2_dyn.control.tip_friction import tip_friction as tip_friction
