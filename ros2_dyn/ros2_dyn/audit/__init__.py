# SPDX-License-Identifier: Apache-2.0
"""What is wrong in a robot description: findings, each with its link or joint, its number, and what to do."""

from ros2_dyn.audit.audit import audit as audit
from ros2_dyn.audit.audit import audit_file as audit_file
from ros2_dyn.audit.audit import audit_model as audit_model
