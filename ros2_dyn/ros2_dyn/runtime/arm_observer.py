# SPDX-License-Identifier: Apache-2.0
"""What is known of one arm: its newest state, targets and button, how late its loop is, and what its joints do."""

from __future__ import annotations

from dataclasses import replace
from math import inf, isfinite

import numpy as np

from ros2_dyn.control.arm import Arm
from ros2_dyn.control.arm_state import ArmState
from ros2_dyn.control.command_history import CommandHistory
from ros2_dyn.control.events import Violation
from ros2_dyn.control.model_doubt import CONTROLLER_DOES_NOT_FOLLOW
from ros2_dyn.control.modes import AnyMode
from ros2_dyn.control.position_limits import WallPlacement
from ros2_dyn.control.sampled_stability import SampledLoop
from ros2_dyn.control.soft_limits import WALL_WIDTH, soft_walls
from ros2_dyn.control.stop.law import nearest_to_zero
from ros2_dyn.model.spatial import Array, clip
from ros2_dyn.runtime.applied_effort import AppliedEffort
from ros2_dyn.runtime.inputs import EnableSignal
from ros2_dyn.runtime.loop_observer import LoopObserver
from ros2_dyn.runtime.model_monitor import ModelDifference, ModelMonitor
from ros2_dyn.runtime.robot_dynamics import RobotDynamics
from ros2_dyn.runtime.state_pipeline import Observed
from ros2_dyn.runtime.targets import Targets


