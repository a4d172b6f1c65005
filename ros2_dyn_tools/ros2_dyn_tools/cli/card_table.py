# SPDX-License-Identifier: Apache-2.0
"""A robot card as tables."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ros2_dyn.model import RobotCard
from ros2_dyn.model.card_text import plain_dynamics
from ros2_dyn.model.effort_filter import NO_FILTER
from ros2_dyn.model.inertial import Inertial

UNITS = {
    "viscous": "N m s/rad",
    "coulomb": "N m",
    "static": "N m",
    "stribeck_velocity": "rad/s",
    "transition_velocity": "rad/s",
    "stiffness": "N m/rad",
    "rest": "rad",
    "offset": "N m",
    "armature": "kg m^2",
}
"""Unit of each number of a revolute joint."""


def show(card: RobotCard, console: Console) -> None:
    """Print where a card is from, and its numbers, with the spread where there is one."""
    about = card.about
    told = {
        "serial": about.serial,
        "date": about.date,
        "method": about.method,
        "temperature": "" if about.temperature is None else f"{about.temperature:g} degrees Celsius",
        "recordings": ", ".join(digest[:12] for digest in about.data),
        "identifications": str(about.identifications),
        "gravity": "" if card.gravity is None else f"{list(card.gravity)} m/s^2",
        "effort filter": "" if card.effort_filter == NO_FILTER else str(card.effort_filter),
        "URDF": card.urdf,
        "licence": about.licence,
        "ros2_dyn": about.ros2_dyn,
    }
    console.print(f"[bold]{escape(card.robot)}[/]")
    for name, text in told.items():
        if text:
            console.print(f"  {name}: {escape(text)}", soft_wrap=True)
    console.print(_joints(card), _links(card))


def _joints(card: RobotCard) -> Table:
    """Return a row for each joint, and a column for each number that some joint has."""
    plain = {joint: plain_dynamics(dynamics) for joint, dynamics in card.joints.items()}
    used = {name for numbers in plain.values() for name in numbers}
    columns = [name for name in (*UNITS, "load") if name in used]
    spread: Mapping[str, Mapping[str, float]] = {} if card.spread is None else card.spread.joints
    table = Table("joint", title="joints")
    for name in columns:
        table.add_column(f"{name}\n{UNITS.get(name, '1')}", justify="right")
    extra = {"presliding": "presliding" in used, "gain": bool(card.effort_gain), "rms": bool(card.about.held_out_rms)}
    if extra["presliding"]:
        table.add_column("presliding\nelements", justify="right")
    if extra["gain"]:
        table.add_column("effort\ngain", justify="right")
    if extra["rms"]:
        table.add_column("held-out\nRMS, N m", justify="right")
    for joint, dynamics in card.joints.items():
        deviations = spread.get(joint, {})
        row = [_number(getattr(dynamics, name), deviations.get(name)) for name in columns]
        row += [str(len(dynamics.presliding))] * extra["presliding"]
        row += [_number(card.effort_gain.get(joint, 1.0))] * extra["gain"]
        row += [_number(card.about.held_out_rms.get(joint))] * extra["rms"]
        table.add_row(escape(joint), *row)
    return table


def _links(card: RobotCard) -> Table:
    table = Table("link", title="links")
    for column in ("mass\nkg", "centre of mass\nm", "ixx iyy izz\nkg m^2"):
        table.add_column(column, justify="right")
    for link, inertial in card.links.items():
        deviation = None if card.spread is None else card.spread.links.get(link)
        if inertial != Inertial():
            moments = " ".join(f"{inertial.inertia[k]:.3g}" for k in (0, 3, 5))
            com = " ".join(f"{x:.4f}" for x in inertial.com)
            table.add_row(escape(link), _number(inertial.mass, deviation and deviation.mass), com, moments)
    return table


def _number(x: float | None, deviation: float | None = None) -> str:
    if x is None:
        return ""
    return f"{x:.4g}" if not deviation else f"{x:.4g} ± {deviation:.2g}"
