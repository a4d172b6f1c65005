# SPDX-License-Identifier: Apache-2.0
"""The tables of a report on a recorded motion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.report.contact_report import CollisionReport
from ros2_dyn_tools.report.effort_report import DESCRIBED, IDENTIFIED, LABELS, EffortReport


class Table(NamedTuple):
    """Numbers as text, a row for each joint."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def effort_tables(report: EffortReport) -> tuple[Table, Table]:
    """Return the RMS of what the robot leaves of the effort as described and as identified, and that of each part."""
    split = report.identified
    measured = report.rms(split.measured)
    errors = {DESCRIBED: report.rms(report.described.rest), IDENTIFIED: report.rms(split.rest)}
    unexplained = {"unexplained, %": 100 * report.rms(split.rest) / np.where(measured > 0, measured, np.nan)}
    parts = {LABELS[part]: report.rms(getattr(split, part)) for part in report.parts}
    return (
        _table(report, "RMS of the effort, and of each error", {"measured": measured} | errors | unexplained),
        _table(report, f"RMS of the parts of the effort, {IDENTIFIED}", parts | {"rest": report.rms(split.rest)}),
    )


def contact_table(report: EffortReport, contact: CollisionReport) -> Table:
    """Return the thresholds, and the smallest step that is detected."""
    columns = {"threshold": contact.thresholds, "smallest step that is always detected": contact.smallest}
    return _table(report, "External effort", {name: np.array(values) for name, values in columns.items()})


def _table(report: EffortReport, title: str, columns: Mapping[str, Array]) -> Table:
    """Return a table; the unit is in the title where all joints have the same."""
    names, units = report.model.joint_names, report.units
    numbers = [[number(x) for x in column] for column in columns.values()]
    if len(set(units)) == 1:
        return Table(f"{title}, {units[0]}", ("joint", *columns), tuple(zip(names, *numbers)))
    return Table(title, ("joint", "unit", *columns), tuple(zip(names, units, *numbers)))


def number(value: float) -> str:
    """Return a number with some three digits and without an exponent."""
    if not np.isfinite(value):
        return "none"
    rounded = float(f"{value:.3g}")
    digits = 0 if abs(rounded) >= 100 else 1 if abs(rounded) >= 10 else 2 if abs(rounded) >= 1 else 3
    return f"{rounded:.{digits}f}"