class ArmObserver:
    """Watches the states and the commands of one arm, and makes the snapshots that modes are given."""

    def __init__(self, targets: Targets) -> None:
        """Begin without a robot; what is desired is read from the targets."""
        self.robot: RobotDynamics | None = None
        self.latest: Observed | None = None
        """The newest state; None before there is one."""
        self.history = CommandHistory(0.24)  # s: twice the longest delay that is looked for
        """What was commanded lately."""
        self.loop = LoopObserver(self.history)
        """How late the loop is."""
        self._targets = targets
        self._monitor = ModelMonitor(self.history)
        self._applied = AppliedEffort()
        self._enabled_at = -inf
        self._walls = WallPlacement()
        self._walls_at: float | None = None
        self._stopped = False

    # ---- what changes

    def use(self, robot: RobotDynamics) -> None:
        """Go on with another robot, or with other parameters."""
        before, self.robot = self.robot, robot
        self._monitor.use(robot)
        if before is None or before.model.joint_names != robot.model.joint_names:
            self.history.clear()
            self.latest, self._applied = None, AppliedEffort()
            self.loop = LoopObserver(self.history)
        elif before.settings.robot.gravity != robot.settings.robot.gravity:
            self._applied.on_weight_changed()
        self.loop.use(robot.settings)

    def on_enable(self, signal: EnableSignal, now: float) -> None:
        """Take an enabling signal at a time, s."""
        self._enabled_at = now if signal.pressed else -inf

    def on_state(self, observed: Observed, command: Array | None, *, alone: bool) -> None:
        """Take a state.

        Args:
            observed: the state.
            command: what is commanded, N m or N, shape (n,); None: nothing.
            alone: whether nobody else can be carrying a part of the arm.
        """
        assert self.robot is not None
        self.latest = observed
        self._monitor.add(observed)
        self.loop.on_state(observed)
        measured = observed.state.measured
        if not (measured.problem or measured.misplaced):  # these say nothing of where the arm is
            self._applied.observe(self.robot, observed, command, proves=alone)

    def begin(self, applied: Array, now: float, *, afresh: bool) -> None:
        """Take notice that a mode begins.

        Args:
            applied: what the joints exert, as it would be commanded, N m or N, shape (n,).
            now: time, s.
            afresh: whether nothing was commanded before.
        """
        if afresh:
            self.history.clear()
            self.history.add(now, applied)
        self._monitor.begin(len(applied), afresh)
        self.loop.begin(not afresh)
        self._walls_at, self._stopped = None, False

    def forget_collision(self) -> None:
        """Take notice that the collision was reset after the newest state."""
        if self.latest is not None:
            self.latest = self.latest._replace(collision=False)

    def on_payload_changed(self) -> None:
        """Take notice that the robot carries something else from now on."""
        self._monitor.forget()
        self._applied.on_weight_changed()

    # ---- what is known at the newest state

    def age(self, now: float) -> float:
        """Return the age of the newest state at a time, s.

        It is negative where the stamp was ahead of the clock when the state arrived. Such a state does not become
        usable by waiting: its age is how far ahead it was, or the time since then.
        """
        observed = self.latest
        assert observed is not None
        age = observed.now - observed.state.measured.measured_at if observed.stamped else inf
        since_arrival = now - observed.now
        if age >= 0:
            return age + since_arrival
        return since_arrival if since_arrival > -age else age

    def before(self, mode: AnyMode | None, now: float, *, stopped: bool = False) -> Arm:
        """Return the arm at a time, s, for a mode that is to begin; the energy that others fed does not count.

        Args:
            mode: the mode.
            now: time, s.
            stopped: whether a stop commands the arm: what does not follow it would not follow the mode.
        """
        robot, observed = self._known()
        state = robot.arm_state(observed.state.measured, observed.terms, now)
        loop = self.loop.sampled(touches=mode is not None and mode.needs.contact)
        doubt = self._monitor.not_followed(observed, self.loop.delay.answer_time) if stopped else None
        return self._snapshot(mode, state, loop._replace(gain=1.0, fed_energy=0.0), now, doubt=doubt)

    def at_tick(self, mode: AnyMode | None, *, stopped: bool) -> Arm:
        """Judge what a commanded arm does at the newest state, and return the arm there; to be called once a state.

        Args:
            mode: the mode that commands; None: none does.
            stopped: whether the arm is to stay where it is.
        """
        robot, observed = self._known()
        measured, now = observed.state.measured, observed.now
        state = robot.arm_state(measured, observed.terms, now, self.loop.lead)
        exerted = robot.exerted(measured, observed.terms, state.gravity)
        if exerted is not None:
            self.loop.on_effort(exerted, robot.limits.effort)
        contact, acts = mode is not None and mode.needs.contact, stopped if mode is None else mode.needs.walls
        wrench = np.zeros(6) if mode is None else mode.wrench
        late = self.loop.delay.answer_time
        doubt = self._monitor.check(observed, state, wrench, contact_expected=contact, late=late)
        if doubt is not None and doubt.kind == CONTROLLER_DOES_NOT_FOLLOW:
            self.loop.on_disobedience()
        return self._snapshot(
            mode,
            state,
            self.loop.sampled(touches=contact),
            now,
            walls=self._walls_of(observed, state.q, act=acts, stopped=stopped),
            exerted=exerted,
            inert=stopped and self._monitor.is_inert(observed),
            doubt=doubt,
        )

    def at_stop(self, arm: Arm, *, pushing: Array) -> Arm:
        """Return an arm that is stopped: a wall goes on with what it pushed until then, less what pushed against it.

        A mode that leans on a wall would else leave the joint to it, and be thrown back.

        Args:
            arm: at the newest state.
            pushing: the newest command without what carries the arm, N m or N, shape (n,).
        """
        robot, observed = self._known()
        if self._stopped or observed.state.measured.misplaced:
            return arm
        self._stopped, wall = True, soft_walls(arm)
        kept = clip(pushing / np.where(wall == 0, np.inf, wall), 0.0, 1.0)
        walls = self._walls.place(
            arm.state.q, robot.lower, robot.upper, margin=WALL_WIDTH, dt=0.0, stopped=True, kept=kept
        )
        return replace(arm, walls=walls)

    def applied(self, state: ArmState, commanded: Array | None) -> Array:
        """Return what the joints exert, as it would be commanded, N m or N, shape (n,); see `AppliedEffort.at`."""
        robot, observed = self._known()
        return self._applied.at(robot, observed, state, commanded)

    @property
    def watched(self) -> bool:
        """Whether states have come for long enough to tell whether the arm rests."""
        return self._applied.watched

    @property
    def moves(self) -> bool:
        """Whether the arm is known to move."""
        return self._applied.moves

    def held(self, state: ArmState, commanded: Array | None) -> Array | None:
        """Return what holds the arm at rest here, as it would be commanded, N m or N, shape (n,); None: not known.

        A command that holds it is no proof where another controller carries the arm: of what is commanded and what is
        measured, the one that is nearer to the model counts, or the model in between.

        Args:
            state: the state of the arm.
            commanded: what is commanded to an arm at rest, N m or N, shape (n,); None: nothing.
        """
        if commanded is None:
            return self._applied.held_at(state.q)
        robot, observed = self._known()
        exerted = robot.exerted(observed.state.measured, observed.terms, state.gravity)
        if exerted is None:
            return commanded
        gravity = robot.as_commanded(state.gravity, state.gravity)
        return gravity + nearest_to_zero(commanded - gravity, exerted - gravity)

    def obeying(self, arm: Arm) -> Array:
        """Return which joints are measured not to do the opposite of what is commanded, shape (n,), bool.

        One that does something else may be another controller's: it needs its effort when that lets it go.
        """
        _, observed = self._known()
        return ~self._monitor.opposed(observed) & (arm.exerted is not None)

    @property
    def unanswered(self) -> Array:
        """Which joints do not answer to commands, shape (n,), bool: others move them; see `Unanswered`."""
        return self._monitor.unanswered

    def is_pushed(self, arm: Arm) -> bool:
        """Return whether an effort from outside that the model does not explain drives a joint, and no swing.

        What a drive lacks looks like a push, and is none.
        """
        _, observed = self._known()
        outside = arm.exerted is not None and not self._monitor.drives_beyond(observed)
        return outside and self._monitor.is_driven(arm.state.qd) and not self.loop.delay.swing.goes_on(arm.now)

    def model_difference(self, now: float, *, contact_expected: bool) -> ModelDifference | None:
        """Return what the arm exerts beyond its model at a time, s, or None without a state with a measured effort."""
        if self.robot is None or self.latest is None:
            return None
        state = self.robot.arm_state(self.latest.state.measured, self.latest.terms, now)
        return self._monitor.difference(self.latest, state, now, contact_expected=contact_expected)

    def observe_energy(self, supply: Array | None, state: ArmState) -> None:
        """Sum what the law has fed into the arm since the state before; see `LoopObserver`."""
        robot, observed = self._known()
        if supply is not None:  # with gravity at the state itself, not where it is predicted
            gravity = np.array(observed.terms.gravity)
            supply = robot.as_commanded(supply - state.gravity + gravity, gravity)
        self.loop.observe_energy(supply)

    def _known(self) -> tuple[RobotDynamics, Observed]:
        """Return the robot and its newest state."""
        assert self.robot is not None
        assert self.latest is not None
        return self.robot, self.latest

    def _snapshot(
        self,
        mode: AnyMode | None,
        state: ArmState,
        loop: SampledLoop,
        now: float,
        *,
        walls: tuple[Array, Array] | None = None,
        exerted: Array | None = None,
        inert: bool = False,
        doubt: Violation | None = None,
    ) -> Arm:
        """Return the arm at a time, s.

        Args:
            mode: the mode that commands or is to begin; None: the arm is stopped, or none commands.
            state: the model's terms at the newest state.
            loop: what the loop bears.
            now: time, s.
            walls: where soft walls belong to; None: to the position limits.
            exerted: see `Arm`, as are the others.
            inert: of an arm that is stopped.
            doubt: of an arm that is commanded.
        """
        robot, observed = self._known()
        settings, measured, external = robot.settings, observed.state.measured, observed.seen
        helped = external is not None and mode is not None and mode.uses_external_wrench(now)
        return Arm(
            now=now,
            age=self.age(now),
            state=state,
            robot=robot,
            commands=settings.commands,
            limits=robot.limits,
            positions=robot.positions,
            loop=loop,
            walls=walls or (robot.lower, robot.upper),
            inverse_dynamics=observed.terms.inverse_dynamics,
            desired=observed.state.desired,
            desired_at=observed.state.desired_at,
            wrench=self._targets.wrench,
            pose=self._targets.pose,
            external_wrench=external.wrench.wrench if external is not None and helped else (),
            detects_collisions=any(map(isfinite, settings.collision.threshold)),
            detector_age=now - observed.observed_at if settings.collision.observes else 0.0,
            collision=observed.collision,
            enable_age=now - self._enabled_at,
            shown_qd=None if measured.shown_qd is None else np.array(measured.shown_qd),
            problem=measured.problem,
            velocity_problem=measured.velocity_problem,
            state_timeout=settings.states.timeout,
            exerted=exerted,
            inert=inert,
            doubt=doubt,
        )

    def _walls_of(self, observed: Observed, q: Array, *, act: bool, stopped: bool) -> tuple[Array, Array] | None:
        """Return the limits that the soft walls of an arm that is commanded belong to; see `WallPlacement`.

        Where positions are in doubt, no wall pushes. Each begins anew where its joint is when they are believed again,
        and where others move the joint.

        Args:
            observed: the newest state.
            q: joint positions, rad or m, shape (n,).
            act: whether the walls act.
            stopped: whether the arm is to stay where it is.
        """
        (robot, _), measured, now = self._known(), observed.state.measured, observed.now
        if measured.misplaced:
            self._walls_at = None
            return np.full_like(q, -inf), np.full_like(q, inf)
        if measured.problem:
            return None
        dt, self._walls_at = (None if not act or self._walls_at is None else now - self._walls_at), now
        kept = ~self.unanswered
        return self._walls.place(q, robot.lower, robot.upper, margin=WALL_WIDTH, dt=dt, stopped=stopped, kept=kept)
