# SPDX-License-Identifier: Apache-2.0
"""The robot as frozen data, made from a URDF or a table of Denavit-Hartenberg parameters."""

from ros2_dyn.model.dh import DHRow as DHRow
from ros2_dyn.model.finding import Finding as Finding
from ros2_dyn.model.joint_dynamics import JointDynamics as JointDynamics
from ros2_dyn.model.link_spec import BASE as BASE
from ros2_dyn.model.link_spec import LinkFrame as LinkFrame
from ros2_dyn.model.payload import Payload as Payload
from ros2_dyn.model.robot_model import RobotModel as RobotModel
