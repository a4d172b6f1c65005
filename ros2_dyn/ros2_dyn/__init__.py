# SPDX-License-Identifier: Apache-2.0
"""Rigid-body dynamics of any URDF robot arm.

    from ros2_dyn import RobotModel, rnea

The packages `ros2_dyn.model`, `.dynamics`, `.kernels`, `.estimation` and `.runtime` export the rest of the public
interface; `.runtime` makes the decisions of the ROS 2 node.
"""

from ros2_dyn.dynamics import coriolis as coriolis
from ros2_dyn.dynamics import forward_dynamics as forward_dynamics
from ros2_dyn.dynamics import forward_kinematics as forward_kinematics
from ros2_dyn.dynamics import gravity as gravity
from ros2_dyn.dynamics import jacobian as jacobian
from ros2_dyn.dynamics import joint_wrenches as joint_wrenches
from ros2_dyn.dynamics import mass_matrix as mass_matrix
from ros2_dyn.dynamics import rnea as rnea
from ros2_dyn.dynamics import static_torque as static_torque
from ros2_dyn.errors import Ros2DynError as Ros2DynError
from ros2_dyn.kernels import compile_kernel as compile_kernel
from ros2_dyn.model import Payload as Payload
from ros2_dyn.model import RobotModel as RobotModel
