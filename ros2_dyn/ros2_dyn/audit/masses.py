# SPDX-License-Identifier: Apache-2.0
"""Links that weigh nothing although they are drawn, and masses that a model lumps together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from ros2_dyn.audit.link_size import Box
from ros2_dyn.model.finding import Finding
from ros2_dyn.model.robot_model import BASE, RobotModel


def check_masses(model: RobotModel, sizes: Mapping[str, Box]) -> Iterator[Finding]:
    """Yield links with a size and no mass, and what is fixed to each moving link."""
    fixed: defaultdict[str, list[tuple[str, float]]] = defaultdict(list)
    for spec in model.link_specs:
        body, mass = model.links[spec.link].body, float(spec.inertia.mass)
        if body == BASE:
            continue
        if mass == 0 and spec.link in sizes:
            problem = f"it is {sizes[spec.link].diagonal:.2g} m large and has no mass"
            yield Finding("warning", "inertial_missing", f"link '{spec.link}'", problem, "give its <inertial>")
        if mass > 0 and spec.joint is None:
            fixed[model.child_links[body]].append((spec.link, mass))
    for carrier, links in fixed.items():
        names = ", ".join(f"'{link}' ({mass:.3g} kg)" for link, mass in links)
        problem = f"it carries what is fixed to it: {names}"
        yield Finding("note", "fixed_mass", f"link '{carrier}'", problem, "is all of it there?")
