# SPDX-License-Identifier: Apache-2.0
"""What the conditions of a mode are about, gathered at each state: ages, distances, speeds and energies."""

from __future__ import annotations

from math import inf, isfinite

import numpy as np

from ros2_dyn.control.arm_state import ArmState
from ros2_dyn.control.mode_conditions import GuardInput
from ros2_dyn.control.mode_settings import HandGuidingSettings
from ros2_dyn.control.modes import WALLED_MODES, Mode
from ros2_dyn.control.position_limits import limit_ahead, positions_beyond
from ros2_dyn.control.sampled_stability import longest_delay
from ros2_dyn.dynamics import singular_values
from ros2_dyn.runtime.control_laws import ControlLaws
from ros2_dyn.runtime.control_policy import position_limits
from ros2_dyn.runtime.loop_observer import LoopObserver
from ros2_dyn.runtime.model_monitor import ModelMonitor
from ros2_dyn.runtime.robot_dynamics import RobotDynamics
from ros2_dyn.runtime.settings import Settings
from ros2_dyn.runtime.state_pipeline import Observed
from ros2_dyn.runtime.target_hybrid import TargetHybrid
from ros2_dyn.runtime.target_wrench import TargetWrench


def guard_input(
    mode: Mode,
    robot: RobotDynamics,
    observed: Observed,
    arm: ArmState,
    target: TargetWrench | TargetHybrid | None,
    enabled_at: float,
    loop: LoopObserver,
    laws: ControlLaws,
    monitor: ModelMonitor,
    now: float,
) -> GuardInput:
    """Return what the conditions of a mode are about, at a state.

    How the contact of mode force goes on is left out: only the active mode has one.

    Args:
        mode: the active mode, or the one that is to be entered.
        robot: the robot.
        observed: the state.
        arm: the arm at this state.
        target: what mode force follows.
        enabled_at: when the enabling signal came last, s; -inf: it is released.
        loop: period, delay and energy of the loop.
        laws: the control laws.
        monitor: what the arm's motion says of the model.
        now: time, s.
    """
    desired, target_age, distance, sigma = observed.state.desired, 0.0, 0.0, inf
    if mode == "force":
        target_age = inf if target is None else now - target.time.desired_at
        sigma = float(singular_values(arm.J)[-1])
    elif mode == "feed_forward":
        target_age = inf if desired is None else now - observed.state.desired_at
        distance = float(np.max(np.abs(arm.q - desired.q))) if desired is not None and desired.q else 0.0
    measured, limits, beyond = observed.state.measured, position_limits(robot), ""
    if mode == "feed_forward" and desired is not None and desired.q:
        beyond = positions_beyond(limits, desired.q)
    return GuardInput(
        now,
        state_age(observed, now),
        arm.q,
        arm.qd,
        target_age,
        distance,
        observed.collision,
        sigma,
        problem=measured.problem,
        velocity_problem=measured.velocity_problem,
        detector_age=now - observed.observed_at if _relies_on_detector(mode, robot.settings) else 0.0,
        tip_speed=float(np.linalg.norm(arm.tip_velocity[:3])),
        limit_ahead=limit_ahead(limits, arm, robot.effort_limit, mode in WALLED_MODES),
        target_beyond=beyond,
        enable_age=now - enabled_at,
        fed_energy=loop.fed_energy,
        delay=longest_delay(*loop.times),
        reduced_for=laws.reduced_for,
        inert=mode == "stopped" and monitor.is_inert(observed),
    )


def _relies_on_detector(mode: Mode, settings: Settings) -> bool:
    """Return whether a mode needs external efforts: to stop at a collision, or to help a hand."""
    if not settings.collision.enabled:
        return False
    assists = mode == "hand_guiding" and settings.mode(HandGuidingSettings).assist_gain > 0
    return assists or (
        mode in settings.commands.collision_stop_modes and any(map(isfinite, settings.collision.threshold))
    )


def state_age(observed: Observed, now: float) -> float:
    """Return the age of a state, s; negative where its stamp was ahead of the clock when it arrived.

    Such a state does not become usable by waiting: its age is how far ahead it was, or the time since then.
    """
    age = observed.now - observed.state.measured.measured_at if observed.stamped else inf
    since_arrival = now - observed.now
    if age >= 0:
        return age + since_arrival
    return since_arrival if since_arrival > -age else age
