# SPDX-License-Identifier: Apache-2.0
"""The pose of any link, moving or fixed, for targets and stiffness that are given in its frame."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from ros2_dyn.model import BASE, RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn.runtime.robot_kernels import link_kernel


class LinkFrame:
    """The frame of a link."""

    def __init__(self, model: RobotModel, link: str) -> None:
        """Find it; the kernel of a moving link takes some 30 ms to compile.

        Args:
            model: the robot.
            link: its name; the base link where it is empty.
        """
        link = link or model.base_link
        placement = model.link_frame(link)
        self._fixed, self._kernel = np.eye(4), None
        self._fixed[:3, :3], self._fixed[:3, 3] = placement.X.E.T, placement.X.r
        if placement.body != BASE:
            self._kernel = link_kernel(model, link)

    def pose(self, q: Sequence[float]) -> Array:
        """Return its pose in the base frame at joint positions, rad or m, shape (4, 4)."""
        return self._fixed if self._kernel is None else np.array(self._kernel(q)[1])


@lru_cache(maxsize=64)
def link_frame(model: RobotModel, link: str) -> LinkFrame:
    """Return the frame of a link; one that was found before is at hand. See `LinkFrame`."""
    return LinkFrame(model, link)
