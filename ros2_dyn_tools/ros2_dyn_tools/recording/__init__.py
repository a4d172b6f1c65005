# SPDX-License-Identifier: Apache-2.0
"""Recordings of an arm: read, filtered, split into terms and replayed."""

from ros2_dyn_tools.recording.friction_identification import identify_friction as identify_friction
from ros2_dyn_tools.recording.recording import Recording as Recording
from ros2_dyn_tools.recording.recording import read_recording as read_recording
