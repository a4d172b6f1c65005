"""The pose of any link, moving or fixed, for targets that are given in its frame."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ros2_dyn.model import BASE, RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn.runtime.robot_kernels import link_kernel

LinkPose = Callable[[Sequence[float]], Array]
"""Function from joint positions, rad or m, (n,), to a pose in the base frame, shape (4, 4)."""


def link_pose(model: RobotModel, link: str) -> LinkPose:
    """Return the pose of a link as a function; the kernel of a moving one takes some 30 ms to compile.

    Args:
        model: the robot.
        link: its name; the base link where it is empty.
    """
    link = link or model.base_link
    placement = model.link_frame(link)
    if placement.body == BASE:
        fixed = np.eye(4)
        fixed[:3, :3], fixed[:3, 3] = placement.X.E.T, placement.X.r
        return lambda q: fixed
    kernel = link_kernel(model, link)
    return lambda q: np.array(kernel(q)[1])
