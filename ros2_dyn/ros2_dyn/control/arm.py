# SPDX-License-Identifier: Apache-2.0
"""The arm at one tick: all that a mode, its conditions and its law may know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import hypot, inf
from typing import NamedTuple, Protocol

import numpy as np

from ros2_dyn.control.arm_state import ArmState
from ros2_dyn.control.command_settings import LEVER, CommandSettings
from ros2_dyn.control.effort_limiter import CommandLimits
from ros2_dyn.control.events import Violation
from ros2_dyn.control.position_limits import PositionLimits
from ros2_dyn.control.sampled_stability import SampledLoop
from ros2_dyn.dynamics import Presliding, singular_values
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array


class Robot(Protocol):
    """What a law may ask of the robot."""

    @property
    def model(self) -> RobotModel:
        """The joints that are used."""

    @property
    def presliding(self) -> Presliding:
        """Friction that depends on the motion before."""

    def effort(self, q: list[float], qd: list[float], qdd: list[float], now: float) -> tuple[float, ...]:
        """Return the whole joint effort of a motion at a time, s; N m or N."""

    def as_commanded(self, effort: Array, gravity: Array) -> Array:
        """Return an effort as it would be commanded, where gravity is a part of it; each N m or N, shape (n,)."""

    def in_order(self, numbers: Sequence[float]) -> list[float]:
        """Return numbers given in the order of `robot.joints` in the model's; zeros where none are given."""

    def link_pose(self, link: str, q: Sequence[float]) -> Array:
        """Return the pose of a link that the parameters name, in the base frame, shape (4, 4); empty: the base link."""


class DesiredState(NamedTuple):
    """A desired state in the model's joint order; None where the message leaves a quantity to the measurement."""

    stamp: int
    """ns."""
    q: list[float] | None
    qd: list[float] | None
    qdd: list[float]


class TipTarget(Protocol):
    """A wrench that the tip is to exert, a pose that it is to have, or both."""

    @property
    def desired_at(self) -> float:
        """When it was desired by its stamp, or when it arrived where it has none, s."""

    @property
    def arrived_at(self) -> float:
        """When it arrived, s."""

    @property
    def frame(self) -> str:
        """The link in whose frame it is; empty: the base link."""

    @property
    def force_axes(self) -> tuple[bool, ...]:
        """Along and about which axes of its frame the tip is not held, shape (6,); empty: it is held along all."""

    def axes(self, q: Sequence[float]) -> Array:
        """Return the axes of its frame in the base frame, shape (3, 3), as at the first call's q, rad or m."""

    def in_base(self, q: Sequence[float]) -> Array:
        """Return its pose in the base frame, shape (4, 4), where its frame was at the first call's q, rad or m."""

    def in_base_axes(self, q: Sequence[float]) -> Array:
        """Return its [force; moment], N and N m, shape (6,), at joint positions in rad or m."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Arm:
    """The arm at one tick."""

    now: float
    """Time, s."""
    age: float
    """Age of the state by its stamp, s."""
    state: ArmState
    """The measured state, and the model's terms there."""
    robot: Robot
    commands: CommandSettings
    """The parameters that all modes share."""
    limits: CommandLimits
    """Of commands and velocities."""
    positions: PositionLimits
    loop: SampledLoop
    """How late the loop is."""
    walls: tuple[Array, Array]
    """Lower and upper limits that the soft walls belong to, rad or m, each of shape (n,)."""
    inverse_dynamics: tuple[float, ...] = ()
    """The whole effort of the desired motion, N m or N, shape (n,)."""
    desired: DesiredState | None = None
    """The motion that is desired at this state."""
    desired_at: float = -inf
    """When the newest one arrived, s."""
    wrench: TipTarget | None = None
    """What the tip is to exert."""
    pose: TipTarget | None = None
    """Where the tip is to be."""
    external_wrench: tuple[float, ...] = ()
    """Wrench of the surroundings at the tip, in the tip's axes, N and N m; empty where it is not known."""
    detects_collisions: bool = False
    """Whether external efforts are compared with thresholds."""
    detector_age: float = 0.0
    """Time since external efforts were observed, s; 0 where none are to be."""
    collision: bool = False
    """Whether a collision is latched."""
    enable_age: float = inf
    """Age of the newest enabling signal, s; inf where the newest one is a release, or there is none."""
    shown_qd: Array | None = None
    """Velocities nearest to the measured ones that the positions allow, rad/s or m/s, (n,); None: nothing is known."""
    problem: str = ""
    """Why no command may be based on the state; empty where it fits the states before."""
    velocity_problem: str = ""
    """Why positions and velocities do not fit each other, as where an encoder slips; empty where they do."""
    exerted: Array | None = None
    """The measured effort, as it would be commanded, N m or N, shape (n,); None: it is not measured."""
    inert: bool = False
    """Whether the joints of a stopped arm are measured to exert nothing, although efforts are commanded."""
    doubt: Violation | None = None
    """What speaks against the model or the controller; see `model_doubt`."""
    state_timeout: float = inf
    """Maximum age of a state that a command may be based on, and of external efforts that are needed, s."""

    @cached_property
    def tip_speed(self) -> float:
        """Speed of the tip by the velocities or the positions, m/s: the larger one."""
        told = hypot(*self.state.tip_velocity[:3])
        return told if self.shown_qd is None else max(told, hypot(*(self.state.J[:3] @ self.shown_qd)))

    @cached_property
    def fastest_qd(self) -> Array:
        """Velocities of the joints, measured or by the positions, whichever is faster, rad/s or m/s, shape (n,)."""
        told, shown = self.state.qd, self.shown_qd
        return told if shown is None else np.where(np.abs(shown) > np.abs(told), shown, told)

    @cached_property
    def max_led_speed(self) -> Array:
        """Maximum speeds of the joints of an arm that is led, or left alone: of the tip on a lever; shape (n,).

        A slow tip says nothing of an elbow, or of a wrist that turns about it. In rad/s or m/s.
        """
        free = [joint for joint in self.robot.model.joints if joint.mimics is None]
        levers = [1.0 if joint.type == "prismatic" else LEVER for joint in free]
        return self.commands.max_tip_speed / np.array(levers)

    @property
    def min_singular_value(self) -> float:
        """Smallest singular value of the tip's Jacobian."""
        return float(singular_values(self.state.J)[-1])
