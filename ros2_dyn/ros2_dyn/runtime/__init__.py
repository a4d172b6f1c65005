# SPDX-License-Identifier: Apache-2.0
"""One arm, step by step: all that the node decides, without ROS. Time is an argument."""

from ros2_dyn.control.events import Event as Event
from ros2_dyn.runtime.arm_runtime import ArmRuntime as ArmRuntime
from ros2_dyn.runtime.collision_monitor import CollisionUpdate as CollisionUpdate
from ros2_dyn.runtime.robot_dynamics import Terms as Terms
from ros2_dyn.runtime.samples import CommandLink as CommandLink
from ros2_dyn.runtime.samples import DesiredSample as DesiredSample
from ros2_dyn.runtime.samples import HybridSample as HybridSample
from ros2_dyn.runtime.samples import JointSample as JointSample
from ros2_dyn.runtime.samples import PayloadQuestion as PayloadQuestion
from ros2_dyn.runtime.samples import PayloadRequest as PayloadRequest
from ros2_dyn.runtime.samples import PoseSample as PoseSample
from ros2_dyn.runtime.samples import TrajectorySample as TrajectorySample
from ros2_dyn.runtime.samples import WrenchSample as WrenchSample
from ros2_dyn.runtime.settings import Settings as Settings
from ros2_dyn.runtime.states import MeasuredState as MeasuredState
from ros2_dyn.runtime.update import Command as Command
from ros2_dyn.runtime.update import FailsafeConfig as FailsafeConfig
from ros2_dyn.runtime.update import Reply as Reply
from ros2_dyn.runtime.update import Step as Step
from ros2_dyn.runtime.update import Update as Update
from ros2_dyn.runtime.update import Work as Work
from ros2_dyn.runtime.update import run_work as run_work
