# SPDX-License-Identifier: Apache-2.0
"""What is shown of one arm: its names, the topics of the node, and the colour of each effort, the same in each tool."""

from __future__ import annotations

from typing import NamedTuple

from ros2_dyn.model import RobotModel


class Effort(NamedTuple):
    """One of the efforts of a joint."""

    label: str
    topic: str
    """Name of the topic in `Shown.topic`."""
    colour: str


MEASURED = Effort("measured", "joint_states", "#1f2933")
EXTERNAL = Effort("external", "external_effort", "#cc3333")
TERMS = (
    Effort("inverse dynamics", "inverse_dynamics", "#1f77b4"),
    Effort("gravity", "gravity", "#2ca02c"),
    Effort("Coriolis", "coriolis", "#9467bd"),
    Effort("friction", "friction", "#ff7f0e"),
)
"""Efforts of the model."""
THRESHOLD_COLOUR = "#8c8c8c"
FORCE_COLOUR, MOMENT_COLOUR = "#ff8000", "#1a66ff"
"""Colours of the arrows, as in ~/wrench_markers."""


class Shown(NamedTuple):
    """An arm, and the node that computes its dynamics."""

    robot: str
    """Name of the robot, by which /diagnostics calls it."""
    base_link: str
    joints: tuple[str, ...]
    """Names of the joints in the order of the node's messages."""
    wrench_joints: tuple[str, ...]
    """Names of the joints whose wrenches are published: those that mimic another are among them."""
    namespace: str = ""
    """Namespace of the node, without slashes at its ends."""

    @classmethod
    def of(cls, model: RobotModel, namespace: str = "") -> Shown:
        """Return what is shown of a model whose node is in a namespace."""
        joints = tuple(joint.name for joint in model.joints)
        return cls(model.name, model.base_link, model.joint_names, joints, namespace.strip("/"))

    def topic(self, name: str) -> str:
        """Return the full name of a topic or a service of the node, or of `joint_states` or `robot_description`."""
        inside = name if name in ("joint_states", "robot_description") else f"dynamics/{name}"
        return "/" + "/".join(part for part in (self.namespace, inside) if part)
