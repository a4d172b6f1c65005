"""The parameters of the modes that command, and of the guard."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from ros2_dyn.control.effort_guard import COMMANDING, GuardPolicy, StopBehaviour
from ros2_dyn.control.hand_guiding import Guiding
from ros2_dyn.control.sampling import bearable
from ros2_dyn.control.tip_friction import TipFriction
from ros2_dyn.errors import InputError
from ros2_dyn.ros.declaration import DOUBLES, STRINGS, Declaration

Tracking = Literal["joint_pd", "computed_torque"]

CONTROL_DECLARATIONS = {
    "command_joints": Declaration(STRINGS, "Order of the controller's joints on ~/command. Not set: the model's."),
    "effort_scale": Declaration(0.8, "Share of the URDF's effort limits that commands may use.", 0.01, 1.0),
    "slew_rate": Declaration(10.0, "Greatest change of a command, of its limit per second, 1/s.", 0.1, 1000.0),
    "velocity_scale": Declaration(1.0, "Share of the URDF's velocity limits above which a mode stops.", 0.01, 1.0),
    "ramp_time": Declaration(0.5, "Over which commands pass to a mode that is entered or left, s.", 0.0, 10.0),
    "state_timeout": Declaration(0.1, "Age above which no command is sent on a state, s.", 0.001, 10.0),
    "target_timeout": Declaration(0.1, "Age of a target above which feed_forward and force stop, s.", 0.001, 10.0),
    "detect_frozen": Declaration(True, "Whether a state with velocities that repeats the one before is no new state."),
    "stop_behaviour": Declaration("gravity", f"What a stop leads to: {', '.join(get_args(StopBehaviour))}."),
    "stop_damping": Declaration(5.0, "Rate at which a stopped arm comes to rest, 1/s.", 0.0, 50.0),
    "collision_modes": Declaration(["gravity", "feed_forward"], "Modes that a collision stops."),
    "gravity_damping": Declaration(0.5, "Rate at which the arm comes to rest in mode gravity, 1/s.", 0.0, 50.0),
    "feed_forward_gain": Declaration(1.0, "Share of the model's effort that feed_forward commands.", 0.0, 1.0),
    "tracking": Declaration("joint_pd", f"What feed_forward adds to it: {' or '.join(get_args(Tracking))}."),
    "tracking_stiffness": Declaration(
        DOUBLES, "Of each joint in `joints`, N m/rad or N/m; for computed_torque 1/s^2. Not set: 0."
    ),
    "tracking_damping": Declaration(
        DOUBLES, "Of each joint in `joints`, N m s/rad or N s/m; for computed_torque 1/s. Not set: 0."
    ),
    "tracking_tolerance": Declaration(
        0.3, "Distance from desired positions above which feed_forward stops, rad or m.", 1e-3, 10.0
    ),
    "guiding_damping": Declaration(1.0, "Rate at which the guided arm comes to rest, 1/s.", 0.0, 50.0),
    "guiding_friction": Declaration(0.8, "Share of the joints' friction that hand_guiding compensates.", 0.0, 1.0),
    "guiding_hold_force": Declaration(2.2, "That holds the guided tip where it is left, N.", 0.0, 100.0),
    "guiding_hold_moment": Declaration(0.2, "As well, N m.", 0.0, 20.0),
    "guiding_assistance": Declaration(0.0, "How many times the hand's estimated force is added to it.", 0.0, 5.0),
    "guiding_deadband": Declaration(5.0, "Estimated force of the hand that is not assisted, N.", 0.0, 100.0),
    "soft_limit_margin": Declaration(0.2, "Before the joint limits, where soft walls begin, rad or m.", 1e-3, 1.0),
    "soft_limit_bandwidth": Declaration(30.0, "Of the soft walls, rad/s.", 1.0, 200.0),
    "force_damping": Declaration(120.0, "Rate at which force brakes what moves the tip, 1/s.", 0.0, 500.0),
    "posture_damping": Declaration(10.0, "Rate at which force brakes what does not, 1/s.", 0.0, 100.0),
    "force_rate": Declaration(50.0, "Greatest change of the commanded force, N/s.", 0.1, 10000.0),
    "moment_rate": Declaration(10.0, "Greatest change of the commanded moment, N m/s.", 0.01, 1000.0),
}

GUARDED = (
    "command_joints",
    "effort_scale",
    "slew_rate",
    "velocity_scale",
    "ramp_time",
    "state_timeout",
    "target_timeout",
    "detect_frozen",
    "tracking_tolerance",
    "stop_behaviour",
    "collision_modes",
)
"""Those of the guard, which stay as they are while it guards."""


@dataclass(frozen=True)
class ControlSettings:
    """Valid values of these parameters, in SI units."""

    command_joints: tuple[str, ...]
    effort_scale: float
    slew_rate: float
    velocity_scale: float
    ramp_time: float
    state_timeout: float
    target_timeout: float
    detect_frozen: bool
    stop_behaviour: StopBehaviour
    stop_damping: float
    collision_modes: tuple[str, ...]
    gravity_damping: float
    feed_forward_gain: float
    tracking: Tracking
    tracking_stiffness: tuple[float, ...]
    tracking_damping: tuple[float, ...]
    tracking_tolerance: float
    guiding_damping: float
    guiding_friction: float
    guiding_hold_force: float
    guiding_hold_moment: float
    guiding_assistance: float
    guiding_deadband: float
    soft_limit_margin: float
    soft_limit_bandwidth: float
    force_damping: float
    posture_damping: float
    force_rate: float
    moment_rate: float

    @classmethod
    def checked(cls, values: Mapping[str, Any]) -> ControlSettings:
        """From values of these parameters, and others.

        Raises:
            InputError: a mode is none that commands, or a joint is named twice.
        """
        chosen = {name: values[name] for name in CONTROL_DECLARATIONS}
        for mode in chosen["collision_modes"]:
            if mode not in COMMANDING:
                raise InputError("collision_modes", f"expected some of {', '.join(COMMANDING)}; got '{mode}'")
        names = chosen["command_joints"]
        if len(set(names)) != len(names):
            raise InputError("command_joints", f"expected each joint once, got {list(names)}")
        return cls(**chosen)

    def policy(self, singularity_threshold: float) -> GuardPolicy:
        """When commands end, and how."""
        return GuardPolicy(
            self.ramp_time,
            self.state_timeout,
            self.target_timeout,
            self.detect_frozen,
            self.tracking_tolerance,
            self.stop_behaviour,
            self.collision_modes,
            singularity_threshold,
        )

    def guiding(self, period: float) -> Guiding:
        """How the guided arm feels, with states that come once a period, s."""
        tip = TipFriction(self.guiding_hold_force, self.guiding_hold_moment)
        return Guiding(
            bearable(self.guiding_damping, period),
            self.guiding_friction,
            tip._replace(bandwidth=bearable(tip.bandwidth, period), sticking=bearable(tip.sticking, period)),
            self.guiding_assistance,
            self.guiding_deadband,
            self.soft_limit_margin,
            bearable(self.soft_limit_bandwidth, period),
        )
