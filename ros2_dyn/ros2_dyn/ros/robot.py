"""All of the node that depends on the robot description, replaced as a whole when a new one comes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from math import inf, isfinite
from typing import Any, NamedTuple

import numpy as np

from ros2_dyn.control.arm_state import ArmState
from ros2_dyn.errors import InputError, MessageError, ModelError
from ros2_dyn.estimation.filters import FilteredDerivative
from ros2_dyn.kernels import Kernel, compile_kernel
from ros2_dyn.model import BASE, RobotModel
from ros2_dyn.ros.collision_monitor import CollisionMonitor, tip_kernel
from ros2_dyn.ros.joint_order import JointOrder
from ros2_dyn.ros.pairing import Pair, Pairing
from ros2_dyn.ros.parameters import Settings
from ros2_dyn.ros.payload_ramp import PayloadRamp
from ros2_dyn.ros.state_intake import MeasuredState, StateIntake

TICK = ("effort", "gravity", "coriolis", "friction", "joint_wrenches")
OBSERVED = ("momentum", "coriolis_transpose_qd")
INPUTS = ("q", "qd", "qdd", "gravity", "payload")
STATE_TERMS = ("mass_matrix", "coriolis", "gravity", "friction", "effort", "kinetic_energy", "potential_energy")


class Efforts(NamedTuple):
    """What one tick computes, in the model's order, N m or N; the names of the first four are those of the topics."""

    inverse_dynamics: tuple[float, ...]
    """All that the joints must exert, friction included."""
    gravity: tuple[float, ...]
    coriolis: tuple[float, ...]
    friction: tuple[float, ...]
    joint_wrenches: tuple[tuple[float, ...], ...]
    """[force; moment] through each joint, N and N m, in its child link's frame."""
    momentum: tuple[float, ...] = ()
    """Where collisions are to be detected, as what follows."""
    coriolis_transpose_qd: tuple[float, ...] = ()


@lru_cache(maxsize=8)
def kernels(model: RobotModel, link: str, observed: bool) -> tuple[Kernel, Kernel, Kernel]:
    """Of the tick, of an effort alone, and of all terms, with a payload on a link; those made before are at hand.

    Args:
        model: the robot.
        link: that carries the payload.
        observed: whether the tick is to compute what a momentum observer needs.
    """
    outputs = TICK + OBSERVED if observed else TICK
    tick, effort, terms = (
        compile_kernel(model, names, "python", INPUTS, link) for names in (outputs, TICK[:1], STATE_TERMS)
    )
    return tick, effort, terms


@lru_cache(maxsize=8)
def mass_kernel(model: RobotModel, link: str) -> Kernel:
    """The mass matrix, with a payload on a link; one that was made before is at hand."""
    return compile_kernel(model, ("mass_matrix",), "python", ("q", "payload"), link)


