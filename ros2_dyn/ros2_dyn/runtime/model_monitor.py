# SPDX-License-Identifier: Apache-2.0
"""Of the stage "decide": whether the arm does what the model expects, before a mode and while it commands."""

from __future__ import annotations

from collections import deque
from math import inf, isfinite
from typing import NamedTuple

import numpy as np

from ros2_dyn.audit.strength import motor_effort
from ros2_dyn.control.arm_state import ArmState
from ros2_dyn.control.command_history import CommandHistory
from ros2_dyn.control.controller_probe import OBEYED
from ros2_dyn.control.events import Violation
from ros2_dyn.control.loop_delay import MAX_COMMAND_DELAY
from ros2_dyn.control.model_doubt import (
    CONTROLLER_DOES_NOT_FOLLOW,
    MODEL_DOUBTED,
    Doubt,
    Unanswered,
    allowance,
    contact_allowance,
    looks_lost,
    lost_payload,
    mean_difference,
)
from ros2_dyn.control.stop.machine import WINDOW
from ros2_dyn.errors import MessageError
from ros2_dyn.estimation.momentum_observer import MomentumObserver
from ros2_dyn.model.spatial import Array, clip
from ros2_dyn.runtime.effort_convention import own_effort, total_effort
from ros2_dyn.runtime.robot_dynamics import RobotDynamics
from ros2_dyn.runtime.state_pipeline import Observed

BANDWIDTH = 30.0
"""Of the observer that compares the motion with the efforts, 1/s."""


class ModelDifference(NamedTuple):
    """Mean of the measured minus the model's efforts over the newest states."""

    joint_names: tuple[str, ...]
    difference: Array
    """N m or N, shape (n,); positive where a joint exerts more than the model expects."""
    allowed: Array
    """What friction and `model_tolerance` explain, and contact where it is expected, N m or N, shape (n,)."""
    weight: Array
    """What the model expects against gravity, N m or N, shape (n,)."""
    friction: Array
    """What friction explains, N m or N, shape (n,)."""
    tolerance: Array
    """What `model_tolerance` explains, N m or N, shape (n,)."""

    @property
    def worst(self) -> int:
        """The joint with the largest fraction of what is allowed."""
        return int(np.argmax(self.ratio))

    @property
    def ratio(self) -> Array:
        """The differences as fractions of what is allowed, shape (n,)."""
        return np.abs(self.difference) / self.allowed

    @property
    def share(self) -> float:
        """What is measured of the weight, as a fraction of what the model expects; 1 where there is none."""
        square = float(self.weight @ self.weight)
        return 1 + float(self.difference @ self.weight) / square if square > 0 else 1.0

    @property
    def in_another_unit(self) -> bool:
        """Whether the efforts are the model's but for a factor that makes them less than half, as of currents."""
        rest = float(np.linalg.norm(self._beyond_share))
        return abs(self.share) < 0.5 and rest < 0.3 * float(np.linalg.norm(self.difference))

    @property
    def beyond(self) -> Array | None:
        """What holds the arm beyond its model if that factor is one of units, N m or N, shape (n,).

        No more than friction explains; None where it would be more than half of the weight: it may be noise then.
        """
        rest = self._beyond_share
        if not np.linalg.norm(rest) < abs(self.share) * float(np.linalg.norm(self.weight)) / 2:
            return None
        return np.clip(rest / self.share, -self.friction, self.friction)

    @property
    def _beyond_share(self) -> Array:
        """What is measured beyond that share of the weight, N m or N, shape (n,)."""
        return self.difference + (1 - self.share) * self.weight

    @property
    def is_loaded(self) -> bool:
        """Whether a joint bears a weight of which friction cannot hold a half, and that counts beside the tolerance."""
        return bool(np.any(np.abs(self.weight) > np.maximum(2 * self.friction, self.tolerance / 2)))


