# SPDX-License-Identifier: Apache-2.0
"""The simulated world: an arm, its controllers, contacts, sensors, channels and faults, in virtual time."""

from ros2_dyn.simulation.applied_force import AppliedForce as AppliedForce
from ros2_dyn.simulation.campaign import CampaignResult as CampaignResult
from ros2_dyn.simulation.campaign import run_campaign as run_campaign
from ros2_dyn.simulation.contact import Contact as Contact
from ros2_dyn.simulation.controllers import Controllers as Controllers
from ros2_dyn.simulation.driver import DriverQuality as DriverQuality
from ros2_dyn.simulation.faults import FAULTS as FAULTS
from ros2_dyn.simulation.faults import start_fault as start_fault
from ros2_dyn.simulation.hand import Hand as Hand
from ros2_dyn.simulation.lossy_channel import LossyChannel as LossyChannel
from ros2_dyn.simulation.random_world import random_world as random_world
from ros2_dyn.simulation.simulated_arm import ComputedTorque as ComputedTorque
from ros2_dyn.simulation.simulated_arm import HeldEffort as HeldEffort
from ros2_dyn.simulation.simulated_arm import SimulatedArm as SimulatedArm
from ros2_dyn.simulation.simulated_node import NodeQuality as NodeQuality
from ros2_dyn.simulation.target_generator import TargetQuality as TargetQuality
from ros2_dyn.simulation.wall import Wall as Wall
from ros2_dyn.simulation.world import World as World
from ros2_dyn.simulation.world_options import ChannelQuality as ChannelQuality
from ros2_dyn.simulation.world_options import WorldOptions as WorldOptions