class Robot:
    """The model, its kernels, and the newest state of one robot."""

    def __init__(self, description: RobotModel, settings: Settings) -> None:
        """Compile the kernels.

        Raises:
            ModelError: a joint is planar or floating.
            InputError: the robot has not the joints or the tip link that the settings name.
        """
        self.description = description
        self.model = model = settings.apply(description)
        for joint in model.joints:
            if joint.dof > 1:
                raise ModelError(f"joint '{joint.name}'", f"a {joint.type} joint does not fit a JointState message")
        self.settings = settings
        self.tip_link = settings.tip_link or model.default_tip
        self.order = JointOrder(model.joint_names)
        self.intake = StateIntake(model, settings.policy(model))
        self.pairing = Pairing(settings.desired_timeout)
        self.state: MeasuredState | None = None
        self.acceleration_source = "zero"
        self.monitor = CollisionMonitor(model, settings, self.tip_link) if settings.detect_collisions else None
        self._zero = [0.0] * model.n
        self._qdd = FilteredDerivative(settings.acceleration_cutoff, [False] * model.n)
        self._compile(PayloadRamp(self.tip_link))

    def _compile(self, payload: PayloadRamp) -> None:
        """Kernels for a payload on a link."""
        self._tick, self._effort, self._terms = kernels(self.model, payload.link, self.settings.detect_collisions)
        self.payload = payload
        self.__dict__.pop("batch", None)

    @cached_property
    def batch(self) -> Kernel:
        """Efforts and gravity of many states at once, for trajectories; made when first asked for."""
        return compile_kernel(self.model, ("effort", "gravity"), "numpy", INPUTS, self.payload.link)

    def prepare(self, link: str) -> None:
        """Make what a payload on a link needs, so that `carry` finds it at hand."""
        kernels(self.model, link, self.settings.detect_collisions)

    def prepare_commands(self) -> None:
        """Make what `arm_state` needs, so that it finds it at hand."""
        mass_kernel(self.model, self.payload.link)
        tip_kernel(self.model, self.tip_link)

    def arm_state(self, state: MeasuredState, efforts: Efforts, now: float) -> ArmState:
        """What the control laws need to know at a state.

        Args:
            state: measured.
            efforts: the model's, there.
            now: time of a steady clock, s.
        """
        (M,) = mass_kernel(self.model, self.payload.link)(state.q, self.payload.at(now))
        J, pose = tip_kernel(self.model, self.tip_link)(state.q)
        return ArmState(*map(np.array, (state.q, state.qd, efforts.gravity, efforts.friction, M, J, pose)))

    def in_order(self, numbers: Sequence[float]) -> list[float]:
        """Numbers that are given in the order of `joints`, in the model's; zeros where none are given."""
        return self.settings.in_order(numbers, self.model, 0.0)

    def succeed(self, before: Robot) -> bool:
        """Go on from another robot: with its state if the joints are the same, and with its payload.

        Returns:
            whether it carries the same payload: it does not if the link is gone, or is moved by no joint any more.
        """
        if self.model.joint_names == before.model.joint_names:
            self.state = before.state
            if self.monitor is not None and before.monitor is not None:
                self.monitor.succeed(before.monitor)
        payload = before.payload
        if not any(payload.at(inf)):
            return True
        keeps = payload.link in self.model.link_names and self.model.link_frame(payload.link).body != BASE
        if keeps:
            self._compile(payload)
        return keeps

    def efforts(self, pair: Pair, now: float) -> Efforts:
        """The efforts at a measured state: inverse dynamics where desired, the others where measured.

        Args:
            pair: the measured state, and the desired one; without that the acceleration is estimated or zero.
            now: time of a steady clock, s.

        Raises:
            MessageError: the numbers are so large that an effort is not finite.
        """
        q, qd = pair.measured.q, pair.measured.qd
        gravity, payload = self.settings.gravity, self.payload.at(now)
        try:
            efforts = Efforts(*self._tick(q, qd, self._acceleration(pair), gravity, payload))
            desired = pair.desired
            if desired is not None and not (desired.q is None and desired.qd is None):
                tau = self.effort(desired.q or q, desired.qd or qd, desired.qdd, now)
                efforts = efforts._replace(inverse_dynamics=tau)
            finite = all(isfinite(sum(term)) for term in efforts[:4])
        except (OverflowError, ValueError):
            finite = False
        if not finite:
            raise MessageError("velocity", "too large", "an effort would not be finite")
        return efforts

    def effort(self, q: list[float], qd: list[float], qdd: list[float], now: float) -> tuple[float, ...]:
        """All that the joints must exert in a motion, N m or N."""
        (tau,) = self._effort(q, qd, qdd, self.settings.gravity, self.payload.at(now))
        return tau

    def _acceleration(self, pair: Pair) -> list[float]:
        """That of the desired state, or an estimate of the measured one, or zero."""
        estimate = None
        if self.settings.acceleration == "estimated":
            sec, nanosec = pair.measured.stamp
            estimate = self._qdd.update(sec + 1e-9 * nanosec, pair.measured.qd)
        if pair.desired is not None:
            self.acceleration_source = "desired"
            return pair.desired.qdd
        self.acceleration_source = "zero" if estimate is None else "estimated"
        return self._zero if estimate is None else estimate

    def terms(self, state: MeasuredState, qdd: list[float], now: float) -> dict[str, Any]:
        """Every term of the equation of motion at a state, by name."""
        values = self._terms(state.q, state.qd, qdd, self.settings.gravity, self.payload.at(now))
        return dict(zip(STATE_TERMS, values))

    def carry(self, link: str, parameters: list[float], ramp_time: float, now: float) -> None:
        """Pass to another payload.

        Args:
            link: the link that carries it; the tip for an empty name.
            parameters: its inertial parameters in the link's frame; zeros: none.
            ramp_time: over which the efforts pass to it, s.
            now: time of a steady clock, s.

        Raises:
            InputError: the robot has no such link, the time is wrong, or another link carries a payload already.
        """
        link = link or self.tip_link
        if self.model.link_frame(link).body == BASE:
            raise InputError("link", f"'{link}' is fixed to the base: no joint carries what is on it")
        if link != self.payload.link:
            if any(self.payload.at(now)):
                raise InputError("link", f"'{self.payload.link}' carries a payload; remove it first, with mass 0")
            self._compile(PayloadRamp(link))
        self.payload.pass_to(parameters, ramp_time, now)
