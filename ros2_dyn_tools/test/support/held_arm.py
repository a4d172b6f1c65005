# SPDX-License-Identifier: Apache-2.0
"""A light arm in mode impedance, in virtual time: what its tip does while a desired pose moves."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from delayed_loop import light_arm
from ros2_dyn.control.modes.impedance import Spring
from ros2_dyn.dynamics import forward_kinematics, jacobian
from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import quaternion_from_rotation
from ros2_dyn.runtime import HybridSample, PoseSample, Settings
from ros2_dyn.simulation.contact import Contact
from ros2_dyn_tools.campaign.driver import DriverQuality
from ros2_dyn_tools.campaign.simulated_node import NodeQuality
from ros2_dyn_tools.campaign.world import World
from ros2_dyn_tools.campaign.world_options import WorldOptions


def light(name: str) -> RobotModel:
    """Return an arm of the pool with rotors and without friction; skip the test where it is not installed."""
    try:
        return light_arm(name)[0]
    except InputError as error:
        pytest.skip(str(error))


def plain(pose: np.ndarray) -> PoseSample:
    """Return the message that desires a pose, shape (4, 4)."""
    return PoseSample(0, "", numbers(pose))


def numbers(pose: np.ndarray) -> list[float]:
    """Return a pose as in a message."""
    return [*pose[:3, 3].tolist(), *quaternion_from_rotation(pose[:3, :3]).tolist()]


class Held:
    """A light arm without friction in mode impedance, whose tip follows poses."""

    def __init__(
        self,
        name: str,
        home: Sequence[float],
        desired: Callable[[float], np.ndarray],
        rate: float = 500.0,
        message: Callable[[np.ndarray], PoseSample | HybridSample] | None = None,
        contacts: Sequence[Contact] = (),
        **settings: object,
    ) -> None:
        """Request the mode after 0.3 s.

        Args:
            name: of the arm.
            home: joint positions at which it begins, rad, shape (n,).
            desired: the desired pose, shape (4, 4), at a time, s.
            rate: of the states, Hz.
            message: makes the message that desires a pose; None: a plain one.
            contacts: what the arm touches.
            settings: parameters of the node.
        """
        self.arm = light(name)
        options = WorldOptions(
            Settings.from_values({"robot.joints": self.arm.joint_names, **settings}),  # type: ignore[arg-type]
            DriverQuality(rate),
            node=NodeQuality(compile_time=0.0, failsafe_start=0.0),
            step=1e-3,
        )
        self.world = World(0, self.arm, home, options, contacts=contacts)
        make = message or plain
        self.world.targets.faults.append(lambda messages: [messages[0], make(desired(self.world.now))])
        self.world.at(0.3, lambda: self.world.want_mode("impedance"))
        self.samples: list[tuple[float, ...]] = []
        """Time, s; distance of the tip from the desired pose, m; its speed, m/s; smallest singular value."""
        self.world.queue.every(0.005, lambda: self._measure(desired(self.world.now)))

    def _measure(self, desired: np.ndarray) -> None:
        if self.world.node.mode != "impedance":
            return
        self.world._advance()
        at, J = forward_kinematics(self.arm, self.world.arm.q), jacobian(self.arm, self.world.arm.q)
        speed = float(np.linalg.norm((J @ self.world.arm.qd)[:3]))
        error = float(np.linalg.norm(at[:3, 3] - desired[:3, 3]))
        self.samples.append((self.world.now, error, speed, float(np.linalg.svd(J)[1][-1])))

    @property
    def spring(self) -> Spring:
        """The spring of the mode."""
        return self.world.node.runtime.active_mode.spring
