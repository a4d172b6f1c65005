"""A report on a recorded motion as a PDF: the tables, and a page for each joint."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ros2_dyn.errors import InputError
from ros2_dyn.report.curves import Curve, contact_curves, effort_curves
from ros2_dyn.report.effort_report import EffortReport
from ros2_dyn.report.tables import Table, contact_tables, effort_tables
from ros2_dyn.report.text import Heading, contact_notes, notes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

A4 = (11.69, 8.27)
"""Width and height of a page, inches."""
MARGIN = 0.04
"""Empty share of a page at each side."""


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
    figure = _page()
    figure.suptitle(title, fontsize=12, x=MARGIN, ha="left", parse_math=False)
    lines = [len(table.rows) + 4 for table in tables]
    places = figure.subplots(len(tables) + 1, 1, height_ratios=[*lines, text.count("\n") + 3], squeeze=False)[:, 0]
    for axes, table in zip(places, tables):
        axes.axis("off")
        axes.set_title(table.title, fontsize=11, loc="left")
        drawn = axes.table(
            [list(row) for row in table.rows], colLabels=table.header, loc="upper center", edges="horizontal"
        )
        drawn.auto_set_font_size(False)
        for (_, column), cell in drawn.get_celld().items():
            cell.get_text().set(parse_math=False, fontsize=9, ha="left" if column == 0 else "right")
    places[-1].axis("off")
    places[-1].text(0, 1, text, fontsize=8, va="top", parse_math=False)
    return figure


def _joint(report: EffortReport, joint: int) -> Figure:
    """Return the page of a joint: its efforts above, contacts below."""
    figure = _page()
    figure.suptitle(report.model.joint_names[joint], fontsize=12, x=MARGIN, ha="left", parse_math=False)
    efforts, contacts = figure.subplots(2, 1, sharex=True, height_ratios=[3, 2])
    _draw(efforts, effort_curves(report, joint))
    efforts.axvspan(report.t[0], report.t[report.judged][0], color="0.95", zorder=0)
    efforts.set_title("effort; what is grey is not judged", fontsize=9, loc="left")
    _draw(contacts, (curve for curve in contact_curves(report, joint) if curve.shown))
    contacts.set_title("external effort and thresholds", fontsize=9, loc="left")
    contacts.set_xlabel("s")
    for axes in (efforts, contacts):
        axes.set_ylabel(report.units[joint])
    return figure


def _draw(axes: Axes, curves: Iterable[Curve]) -> None:
    for curve in curves:
        style = {"solid": "-", "dash": "--", "dot": ":"}[curve.dash]
        axes.plot(curve.t, curve.values, style, color=curve.colour, linewidth=0.6 * curve.width, label=curve.label)
    if axes.lines:
        axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))
    axes.grid(color="0.9", linewidth=0.5)


def _page() -> Figure:
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    figure = Figure(figsize=A4, layout=ConstrainedLayoutEngine(rect=(MARGIN, MARGIN, 1 - 2 * MARGIN, 1 - 2 * MARGIN)))
    return figure
