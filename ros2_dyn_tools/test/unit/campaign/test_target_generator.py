# SPDX-License-Identifier: Apache-2.0
"""Desired wrenches and poses in one message, as a world's targets are."""

from __future__ import annotations

import numpy as np

from ros2_dyn.runtime.inputs import DesiredSample, HybridSample, PoseSample, WrenchSample
from ros2_dyn_tools.campaign.target_generator import TARGET_FAULTS, TargetGenerator, TargetQuality

PRESSED = (True, False, True, False, False, True)


def messages(pressed_axes=(), faults=()) -> list:
    generator = TargetGenerator(("a", "b"), "tool0", TargetQuality(pressed_axes=pressed_axes))
    generator.faults.extend(faults)
    return generator.messages(1.0, 7)


def test_hybrid_target_is_of_pose_and_wrench_along_the_pressed_axes():
    _, wrench, pose = messages()
    desired, hybrid = messages(PRESSED)
    assert isinstance(desired, DesiredSample)
    assert (hybrid.stamp, hybrid.frame, hybrid.pose, hybrid.force_axes) == (7, "tool0", pose.pose, PRESSED)
    assert list(hybrid.wrench) == [wrench.wrench[0], 0.0, wrench.wrench[2], 0.0, 0.0, 0.0]


def test_mixed_targets_are_hybrid_with_several_axes_one_after_the_other():
    for seed in range(20):
        fault = TARGET_FAULTS["targets mixed"](np.random.default_rng(seed))
        axes = set()
        for _ in range(12):
            kinds = messages(faults=[fault])
            assert [type(each) for each in kinds] == [DesiredSample, HybridSample]
            axes.add(kinds[1].force_axes)
        if len(axes) > 1:
            return
    raise AssertionError("no fault changes the axes")


def test_where_a_pose_is_missing_the_others_stay():
    lost = [lambda sent: [each for each in sent if not isinstance(each, PoseSample)]]
    fault = TARGET_FAULTS["targets mixed"](np.random.default_rng(1))
    assert [type(each) for each in messages(faults=[*lost, fault])] == [DesiredSample, WrenchSample]
