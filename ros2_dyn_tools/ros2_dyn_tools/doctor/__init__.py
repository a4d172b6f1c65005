# SPDX-License-Identifier: Apache-2.0
"""What is wrong between a robot, its description and its driver, told from a recorded motion."""

from ros2_dyn_tools.doctor.diagnosis import CODES as CODES
from ros2_dyn_tools.doctor.diagnosis import Diagnosis as Diagnosis
from ros2_dyn_tools.doctor.diagnosis import Note as Note
from ros2_dyn_tools.doctor.examination import Report as Report
from ros2_dyn_tools.doctor.examination import diagnose as diagnose
