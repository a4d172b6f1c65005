# SPDX-License-Identifier: Apache-2.0
"""The text of an identification: what was found, how well it predicts, and what the data cannot tell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ros2_dyn.model.joint_dynamics import JointDynamics
from ros2_dyn_tools.identification.identification import Estimate, Identification

RETRACED = 0.3
"""Share of the test part above which its error says little about other motions."""
UNLIKE = 1.5
"""Error in the test part, as a multiple of that in the fit part, from which on it was fitted too closely."""


def report(found: Identification) -> list[str]:
    """Return the lines of the report, in Markdown."""
    return [
        f"# Identification of {found.model.name}",
        "",
        *_data(found),
        "",
        *_errors(found),
        "",
        *_doubts(found),
        "",
        "## Friction and motors",
        "",
        *_friction(found),
        "",
        "## Bodies",
        "",
        *_bodies(found),
        "",
        "## Base parameters",
        "",
        "Efforts depend on these combinations of the inertial parameters only. Standard errors are those of weighted",
        "least squares without the description; the description has told the rest.",
        "",
        *table(("parameter", "value", "standard error"), (_estimate(each) for each in found.base)),
    ]


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table in Markdown."""
    return [f"| {' | '.join(cells)} |" for cells in (header, ["---"] * len(header), *rows)]


def _data(found: Identification) -> list[str]:
    fit, test = found.seconds
    settings, options = found.settings, found.options
    lines = [
        f"- Fitted to {fit:.1f} s, tested on {test:.1f} s, at {found.rate:.4g} Hz.",
        f"- Positions and velocities: zero-phase low-pass at {options.cutoff:g} Hz.",
        f"- Filter that the driver put on the efforts, as found: {settings.effort_filter}.",
    ]
    if options.band:
        lines.append(f"- Measured and modelled efforts are compared below {options.band:g} Hz (zero-phase low-pass).")
    tilt = np.degrees(np.arccos(np.clip(_cosine(found.gravity, np.array(options.gravity)), -1.0, 1.0)))
    lines.append(f"- Gravity in the base frame: {_vector(found.gravity)} m/s^2, tilted by {tilt:.2f} degrees.")
    lines.append(
        f"- Weights chosen by cross-validation in the fit part: bodies {settings.body_weight:g}, "
        f"friction {settings.friction_weight:g}."
    )
    return lines


def _errors(found: Identification) -> list[str]:
    columns = (found.before, found.fitted, found.held_out, found.tested)
    header = ("joint", "description", "fit part", "cross-validated", "test part")
    rows = ((name, *(f"{column[i]:.3g}" for column in columns)) for i, name in enumerate(found.model.joint_names))
    return [
        "## Error of the effort",
        "",
        "Root mean square of measured less modelled effort, N m or N; the description is taken without friction.",
        "",
        *table(header, rows),
    ]


def _doubts(found: Identification) -> list[str]:
    lines = [
        f"- {link}: no body can have what the description says; the nearest one that exists was taken instead."
        for link in found.mended
    ]
    if found.retraced > RETRACED:
        lines.append(
            f"- {100 * found.retraced:.0f} % of the test part goes through what the fit part went through: its error "
            "says little about other motions."
        )
    for name, fit, test in zip(found.model.joint_names, found.fitted, found.tested):
        if test > UNLIKE * fit:
            lines.append(f"- {name}: its error in the test part is {test / fit:.1f} times that in the fit part.")
    untold = [each.name.split(" ")[0] for each in found.base if not each.told]
    if untold:
        lines.append(f"- The data do not tell from zero: {', '.join(untold)} (and what is added to them).")
    return ["## Doubts", "", *(lines or ["- none"])]


def _friction(found: Identification) -> list[str]:
    header = (
        "joint",
        "viscous",
        "Coulomb",
        "static",
        "load",
        "offset",
        "presliding",
        "armature",
        "transition velocity",
    )
    dynamics = ((joint.name, joint.dynamics) for joint in found.model.joints)
    lines = table(header, ((name, *_numbers(each)) for name, each in dynamics))
    rows = ((name, *_estimate(each)) for name, estimates in found.joints.items() for each in estimates)
    return [*lines, "", *table(("joint", "parameter", "value", "standard error"), rows)]


def _numbers(dynamics: JointDynamics) -> list[str]:
    elements = ", ".join(f"{effort:.3g} from {distance:g}" for distance, effort in dynamics.presliding)
    static = "" if dynamics.static is None else f"{dynamics.static:.3g} below {dynamics.stribeck_velocity:g}"
    plain = [f"{dynamics.viscous:.3g}", f"{dynamics.coulomb:.3g}", static, f"{dynamics.load:.3g}"]
    rest = [f"{dynamics.offset:.3g}", elements, f"{dynamics.armature:.3g}", f"{dynamics.transition_velocity:g}"]
    return plain + rest


def _bodies(found: Identification) -> list[str]:
    rows = []
    for link, body in zip(found.model.child_links, found.model.inertia):
        principal = np.linalg.eigvalsh(body.I_com)
        rows.append((link, f"{float(body.mass):.4g}", _vector(body.com), _vector(principal)))
    return table(("link", "mass, kg", "centre of mass, m", "principal moments, kg m^2"), rows)


def _estimate(each: Estimate) -> tuple[str, str, str]:
    return each.name, f"{each.value:.4g}", f"{each.error:.2g}"


def _vector(values: Iterable[float]) -> str:
    return " ".join(f"{value:.4g}" for value in values)


def _cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))
