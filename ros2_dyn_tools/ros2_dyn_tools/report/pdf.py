# SPDX-License-Identifier: Apache-2.0
"""A report on a recorded motion as a PDF: the tables, and a page for each joint."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ros2_dyn.errors import InputError
from ros2_dyn_tools.report.curves import Curve, contact_curves, effort_curves
from ros2_dyn_tools.report.effort_report import EffortReport
from ros2_dyn_tools.report.tables import Table, contact_tables, effort_tables
from ros2_dyn_tools.report.text import Heading, contact_notes, notes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

A4 = (11.69, 8.27)
"""Width and height of a page, inches."""
MARGIN = 0.05
"""Empty share of a page at its sides."""


def write_pdf(report: EffortReport, heading: Heading, path: Path) -> None:
    """Write the PDF.

    Raises:
        InputError: Matplotlib is not installed, or the file cannot be written.
    """
    try:
        from matplotlib.backends.backend_pdf import PdfPages
    except ImportError as error:
        raise InputError("output", "Matplotlib, which draws it, is not installed: pip install matplotlib") from error
    try:
        with PdfPages(path, metadata={"Title": heading.title}) as pdf:
            for figure in figures(report, heading):
                pdf.savefig(figure)
    except OSError as error:
        raise InputError("output", f"'{path}' cannot be written: {error}") from error


def figures(report: EffortReport, heading: Heading) -> Iterator[Figure]:
    """Yield the pages: efforts in numbers, contacts in numbers, and the curves of each joint."""
    yield _tables(effort_tables(report), f"{heading.title}\n{heading.facts}", _lines(notes(report)))
    if contacts := contact_tables(report):
        yield _tables(contacts, "Contact", _lines(contact_notes(report)))
    for i in range(report.model.n):
        yield _joint(report, i)


def _lines(paragraphs: Iterable[str]) -> str:
    return "\n".join(textwrap.fill(paragraph, 150) for paragraph in paragraphs)


def _tables(tables: Sequence[Table], title: str, text: str) -> Figure:
    """Return a page of tables below each other, with text beneath."""
    figure = _page(title)
    heights = [*(len(table.rows) + 4 for table in tables), text.count("\n") + 3]
    sides = {"left": MARGIN, "right": 1 - MARGIN, "bottom": MARGIN, "top": 0.86}
    places = figure.subplots(len(heights), 1, height_ratios=heights, gridspec_kw=sides)
    for axes, table in zip(places, tables):
        axes.axis("off")
        axes.set_title(table.title, fontsize=11, loc="left")
        rows = [list(row) for row in table.rows]
        drawn = axes.table(rows, colLabels=table.header, loc="upper center", edges="horizontal")
        drawn.auto_set_font_size(False)
        for (_, column), cell in drawn.get_celld().items():
            cell.get_text().set(parse_math=False, fontsize=9, ha="right" if column else "left")
    places[-1].axis("off")
    places[-1].text(0, 1, text, fontsize=8, va="top", parse_math=False)
    return figure


def _joint(report: EffortReport, joint: int) -> Figure:
    """Return the page of a joint: its efforts, and below them contacts where there are thresholds."""
    figure = _page(report.model.joint_names[joint])
    plots = {f"effort; model: {report.best.name}; what is grey is not judged": list(effort_curves(report, joint))}
    if external := [curve for curve in contact_curves(report, joint) if curve.shown]:
        plots["external effort, and dashed its thresholds"] = external
    sides: dict[str, Any] = {"left": 0.08, "right": 0.8, "bottom": 0.07, "top": 0.9}
    sides |= {"height_ratios": (3, 2)[: len(plots)]}
    places = figure.subplots(len(plots), 1, sharex=True, squeeze=False, gridspec_kw=sides)
    for axes, (title, curves) in zip(places[:, 0], plots.items()):
        _draw(axes, curves)
        axes.set_title(title, fontsize=9, loc="left")
        axes.set_ylabel(report.units[joint])
    places[0, 0].axvspan(report.t[0], report.t[report.judged][0], color="0.95", zorder=0)
    places[-1, 0].set_xlabel("s")
    return figure


def _draw(axes: Axes, curves: Iterable[Curve]) -> None:
    labels: set[str] = set()
    for curve in curves:
        style = {"solid": "-", "dash": "--"}[curve.dash]
        label = "_nolegend_" if curve.label in labels else curve.label
        axes.plot(curve.t, curve.values, style, color=curve.colour, linewidth=0.6 * curve.width, label=label)
        labels.add(curve.label)
    axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))
    axes.grid(color="0.9", linewidth=0.5)


def _page(title: str) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=A4)
    figure.suptitle(title, fontsize=12, x=MARGIN, ha="left", parse_math=False)
    return figure
