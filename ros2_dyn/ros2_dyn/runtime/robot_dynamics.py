# SPDX-License-Identifier: Apache-2.0
"""The stage "compute": the terms of the equation of motion at a measured state, and inverse dynamics where desired."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite
from typing import Any, NamedTuple

import numpy as np

from ros2_dyn.audit import audit_model
from ros2_dyn.control.arm_state import ArmState
from ros2_dyn.control.position_limits import PositionLimits
from ros2_dyn.dynamics import Presliding
from ros2_dyn.errors import InputError, MessageError, ModelError
from ros2_dyn.estimation.filters import FilteredDerivative
from ros2_dyn.model import BASE, RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn.runtime.command_interface import CommandConversion, command_limits
from ros2_dyn.runtime.effort_convention import total_effort
from ros2_dyn.runtime.payload_ramp import PayloadRamp
from ros2_dyn.runtime.robot_kernels import ALL_TERMS, RobotKernels, link_frame, robot_kernels
from ros2_dyn.runtime.settings import Settings
from ros2_dyn.runtime.states import DesiredState, MeasuredState, SynchronizedState

MAX_JOINTS = 64
"""Joints of an arm: compiling the kernels of 64 takes a second, and more with the square of their number."""


class Terms(NamedTuple):
    """What is computed for each state, in the model's order, N m or N; the first four are named as their topics."""

    inverse_dynamics: tuple[float, ...]
    """The whole joint effort, friction included."""
    gravity: tuple[float, ...]
    coriolis: tuple[float, ...]
    friction: tuple[float, ...]
    joint_wrenches: tuple[tuple[float, ...], ...]
    """[force; moment] through each joint, N and N m, in its child link's frame."""
    momentum: tuple[float, ...] = ()
    """Generalised momentum, kg m^2/s or kg m/s."""
    coriolis_transpose_qd: tuple[float, ...] = ()
    """``C^T qd``."""
    acceleration_source: str = "zero"
    """Where the acceleration of the inverse dynamics is from: desired, estimated or zero."""

    @property
    def observed(self) -> tuple[tuple[float, ...], ...]:
        """What a momentum observer takes, see `MomentumObserver`."""
        return self.momentum, self.coriolis_transpose_qd, self.gravity, self.friction


