# SPDX-License-Identifier: Apache-2.0
"""The stop: whether the arm rests, what brakes and holds it, and what follows where that fails."""

from ros2_dyn.control.stop.law import position_hold as position_hold
from ros2_dyn.control.stop.machine import NOTHING_FOUND as NOTHING_FOUND
from ros2_dyn.control.stop.machine import StopHandover as StopHandover
from ros2_dyn.control.stop.motion import ArmMotion as ArmMotion
