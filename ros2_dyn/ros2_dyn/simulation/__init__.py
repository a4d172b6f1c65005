# SPDX-License-Identifier: Apache-2.0
"""The simulated arm, its controllers and contacts, in virtual time."""

from ros2_dyn.simulation.applied_force import AppliedForce as AppliedForce
from ros2_dyn.simulation.contact import Contact as Contact
from ros2_dyn.simulation.controllers import Controllers as Controllers
from ros2_dyn.simulation.hand import Hand as Hand
from ros2_dyn.simulation.lossy_channel import LossyChannel as LossyChannel
from ros2_dyn.simulation.simulated_arm import ComputedTorque as ComputedTorque
from ros2_dyn.simulation.simulated_arm import HeldEffort as HeldEffort
from ros2_dyn.simulation.simulated_arm import SimulatedArm as SimulatedArm
from ros2_dyn.simulation.wall import Wall as Wall
