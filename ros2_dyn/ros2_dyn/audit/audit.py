# SPDX-License-Identifier: Apache-2.0
"""All checks of a robot description, from its text or from the model alone."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from xml.etree.ElementTree import Element

from ros2_dyn.audit.inertials import check_inertials, check_masses, check_sizes
from ros2_dyn.audit.joints import check_joints, check_origins, check_units
from ros2_dyn.audit.link_size import link_sizes
from ros2_dyn.audit.strength import check_strength
from ros2_dyn.errors import ModelError
from ros2_dyn.model import RobotModel, urdf
from ros2_dyn.model.description_bounds import read_text
from ros2_dyn.model.finding import Finding

SEVERITIES = ("error", "warning", "note")
"""The worst first."""
NEXT = re.compile(r"(e|s|r|x|_?v\d+|_?gen\d+|_?mk\d+|_?\d)$")
"""How the name of a later generation differs from the first one's: ur10e, iiwa_v2, gen3."""


def audit_file(path: str | Path) -> list[Finding]:
    """Return what is odd in a URDF file, the worst first; see `audit`."""
    try:
        return audit(read_text(path), Path(path).resolve().parent)
    except (OSError, UnicodeDecodeError) as error:
        return [Finding("error", "unreadable", f"file '{path}'", f"cannot be read: {error}")]


def audit(xml: str, folder: Path | None = None) -> list[Finding]:
    """Return what is odd in the text of a URDF, the worst first; nothing is raised.

    Args:
        xml: the text.
        folder: where the URDF lies, for relative paths of meshes, and for ``package://`` where the package is above it.
    """
    try:
        model = RobotModel.from_urdf(xml)
    except ModelError as error:
        advice = "mend this first: nothing else was checked"
        return [Finding("error", "unreadable", error.element, error.problem, advice)]
    robot = urdf.robot_element(xml, [])
    sizes, unknown = link_sizes(robot, folder)
    found = [*model.findings, *audit_model(model)]
    found += check_sizes(model, sizes)
    found += check_masses(model, sizes)
    found += check_origins(robot)
    found += _mixed_generations(robot)
    return sorted(found + unknown, key=_severity)


def audit_model(model: RobotModel) -> list[Finding]:
    """Return what is odd in a model, the worst first, apart from its `findings`: all that does not need the text."""
    found = [*check_inertials(model), *check_joints(model), *check_strength(model), *check_units(model)]
    return sorted(found, key=_severity)


def _severity(finding: Finding) -> int:
    return SEVERITIES.index(finding.severity)


def _mixed_generations(robot: Element) -> Iterator[Finding]:
    """Yield folders of meshes that belong to a robot and to its successor."""
    links: defaultdict[str, list[str]] = defaultdict(list)
    for link in robot.findall("link"):
        for mesh in link.iter("mesh"):
            for folder in PurePosixPath(mesh.get("filename", "").split("://", 1)[-1]).parts[:-1]:
                if link.get("name", "?") not in links[folder]:
                    links[folder].append(link.get("name", "?"))
    for name in sorted(links):
        first = NEXT.sub("", name)
        if len(first) > 2 and first != name and first in links and not set(links[name]) & set(links[first]):
            problem = f"'{links[first][0]}' has a mesh of '{first}', and '{links[name][0]}' one of '{name}'"
            advice = "two generations of a robot have other lengths, masses and centres: take one of them"
            yield Finding("warning", "generations_mixed", "robot", problem, advice)