class RobotDynamics:
    """One robot with its kernels and its payload."""

    def __init__(self, description: RobotModel, settings: Settings, payload: PayloadRamp | None = None) -> None:
        """Compile the kernels.

        Args:
            description: the whole robot.
            settings: which of its joints are used, with which friction.
            payload: what it carries; None: nothing.

        Raises:
            ModelError: a joint is planar or floating.
            InputError: the robot has not the joints or the links that the settings name, or a joint lacks
                a number.
        """
        self.description, self.settings = description, settings
        self.model = model = checked_model(description, settings)
        self.findings = [*description.findings, *audit_model(model)]
        """What is odd in the description."""
        self.lower, self.upper = model.lower, model.upper
        """Position limits, rad or m, shape (n,)."""
        self.effort_gain = tuple(settings.in_order(settings.states.effort_gain, model, 1.0))
        """Factor from the driver's unit of effort to N m or N, shape (n,)."""
        self.effort_cutoff = settings.states.effort_filter_cutoff or inf
        """Cut-off of the driver's low-pass of efforts, Hz; infinite: none."""
        self.limits = command_limits(model, settings.commands)
        """What commands may be."""
        reaction_time = 1 / settings.commands.slew_rate  # until the effort has turned into a braking one
        self.positions = PositionLimits(model.joint_names, model.lower, model.upper, reaction_time)
        """Position limits of the joints."""
        self.tip_link = settings.robot.tip_link or model.default_tip
        self.command_conversion = CommandConversion(model, settings)
        """From efforts to what the controller is sent."""
        self._frames = {link: link_frame(model, link) for each in settings.modes for link in each.links}
        self.payload = payload or PayloadRamp(self.tip_link)
        self.kernels: RobotKernels = robot_kernels(model, self.payload.link, self.tip_link)
        self.presliding = Presliding(model)
        """Friction that depends on the motion before."""
        self._zero = [0.0] * model.n
        self._qdd = FilteredDerivative(10.0, [False] * model.n)  # cut-off in Hz

    def compute(self, state: SynchronizedState, now: float) -> Terms:
        """Return the terms at a measured state; the inverse dynamics of the desired state, where there is one.

        Args:
            state: the measured state, and the desired one; without that the acceleration is estimated or zero.
            now: time, s.

        Raises:
            MessageError: the numbers are so large that an effort is not finite.
        """
        terms = self._evaluate(state.measured, state.desired, self._acceleration(state), now)
        self.presliding.update(state.measured.q)
        return self._with_presliding(terms)

    def _evaluate(
        self, state: MeasuredState, desired: DesiredState | None, acceleration: tuple[list[float], str], now: float
    ) -> Terms:
        q, qd, (qdd, source) = state.q, state.qd, acceleration
        try:
            numbers = self.kernels.state(q, qd, qdd, self.settings.robot.gravity, self.payload.at(now))
            terms = Terms._make((*numbers, source))
            if desired is not None and not (desired.q is None and desired.qd is None):
                tau = self.effort(desired.q or q, desired.qd or qd, desired.qdd, now)
                terms = terms._replace(inverse_dynamics=tau)
            finite = all(map(isfinite, map(sum, terms[:4])))
        except (OverflowError, ValueError):
            finite = False
        if not finite:
            raise MessageError("velocity", "too large", "an effort would not be finite")
        return terms

    def _acceleration(self, state: SynchronizedState) -> tuple[list[float], str]:
        """Return the acceleration of the inverse dynamics, and where it is from."""
        estimate = None
        if "acceleration" in self.settings.states.estimate:
            estimate = self._qdd.update(1e-9 * state.measured.stamp, state.measured.qd)
        if state.desired is not None:
            return state.desired.qdd, "desired"
        return (self._zero, "zero") if estimate is None else (estimate, "estimated")

    def effort(self, q: list[float], qd: list[float], qdd: list[float], now: float) -> tuple[float, ...]:
        """Return the whole joint effort of a motion, N m or N."""
        (tau,) = self.kernels.effort(q, qd, qdd, self.settings.robot.gravity, self.payload.at(now))
        return tau

    def terms_at(self, state: MeasuredState, now: float) -> Terms:
        """Return the terms at the last measured state without acceleration; nothing is remembered of it.

        Raises:
            MessageError: as in `compute`.
        """
        return self._with_presliding(self._evaluate(state, None, (self._zero, "zero"), now))

    def _with_presliding(self, terms: Terms) -> Terms:
        """Return the terms with the friction of the last measured state."""
        if not self.presliding:
            return terms
        whole, friction = (_sum(x, self.presliding.tau) for x in (terms.inverse_dynamics, terms.friction))
        return terms._replace(inverse_dynamics=whole, friction=friction)

    def all_terms(self, state: MeasuredState, qdd: list[float], now: float) -> dict[str, Any]:
        """Return every term of the equation of motion at a state, by name: `ALL_TERMS`."""
        values = self.kernels.all_terms(state.q, state.qd, qdd, self.settings.robot.gravity, self.payload.at(now))
        return dict(zip(ALL_TERMS, values))

    def arm_state(self, state: MeasuredState, terms: Terms, now: float, lead: float = 0.0) -> ArmState:
        """Return what the control laws need to know at a state.

        Args:
            state: measured.
            terms: computed there.
            now: time, s.
            lead: time for which gravity is predicted, s. Late gravity compensation drives an upright arm.
        """
        q, gravity = state.q, terms.gravity
        ahead = [min(max(lead * v, -0.5), 0.5) for v in state.qd]  # gravity is predicted for 0.5 rad or m at most
        if max(map(abs, ahead)) > 1e-4:
            gravity = self.effort([x + dx for x, dx in zip(q, ahead)], self._zero, self._zero, now)
        (M,) = self.kernels.mass(q, self.payload.at(now))
        J, pose = self.kernels.tip(q)
        return ArmState(*map(np.array, (q, state.qd, gravity, terms.friction, M, J, pose)))

    def link_pose(self, link: str, q: Sequence[float]) -> Array:
        """Return the pose of a link that the parameters name, in the base frame, shape (4, 4); empty: the base link."""
        return self._frames[link](q)

    def as_commanded(self, effort: Array, gravity: Array) -> Array:
        """Return an effort as the controller expects it, from the whole joint effort, N m or N, shape (n,).

        Args:
            effort: whole joint effort, N m or N, shape (n,).
            gravity: the part of it that carries the weight, N m or N, shape (n,).
        """
        return effort if self.settings.commands.convention == "raw" else effort - gravity

    def unloaded(self, q: Array, since: float, now: float) -> Array:
        """Return what gravity compensation has lost since a time, because another payload is declared.

        Args:
            q: joint positions, rad or m, shape (n,).
            since: the time, s.
            now: time, s.

        Returns:
            As it would be commanded, N m or N, shape (n,).
        """
        if self.payload.at(since) == self.payload.at(now):
            return np.zeros(self.model.n)
        before, after = (np.array(self.effort(q.tolist(), self._zero, self._zero, t)) for t in (since, now))
        return self.as_commanded(before, before) - self.as_commanded(after, after)

    def exerted(self, state: MeasuredState, terms: Terms, gravity: Array) -> Array | None:
        """Return the measured effort, as it would be commanded, N m or N, shape (n,); None where it is not reported.

        Args:
            state: measured.
            terms: computed there.
            gravity: the effort that carries the weight, N m or N, shape (n,).
        """
        measured, kind = state.effort, self.settings.states.measured_effort
        if measured is None or not all(map(isfinite, measured)):
            return None
        return self.as_commanded(np.array(total_effort(kind, measured, terms.inverse_dynamics, terms.gravity)), gravity)

    def in_order(self, numbers: Sequence[float]) -> list[float]:
        """Return numbers given in the order of `robot.joints` in the model's; zeros where none are given."""
        return self.settings.in_order(numbers, self.model, 0.0)

    def check_payload_link(self, link: str, now: float) -> str:
        """Return the name of a link that can carry a payload; the tip link for an empty name.

        Raises:
            InputError: the robot has no such link, no joint moves it, or another link carries a payload already.
        """
        link = link or self.tip_link
        if self.model.link_frame(link).body == BASE:
            raise InputError("link", f"'{link}' is fixed to the base: no joint carries what is on it")
        if link != self.payload.link and any(self.payload.at(now)):
            raise InputError("link", f"'{self.payload.link}' carries a payload; remove it first, with mass 0")
        return link

    def can_carry(self, link: str) -> bool:
        """Return whether the robot has a link, and a joint moves it."""
        return link in self.model.links and self.model.link_frame(link).body != BASE


def _sum(a: Sequence[float], b: Sequence[float]) -> tuple[float, ...]:
    return tuple(x + y for x, y in zip(a, b))


def checked_model(description: RobotModel, settings: Settings) -> RobotModel:
    """Return the model that the settings make of a description; quick, unlike the kernels.

    Raises:
        ModelError: a joint is planar or floating, or there are too many joints.
        InputError: the robot has not the joints or the tip link that the settings name.
    """
    model = settings.apply(description)
    if len(model.joints) > MAX_JOINTS:
        problem = (
            f"{len(model.joints)} joints move, expected at most {MAX_JOINTS}; name those of the arm in `robot.joints`"
        )
        raise ModelError(f"robot '{model.name}'", problem)
    for joint in model.joints:
        if joint.dof > 1:
            raise ModelError(f"joint '{joint.name}'", f"a {joint.type} joint does not fit a JointState message")
    return model


def no_robot(field: str) -> MessageError:
    """Return the error of a request that comes before there is a robot."""
    return MessageError(field, "no robot yet", "no robot_description has been received")
