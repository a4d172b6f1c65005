# SPDX-License-Identifier: Apache-2.0
"""Descriptions that are put together from two generations of one robot."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import PurePosixPath
from xml.etree.ElementTree import Element

from ros2_dyn.model.finding import Finding

NEXT = re.compile(r"(e|s|r|x|_?v\d+|_?gen\d+|_?mk\d+|_?\d)$")
"""How the name of a later generation differs from the first one's: ur10e, iiwa_v2, gen3."""


def check_generations(robot: Element) -> Iterator[Finding]:
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
