# SPDX-License-Identifier: Apache-2.0
"""Timing of joint-space paths: trajectories, their files, and the fastest timing that the limits allow."""

from ros2_dyn_tools.timing.joint_trajectory import JointTrajectory as JointTrajectory
from ros2_dyn_tools.timing.motion_bounds import MotionBounds as MotionBounds
from ros2_dyn_tools.timing.retiming import Retimed as Retimed
from ros2_dyn_tools.timing.retiming import retime as retime
