# SPDX-License-Identifier: Apache-2.0
"""The parameters of the modes."""

from __future__ import annotations

from dataclasses import dataclass

from ros2_dyn.control.parameter import Group, parameter
from ros2_dyn.model import RobotModel


@dataclass(frozen=True)
class GravitySettings(Group, name="gravity", title="Mode gravity"):
    """How the arm feels in mode gravity."""

    damping: float = parameter(0.5, "Rate at which the arm comes to rest, 1/s.", low=0.0, high=50.0)


@dataclass(frozen=True)
class FeedForwardSettings(Group, name="feed_forward", title="Mode feed_forward"):
    """How mode feed_forward follows its target."""

    gain: float = parameter(1.0, "Fraction of the model's effort that is commanded.", low=0.0, high=1.0)
    law: str = parameter(
        "joint_pd",
        "Law of the tracking: joint_pd (gains in N m/rad and N m s/rad), or computed_torque (gains in 1/s^2 and 1/s).",
        choices=("joint_pd", "computed_torque"),
        locked=True,
    )
    stiffness: tuple[float, ...] = parameter(
        (),
        "Stiffness of each joint, in the unit of `feed_forward.law`. Not set: 0.",
        per_joint=True,
        example=[500.0, 500.0],
    )
    damping: tuple[float, ...] = parameter(
        (),
        "Damping of each joint, in the unit of `feed_forward.law`. Not set: 0.",
        per_joint=True,
        example=[50.0, 50.0],
    )
    tolerance: float = parameter(
        0.3,
        "Distance from the desired positions above which the mode stops, rad or m.",
        low=1e-3,
        high=10.0,
        locked=True,
    )


@dataclass(frozen=True)
class HandGuidingSettings(Group, name="hand_guiding", title="Mode hand_guiding"):
    """How the arm feels in mode hand_guiding."""

    damping: float = parameter(1.0, "Rate at which the arm comes to rest, 1/s.", low=0.0, high=50.0)
    friction: float = parameter(
        0.8,
        "Fraction of the joints' friction that is compensated, with `commands.command_effort: raw`.",
        low=0.0,
        high=1.0,
    )
    hold_force: float = parameter(2.2, "Maximum force that holds the tip where it was left, N.", low=0.0, high=100.0)
    hold_moment: float = parameter(0.2, "Maximum moment that holds the tip where it was left, N m.", low=0.0, high=20.0)
    assist_gain: float = parameter(
        0.0, "Multiple of the hand's estimated force that is added to it.", low=0.0, high=5.0
    )
    deadband: float = parameter(5.0, "Estimated force of the hand that is not assisted, N.", low=0.0, high=100.0)


@dataclass(frozen=True)
class ForceSettings(Group, name="force", title="Mode force"):
    """How mode force moves."""

    damping: float = parameter(
        120.0,
        "Damping of motions of the tip, 1/s. A free tip of mass m moves with F / (m damping).",
        low=0.0,
        high=500.0,
    )
    posture_damping: float = parameter(10.0, "Damping of motions that do not move the tip, 1/s.", low=0.0, high=100.0)
    approach_speed: float = parameter(
        0.1, "Speed at which ~/desired_wrench grows no further, m/s.", low=0.001, high=1.0
    )
    force_rate: float = parameter(50.0, "Maximum change of the force, N/s.", low=0.1, high=10000.0)
    moment_rate: float = parameter(10.0, "Maximum change of the moment, N m/s.", low=0.01, high=1000.0)


@dataclass(frozen=True)
class ImpedanceSettings(Group, name="impedance", title="Mode impedance"):
    """The spring of mode impedance."""

    frame: str = parameter(
        "",
        "Link along and about whose axes the stiffness acts. Empty: the base link.",
        locked=True,
    )
    stiffness: tuple[float, ...] = parameter(
        (500.0, 500.0, 500.0, 20.0, 20.0, 20.0),
        "Stiffness along and about the axes of `impedance.frame`, N/m and N m/rad. 0 leaves an axis to "
        "~/desired_wrench. Changes feed no energy into the arm. Less where the loop is late.",
        size=6,
        low=0.0,
        high=1e5,
    )
    damping_ratio: tuple[float, ...] = parameter(
        (0.8, 0.8, 0.8, 0.8, 0.8, 0.8),
        "Damping ratio along and about the same axes; 1 is critical.",
        size=6,
        low=0.1,
        high=2.0,
    )
    speed: float = parameter(0.1, "Speed at which a desired pose is approached, m/s.", low=0.001, high=1.0, locked=True)
    turn_rate: float = parameter(
        0.5, "Rate at which a desired rotation is approached, rad/s.", low=0.001, high=5.0, locked=True
    )
    stiffness_energy: float = parameter(
        0.5,
        "Energy that a stiffness which grows may take at once, J. What the damping takes refills it.",
        low=0.0,
        high=10.0,
        locked=True,
    )
    posture_bandwidth: float = parameter(
        2.0,
        "Bandwidth at which an arm with more joints than the tip needs returns to its posture, rad/s.",
        low=0.0,
        high=20.0,
    )

    def check(self, model: RobotModel) -> None:
        """Check that the robot has the link of `frame`.

        Raises:
            InputError: it has not.
        """
        model.link_frame(self.frame or None)


MODE_SETTINGS: list[type[Group]] = [
    GravitySettings,
    FeedForwardSettings,
    HandGuidingSettings,
    ForceSettings,
    ImpedanceSettings,
]
"""The parameters of each mode."""