class ModelMonitor:
    """What is doubted of one robot."""

    def __init__(self, commands: CommandHistory) -> None:
        """Doubt nothing yet of a robot that is given these commands."""
        self._commands = commands
        self._robot: RobotDynamics | None = None
        self._states: deque[Observed] = deque()
        self._exerted_at = -inf
        self.forget()
        self.begin(0)

    def use(self, robot: RobotDynamics) -> None:
        """Go on with another robot, or the same with other parameters."""
        self._robot = robot
        model, settings = robot.model, robot.settings
        drives = [joint.dynamics for joint in model.joints if joint.mimics is None]
        self._motor_effort = motor_effort(model)
        self._allowances = [
            allowance(effort, drive.breakaway, drive.viscous, settings.commands.model_tolerance)
            for effort, drive in zip(self._motor_effort.tolist(), drives)
        ]
        # A measured effort may differ from the commanded one by half the tolerance: no model is in between.
        self._following_margin = [0.5 * each.tolerance for each in self._allowances]
        self._gravity = np.array(settings.robot.gravity)
        self.forget()

    def forget(self) -> None:
        """Forget the states, because what the model knows has changed."""
        self._states.clear()
        self._observer = MomentumObserver(BANDWIDTH)

    def add(self, observed: Observed) -> None:
        """Take a state; of those that come faster than one in 5 ms, some."""
        states, newest = self._states, observed.state.measured.stamp
        since = 1e-9 * (newest - states[-1].state.measured.stamp) if states else np.inf
        if 0 <= since < 0.005:
            return
        if since < 0:
            states.clear()
        states.append(observed)
        while 1e-9 * (newest - states[0].state.measured.stamp) > 0.2:  # s, whose mean is compared with the model
            states.popleft()

    # ---- before a mode

    def difference(
        self, latest: Observed, arm: ArmState, now: float, *, contact_expected: bool
    ) -> ModelDifference | None:
        """Return the mean difference over the newest states, or None where efforts are not measured or not finite.

        Args:
            latest: the newest state, for where none came since the robot, its parameters or its payload changed.
            arm: the state of the arm there.
            now: time, s.
            contact_expected: whether a mode commands that expects contact, which explains a difference, too.
        """
        robot = self._known
        try:
            states = list(self._states) or [latest._replace(terms=robot.terms_at(latest.state.measured, now))]
        except MessageError:
            return None
        measured = [(each, self._measured(robot, each)) for each in states]
        known = [(each, tau) for each, tau in measured if tau is not None]
        if not known:
            return None
        t = np.array([1e-9 * (each.state.measured.stamp - states[0].state.measured.stamp) for each, _ in known])
        rates = [
            np.array(tau) + each.terms.coriolis_transpose_qd - each.terms.gravity - np.array(each.terms.friction)
            for each, tau in known
        ]
        difference = mean_difference(t, np.array([each.terms.momentum for each, _ in known]), np.array(rates))
        allowed = np.array(self._allowed(np.mean([each.state.measured.qd for each, _ in known], axis=0).tolist()))
        tolerance = np.array([each.tolerance for each in self._allowances])
        return ModelDifference(
            robot.model.joint_names,
            difference,
            allowed + (self._contact(arm) if contact_expected else 0.0),
            weight=arm.gravity,
            friction=allowed - tolerance,
            tolerance=tolerance,
        )

    def _measured(self, robot: RobotDynamics, observed: Observed) -> list[float] | None:
        """Return the whole effort of the joints, N m or N, shape (n,), where it is measured."""
        effort, kind = observed.state.measured.effort, robot.settings.states.measured_effort
        if effort is None or kind == "external" or not all(map(isfinite, effort)):
            return None
        return total_effort(kind, effort, observed.terms.inverse_dynamics, observed.terms.gravity)

    def _own(self, observed: Observed) -> tuple[float, ...] | None:
        """Return the effort that the robot adds to its commands itself, N m or N, shape (n,); None: nothing."""
        terms = observed.terms
        return own_effort(self._known.settings.commands.convention, terms.gravity, terms.friction)

    def _exerted(self, observed: Observed) -> list[float] | None:
        """Return what the joints exert beyond that, N m or N, shape (n,), where it is measured."""
        effort, own = self._measured(self._known, observed), self._own(observed)
        return effort if effort is None or own is None else [tau - g for tau, g in zip(effort, own)]

    @property
    def _known(self) -> RobotDynamics:
        assert self._robot is not None
        return self._robot

    def _allowed(self, qd: list[float]) -> list[float]:
        """Return the differences that are allowed without contact, N m or N, shape (n,)."""
        drives = self._known.model.drives
        if not drives.coupled:
            return [each.at(abs(v)) for each, v in zip(self._allowances, qd)]
        turning = zip(self._allowances, np.abs(drives.coupling @ qd).tolist())
        of_drives = np.array([each.at(speed) - each.tolerance for each, speed in turning])
        tolerance = np.array([each.tolerance for each in self._allowances])
        allowed: list[float] = (tolerance + of_drives @ np.abs(drives.coupling)).tolist()
        return allowed

    def _contact(self, arm: ArmState, wrench: Array | None = None) -> Array:
        return contact_allowance(arm.J, 60.0, wrench)  # N of a hand, besides what the mode exerts

    # ---- while commands leave

    def begin(self, n: int, afresh: bool = True) -> None:
        """Begin a mode of an arm with n joints, to which nothing was commanded before where it is afresh."""
        self._following, self._moving, self._unanswered = Doubt(n), Doubt(n), Unanswered(n)
        if afresh:
            self._observer = MomentumObserver(BANDWIDTH)

    def _followed(self, observed: Observed, late: float = MAX_COMMAND_DELAY) -> tuple[Array, Array]:
        """Return the smallest and the largest command that an effort may follow, N m or N, each (n,), by a time, s."""
        return self._commands.since(observed.state.measured.measured_at - late)

    def is_inert(self, observed: Observed) -> bool:
        """Take a state; return whether joints exert nothing although efforts are commanded; False where unmeasured.

        They have to exert nothing for as long as speeds are measured: for a single state, noise may look so.
        """
        if not self._exerts_nothing(observed):
            self._exerted_at = observed.now
        return observed.now - self._exerted_at > WINDOW

    def _exerts_nothing(self, observed: Observed) -> bool:
        """Return whether all exert less than 1 % of their limits, while more than 3 % was commanded to one of them."""
        exerted, limit = self._exerted(observed), self._motor_effort
        if exerted is None or np.any(np.abs(exerted) > 0.01 * limit):
            return False
        low, high = self._followed(observed)
        return bool(np.any(np.maximum(low, -high) > 0.03 * limit))

    def opposed(self, observed: Observed) -> Array:
        """Return which joints exert the opposite of all that was commanded lately, shape (n,), bool.

        What is little beside that is noise, of a joint that exerts nothing.
        """
        exerted = self._exerted(observed)
        if exerted is None:
            return np.zeros(self._known.model.n, dtype=bool)
        low, high = self._followed(observed)
        least = np.where(low * high > 0, np.minimum(np.abs(low), np.abs(high)), np.inf)
        return np.multiply(exerted, -np.sign(low)) > OBEYED * least

    @property
    def unanswered(self) -> Array:
        """Which joints do not answer to commands, shape (n,), bool; see `Unanswered`."""
        return self._unanswered.joints

    def drives_beyond(self, observed: Observed) -> bool:
        """Return whether a joint drives more or brakes less than commanded lately; False where that is unmeasured."""
        exerted = self._exerted(observed)
        if exerted is None:
            return False
        (low, high), margin = self._followed(observed), np.array(self._following_margin)
        beyond = exerted - clip(np.array(exerted), low - margin, high + margin)
        return bool(np.any(beyond * observed.state.measured.qd > 0))

    def is_driven(self, qd: Array) -> bool:
        """Return whether an external effort beyond what is allowed drives a joint at speeds, rad/s or m/s, (n,)."""
        external = np.array(self._observer.value)
        return len(external) == len(qd) and bool(np.any(external * np.sign(qd) > self._allowed(qd.tolist())))

    def not_followed(self, observed: Observed, late: float) -> Violation | None:
        """Return which joint's effort is none that was commanded, by a state alone; None where efforts are unmeasured.

        Args:
            observed: the state.
            late: time within which measured efforts follow the commands, s.
        """
        exerted = self._exerted(observed)
        if exerted is None:
            return None
        low, high = self._followed(observed, late)
        followed = np.array(self._allowed(observed.state.measured.qd)) - self._following_margin
        share = np.abs(exerted - clip(np.array(exerted), low, high)) / followed
        i = int(share.argmax())
        return None if share[i] <= 1 else self._not_followed(self._known, i, exerted[i], low[i], high[i])

    def check(
        self, observed: Observed, arm: ArmState, wrench: Array, *, contact_expected: bool, late: float
    ) -> Violation | None:
        """Take a state while commands leave; return what is doubted.

        Args:
            observed: the state.
            arm: the state of the arm there.
            wrench: wrench that the tip is to exert, N and N m, shape (6,).
            contact_expected: whether the mode expects contact.
            late: time within which measured efforts follow the commands, s.
        """
        robot, measured, terms = self._known, observed.state.measured, observed.terms
        t, allowed = 1e-9 * measured.stamp, self._allowed(measured.qd)
        low, high = (each.tolist() for each in self._followed(observed, late))  # floats are quicker here
        last, exerted, own = self._commands.last, self._exerted(observed), self._own(observed)
        assert last is not None
        applied, not_followed = last.tolist(), None
        if exerted is not None:
            applied = [min(max(tau, a), b) for tau, a, b in zip(exerted, low, high)]
            missed = [tau - a for tau, a in zip(exerted, applied)]
            followed = [e - margin for e, margin in zip(allowed, self._following_margin)]
            i = self._following.update(t, missed, followed)
            if i is None:
                self._unanswered.forget()
            else:
                not_followed = self._not_followed(robot, i, exerted[i], low[i], high[i])
                self._unanswered.update(t, *map(np.array, (exerted, low, high, self._following_margin)))
        tau = applied if own is None else [a + g for a, g in zip(applied, own)]
        observes = self._observer.observe(t, tau, terms.observed)  # also where a stop goes on with a doubt
        if not_followed is not None or not observes:
            return not_followed
        external = self._observer.value
        lost = False
        if contact_expected and any(abs(r) > e for r, e in zip(external, allowed)):
            lost = self._payload_looks_lost(robot, arm, np.array(external), np.array(allowed), observed.now)
            allowed = allowed if lost else (np.array(allowed) + self._contact(arm, wrench)).tolist()
        i = self._moving.update(t, external, allowed)
        return None if i is None else self._not_explained(robot, i, external[i], allowed[i], lost)

    def _payload_looks_lost(
        self, robot: RobotDynamics, arm: ArmState, external: Array, allowed: Array, now: float
    ) -> bool:
        payload = np.array(robot.payload.at(now))
        if payload[0] <= 0 or robot.payload.link != robot.tip_link:
            return False
        return looks_lost(external, lost_payload(arm, payload, self._gravity), allowed)

    def _not_explained(self, robot: RobotDynamics, i: int, external: float, allowed: float, lost: bool) -> Violation:
        """Return the doubt of the motion of a joint."""
        moves = f": '{robot.model.joint_names[i]}' moves as if {external:.3g} N m or N pushed it"
        why = "is the payload lost?" if lost else "is the payload lost, or the arm touched?"
        return Violation(MODEL_DOUBTED, f"{moves}, {allowed:.3g} are allowed: {why}")

    def _not_followed(self, robot: RobotDynamics, i: int, exerted: float, low: float, high: float) -> Violation:
        """Return the doubt of the controller of a joint."""
        joint, commanded = robot.model.joint_names[i], f"{low:.4g} to {high:.4g} were commanded"
        look = "is it active, and does robot.joints have its order?"
        detail = f": '{joint}' exerts {exerted:.4g} N m or N, {commanded}: {look}"
        return Violation(CONTROLLER_DOES_NOT_FOLLOW, detail, "request monitor, and the mode when commands have ended")
