# SPDX-License-Identifier: Apache-2.0
"""Worlds in which a simulated arm is commanded while things go wrong, and campaigns of many of them."""

from ros2_dyn_tools.campaign.families import FAMILIES as FAMILIES
from ros2_dyn_tools.campaign.faults import FAULTS as FAULTS
from ros2_dyn_tools.campaign.faults import start_fault as start_fault
from ros2_dyn_tools.campaign.runner import CampaignResult as CampaignResult
from ros2_dyn_tools.campaign.runner import run_campaign as run_campaign
from ros2_dyn_tools.campaign.target_generator import TargetQuality as TargetQuality
from ros2_dyn_tools.campaign.world import World as World
from ros2_dyn_tools.campaign.world_options import ChannelQuality as ChannelQuality
from ros2_dyn_tools.campaign.world_options import WorldOptions as WorldOptions
