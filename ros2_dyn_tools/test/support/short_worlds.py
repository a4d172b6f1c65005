# SPDX-License-Identifier: Apache-2.0
"""Worlds of campaigns with few faults each: what plays, counts and draws them is the same."""

from dataclasses import replace

import pytest

from ros2_dyn_tools.campaign.families import FAMILIES


def shorten_worlds(patch: pytest.MonkeyPatch, faults: int) -> None:
    """Give the worlds of every family a number of faults."""
    for name, family in FAMILIES.items():
        patch.setitem(FAMILIES, name, replace(family, faults_per_world=faults))
