# SPDX-License-Identifier: Apache-2.0
"""Mode force: the tip exerts a wrench, without a force sensor."""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot

from ros2_dyn.control.arm import Arm
from ros2_dyn.control.contact_watch import ContactWatch
from ros2_dyn.control.events import Violation
from ros2_dyn.control.force_control import force_control
from ros2_dyn.control.modes.base import Law, Mode, Needs
from ros2_dyn.control.parameter import Group, parameter
from ros2_dyn.control.wrench_approach import MAX_FREE_SPEED, WrenchApproach, least_free_speed, travel_violation
from ros2_dyn.dynamics.singularity import NEAR_SINGULARITY
from ros2_dyn.model.spatial import Array


@dataclass(frozen=True)
class ForceSettings(Group, name="force", title="Mode force"):
    """How mode force moves."""

    damping: float = parameter(
        120.0,
        "Damping of motions of the tip, 1/s. A free tip of mass m moves with F / (m damping).",
        low=0.0,
        high=500.0,
    )


class Force(Mode[ForceSettings]):
    """Presses with the desired wrench, and slows a tip that has not met its wall yet."""

    name = "force"
    needs = Needs(target="wrench", enabling_signal=True, contact=True, known_delay=True)
    Parameters = ForceSettings

    def __init__(self, parameters: ForceSettings, now: float) -> None:
        """Begin without a wrench; see `Mode`."""
        super().__init__(parameters, now)
        self._approach = WrenchApproach()
        self._contact = ContactWatch()

    @property
    def wrench(self) -> Array:
        """What the tip is to exert now; see `Mode`."""
        return self._approach.wrench

    def why_not_begin(self, arm: Arm) -> str:
        """Return whether a tip without contact would be too fast; see `Mode`."""
        assert arm.wrench is not None  # the mode needs a target
        wrench = arm.wrench.in_base_axes(arm.state.q.tolist())
        speed, force = least_free_speed(arm.state.mobility[:3], wrench, arm.loop), hypot(*wrench[:3])
        if speed <= MAX_FREE_SPEED:
            return ""
        return (
            f"a delay of {1e3 * arm.loop.longest:.0f} ms allows no force of {force:.3g} N: a tip without contact would "
            f"move with {speed:.2g} m/s, {MAX_FREE_SPEED:g} are allowed. Desire at most "
            f"{force * MAX_FREE_SPEED / speed:.2g} N, or let joint_states come more often and younger"
        )

    def why_not_go_on(self, arm: Arm) -> Violation | None:
        """Return whether contact is lost, or the arm is near a singularity, or its loop too late; see `Mode`."""
        if self._contact.lost:
            return Violation("contact lost")
        if (violation := travel_violation(self._contact.travel, arm)) is not None:
            return violation
        if arm.min_singular_value < NEAR_SINGULARITY:
            return Violation("singularity", f": smallest singular value {arm.min_singular_value:.3g}")
        if self._approach.reduced_for > 1.0:
            return Violation("delay", f": {1e3 * arm.loop.longest:.0f} ms allow less than the desired wrench")
        return None

    def law(self, arm: Arm, parameters: ForceSettings, dt: float) -> Law:
        """Return the efforts; see `Mode`."""
        assert arm.wrench is not None  # the mode needs a target
        target = arm.wrench.in_base_axes(arm.state.q.tolist())
        bearable = self._approach.advance(target, arm, dt)
        wrench, state = self._approach.wrench, arm.state
        damping = arm.loop.rate(parameters.damping)
        self._contact.observe(
            state,
            force=wrench[:3],
            target=bearable[:3],
            damping=damping,
            max_speed=arm.commands.max_tip_speed,
            now=arm.now,
        )
        # Motions that do not move the tip are damped with 10 1/s.
        effort = force_control(state, wrench, damping, posture_damping=arm.loop.rate(10.0))
        return Law(effort, supply=state.gravity + wrench @ state.J)
