# SPDX-License-Identifier: Apache-2.0
"""The promises: independent of the code that keeps them, broken by deliberate faults, and kept without any."""

import pytest

from mutations import MUTATIONS, faults_until_found
from rooms import TOP, imports
from ros2_dyn_tools.campaign.families import FAMILIES
from ros2_dyn_tools.campaign.runner import play_world, world_seeds
from tiers import FULL

ROOM = TOP / "ros2_dyn_tools" / "ros2_dyn_tools" / "campaign"
FAULTS = 2000
"""Number of faults within which each mutation is found; a campaign plays far more."""
QUICK = (
    "slips forgotten",
    "gravity's sign after a stop",
    "failsafe does nothing",
    "thresholds ignored",
    "payload without ramp",
)
"""Mutations that the first two worlds show; `make mutations` plays all, and FULL=1."""


@pytest.mark.parametrize("module", ["promises", "broken", "record"])
def test_promises_import_nothing_of_the_code_that_keeps_them(module):
    rooms = {name.split(".")[1] for name in imports(ROOM / f"{module}.py") if name.startswith("ros2_dyn.")}
    assert rooms <= {"model"}
    own = {name.split(".")[2] for name in imports(ROOM / f"{module}.py") if name.startswith("ros2_dyn_tools.campaign.")}
    assert own <= {"record", "broken"}


def test_families_share_all_worlds_and_name_faults_once():
    assert sum(family.share for family in FAMILIES.values()) == pytest.approx(1.0)
    assert all(len(set(family.faults)) == len(family.faults) for family in FAMILIES.values())
    for family in FAMILIES.values():
        assert {*family.disturbing.during, *family.disturbing.changes} <= set(family.faults)


@pytest.mark.parametrize("family", FAMILIES)
def test_worlds_of_each_family_keep_their_promises(family):
    for seed, faults in world_seeds(1, 20 if FULL else 3, family):
        assert play_world(seed, faults, family=family).broken == []


@pytest.mark.parametrize("name", MUTATIONS if FULL else QUICK)
def test_deliberate_fault_in_the_code_is_found(name):
    assert faults_until_found(name, 1, FAULTS) is not None
