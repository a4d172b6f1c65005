# SPDX-License-Identifier: Apache-2.0
"""A robot's parameters from its motion: inertial parameters that a body can have, and friction."""
