# SPDX-License-Identifier: Apache-2.0
"""Robot card: what was identified of one arm, to be laid over a description of its kinematics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import date
from typing import TYPE_CHECKING, Any

from ros2_dyn.errors import ModelError
from ros2_dyn.model.card_kinematics import kinematics_digests
from ros2_dyn.model.effort_filter import NO_FILTER, EffortFilter
from ros2_dyn.model.finding import Finding
from ros2_dyn.model.inertial import Inertial, rounded
from ros2_dyn.model.joint_dynamics import JointDynamics
from ros2_dyn.model.link_spec import LinkSpec
from ros2_dyn.version import own_version

if TYPE_CHECKING:
    from ros2_dyn.model.robot_model import RobotModel


@dataclass(frozen=True)
class CardAbout:
    """Where the numbers of a card are from."""

    serial: str = ""
    """Serial number of the arm; empty: not told."""
    date: str = ""
    """Of the identification, as 2026-11-23."""
    method: str = ""
    """How they were identified, in a few words."""
    data: tuple[str, ...] = ()
    """SHA-256 of each recording."""
    temperature: float | None = None
    """Of the joints or, where these do not measure it, of the room, degrees Celsius."""
    held_out_rms: Mapping[str, float] = field(default_factory=dict)
    """RMS of measured less computed effort of each joint over data that were not fitted, N m or N."""
    identifications: int = 1
    """How many identifications the card is the mean of."""
    ros2_dyn: str = ""
    """Version that made the card."""
    licence: str = ""
    """Under which others may use it."""


@dataclass(frozen=True)
class CardSpread:
    """Standard deviations of the numbers of several identifications of one arm, in the units of the numbers."""

    links: Mapping[str, Inertial] = field(default_factory=dict)
    joints: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """By joint, and by the name of the number in `JointDynamics`."""
    effort_gain: Mapping[str, float] = field(default_factory=dict)
    gravity: tuple[float, ...] | None = None


@dataclass(frozen=True)
class RobotCard:
    """What was identified of one arm.

    Links that the joints of the card do not move, as those of the base, are not in it, and stay as they are described.
    """

    robot: str
    """Name of the robot in its description."""
    links: Mapping[str, Inertial]
    """Inertia of each link. That of links which are fixed to each other may be given for one of them."""
    joints: Mapping[str, JointDynamics]
    """Friction, spring and rotor of each joint."""
    kinematics: Mapping[str, str]
    """What identifies the kinematics that the numbers belong to, by link: see `kinematics_digests`."""
    effort_gain: Mapping[str, float] = field(default_factory=dict)
    """Factor from the driver's unit of effort to N m or N, by joint; 1 for the others."""
    gravity: tuple[float, ...] | None = None
    """Acceleration of free fall in the base frame as it was found, m/s^2; None: not identified."""
    effort_filter: EffortFilter = NO_FILTER
    """Filter that the driver puts on the efforts."""
    about: CardAbout = field(default_factory=CardAbout)
    spread: CardSpread | None = None
    """None for one identification."""
    urdf: str = ""
    """Path of the description, from the card's folder, or as package://; empty: to be named where the card is used."""

    @classmethod
    def of(
        cls,
        model: RobotModel,
        original: RobotModel,
        about: CardAbout | None = None,
        effort_gain: Mapping[str, float] | None = None,
        gravity: Sequence[float] | None = None,
        urdf: str = "",
        effort_filter: EffortFilter = NO_FILTER,
    ) -> RobotCard:
        """Make the card of an identified robot. Its numbers are rounded to six digits.

        Args:
            model: as identified; joints of the original may be locked.
            original: the robot as it is described, which the card will be laid over.
            about: where the numbers are from; date and version are filled in where they lack.
            effort_gain: factor from the driver's unit of effort to N m or N, by joint.
            gravity: acceleration of free fall in the base frame, m/s^2, where it was identified.
            urdf: path of the original, for those who load the card alone.
            effort_filter: that the driver puts on the efforts, where it was identified.

        Raises:
            ModelError: the two have other links, joints or kinematics, or no body is like one of the links.
        """
        joints = {joint.name: rounded_dynamics(joint.dynamics) for joint in model.joints if joint.dof == 1}
        moved = kinematics_digests(model, joints)
        links = {spec.link: Inertial.of(spec.inertia) for spec in model.link_specs if spec.link in moved}
        children = {spec.link for spec in model.link_specs if spec.joint and spec.joint.name in joints}
        digests = kinematics_digests(original, joints)
        about = about or CardAbout()
        card = cls(
            robot=original.name,
            links=links,
            joints=joints,
            kinematics={link: digests.get(link, "") for link in links if link in children or links[link].mass > 0},
            effort_gain={name: rounded(gain) for name, gain in (effort_gain or {}).items()},
            gravity=None if gravity is None else tuple(rounded(float(x)) for x in gravity),
            effort_filter=effort_filter,
            about=replace(about, date=about.date or date.today().isoformat(), ros2_dyn=about.ros2_dyn or own_version()),
            urdf=urdf,
        )
        card.check(original)
        card.check(model)
        return card

    def check(self, model: RobotModel) -> None:
        """Check that the card is one of a robot.

        An inertia that no body has is refused, unless it is the description's own: that is for `ros2_dyn.audit`.

        Raises:
            ModelError: the robot lacks a link or joint, moves otherwise, or no body is like a link of the card.
        """
        one_dof = {joint.name for joint in model.joints if joint.dof == 1}
        for kind, names, known in (("link", self.links, model.links), ("joint", self.joints, one_dof)):
            if missing := [name for name in names if name not in known]:
                problem = f"the card of '{self.robot}' has it, and the robot '{model.name}' has not"
                raise ModelError(f"{kind} '{missing[0]}'", problem)
        digests = kinematics_digests(model, self.joints)
        moved = {spec.link for spec in model.link_specs if spec.joint and spec.joint.name in self.joints}
        for link in dict.fromkeys([*digests, *self.kinematics]):  # the first one in the tree is named
            told = link in moved or link in self.kinematics
            if told and digests.get(link) != self.kinematics.get(link):
                problem = f"its frame or its joint is not the one that the card of '{self.robot}' was made for"
                raise ModelError(f"link '{link}'", f"{problem}; use the description that it was identified with")
        for spec in model.link_specs:
            inertial = self.links.get(spec.link, Inertial())
            if (problem := inertial.problem()) and inertial != Inertial.of(spec.inertia):
                raise ModelError(f"link '{spec.link}'", f"{problem}, in the card of '{self.robot}'")

    def apply(self, model: RobotModel) -> RobotModel:
        """Return the robot with the inertias and joint dynamics of the card.

        Raises:
            ModelError: as `check`.
        """
        self.check(model)
        return model.from_links(model.name, [self._over(spec) for spec in model.link_specs], model.findings, self)

    def _over(self, spec: LinkSpec) -> LinkSpec:
        joint = spec.joint
        if joint is not None and joint.name in self.joints:
            joint = replace(joint, dynamics=self.joints[joint.name])
        inertia = self.links[spec.link].spatial() if spec.link in self.links else spec.inertia
        return spec._replace(joint=joint, inertia=inertia)

    def gains(self, joint_names: Sequence[str]) -> tuple[float, ...]:
        """Return the factor from the driver's unit of effort to N m or N of each joint."""
        return tuple(self.effort_gain.get(name, 1.0) for name in joint_names)


def with_card(model: RobotModel, card: RobotCard | None) -> RobotModel:
    """Return a robot with a card applied; where that does not fit, the robot with an error among its findings."""
    if card is None or model.card is card:
        return model
    try:
        return card.apply(model)
    except ModelError as error:
        finding = Finding("error", "card_unfit", error.element, error.problem, "correct or remove the robot card")
        return model if finding in model.findings else replace(model, findings=(*model.findings, finding))


def rounded_dynamics(dynamics: JointDynamics) -> JointDynamics:
    """Return the same, with numbers of six digits."""

    def short(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(short(item) for item in value)
        return None if value is None else rounded(value)

    return JointDynamics(**{each.name: short(getattr(dynamics, each.name)) for each in fields(JointDynamics)})
