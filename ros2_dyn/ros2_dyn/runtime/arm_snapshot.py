# SPDX-License-Identifier: Apache-2.0
"""What a mode may know at a tick: the state, the targets, the enabling signal, the loop and the soft walls."""

from __future__ import annotations

from dataclasses import replace
from math import inf, isfinite

from ros2_dyn.control.arm import Arm
from ros2_dyn.control.arm_state import ArmState
from ros2_dyn.control.modes import AnyMode
from ros2_dyn.control.position_limits import WallPlacement
from ros2_dyn.control.sampled_stability import SampledLoop
from ros2_dyn.control.soft_limits import WALL_WIDTH
from ros2_dyn.runtime.robot_dynamics import RobotDynamics
from ros2_dyn.runtime.state_pipeline import Observed
from ros2_dyn.runtime.targets import Targets


class ArmSnapshots:
    """What is known of the arm besides its states, and the snapshots that hold both."""

    def __init__(self, targets: Targets) -> None:
        """Read what is desired from the targets."""
        self._targets = targets
        self._enabled_at = -inf
        self._walls = WallPlacement()
        self._walls_at: float | None = None

    def on_enable(self, pressed: bool, now: float) -> None:
        """Take an enabling signal at a time, s."""
        self._enabled_at = now if pressed else -inf

    def begin_walls(self) -> None:
        """Place the soft walls anew at the next state: a mode begins."""
        self._walls_at = None

    def take(
        self,
        robot: RobotDynamics,
        observed: Observed,
        state: ArmState,
        *,
        mode: AnyMode | None,
        loop: SampledLoop,
        now: float,
    ) -> Arm:
        """Return the arm at a time, s.

        Args:
            robot: the robot.
            observed: the newest state.
            state: the model's terms there.
            mode: the mode that commands or is to begin; None: the arm is stopped, or none commands.
            loop: what the loop bears.
            now: time, s.
        """
        settings, measured, external = robot.settings, observed.state.measured, observed.seen
        helped = external is not None and mode is not None and mode.uses_external_wrench(now)
        return Arm(
            now=now,
            age=state_age(observed, now),
            state=state,
            robot=robot,
            commands=settings.commands,
            limits=robot.limits,
            positions=robot.positions,
            loop=loop,
            walls=(robot.lower, robot.upper),
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
            problem=measured.problem,
            velocity_problem=measured.velocity_problem,
            state_timeout=settings.states.timeout,
        )

    def with_walls(self, arm: Arm, *, act: bool, stopped: bool) -> Arm:
        """Return an arm that is commanded with its soft walls, which begin where the joints are; see `WallPlacement`.

        Args:
            arm: the arm.
            act: whether the walls act.
            stopped: whether the arm is to stay where it is.
        """
        dt, self._walls_at = (None if self._walls_at is None else arm.now - self._walls_at), arm.now
        lower, upper = arm.positions.lower, arm.positions.upper
        walls = self._walls.place(arm.state.q, lower, upper, margin=WALL_WIDTH, dt=dt if act else None, stopped=stopped)
        return arm if walls[0] is lower and walls[1] is upper else replace(arm, walls=walls)


def state_age(observed: Observed, now: float) -> float:
    """Return the age of a state, s; negative where its stamp was ahead of the clock when it arrived.

    Such a state does not become usable by waiting: its age is how far ahead it was, or the time since then.
    """
    age = observed.now - observed.state.measured.measured_at if observed.stamped else inf
    since_arrival = now - observed.now
    if age >= 0:
        return age + since_arrival
    return since_arrival if since_arrival > -age else age
