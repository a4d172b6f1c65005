# SPDX-License-Identifier: Apache-2.0
"""Reports as HTML pages, one file each, that need no network. A browser prints them, or makes a PDF of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from ros2_dyn.errors import InputError
from ros2_dyn_tools.report.curves import Curve, contact_curves, effort_curves
from ros2_dyn_tools.report.effort_report import EffortReport
from ros2_dyn_tools.report.tables import Table, contact_table, effort_tables
from ros2_dyn_tools.report.text import CONTACT, PARTS, Heading, contact_note, notes

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; max-width: 1200px; margin: 0 auto;
  padding: 1rem; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0.5rem 0; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 0.5rem; }
h3 { font-size: 1rem; margin: 1.5rem 0 0; overflow-wrap: anywhere; }
p { max-width: 46rem; }
.facts, .notes { color: #555; }
.table { overflow-x: auto; margin: 0 0 1.5rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
.caption { font-weight: 600; margin: 0.5rem 0; }
th, td { padding: 0.3rem 0.7rem; text-align: right; border-bottom: 1px solid #ddd; }
th:first-child, td:first-child { text-align: left; position: sticky; left: 0; background: #fff; }
td { white-space: nowrap; }
tbody th { font-weight: 400; min-width: 6.5rem; max-width: 14rem; overflow-wrap: anywhere; }
@media (max-width: 600px) { body { padding: 0.75rem; } th, td { padding: 0.3rem 0.4rem; font-size: 0.85rem; }
}
"""


def write_page(report: EffortReport, heading: Heading, path: Path) -> None:
    """Write the page of a report on efforts; errors as of `write_plots`."""
    _write(path, heading, _parts(report))


def write_plots(heading: Heading, plots: Mapping[str, tuple[str, Iterable[Curve]]], path: Path) -> None:
    """Write a page with a plot of unit and curves for each joint.

    Raises:
        InputError: Plotly is not installed.
        OSError: the file cannot be written.
    """
    joints = enumerate(plots.items())
    parts = (_plot(f"joint-{i}", name, unit, curves, height=280) for i, (name, (unit, curves)) in joints)
    _write(path, heading, parts)


def _write(path: Path, heading: Heading, parts: Iterable[str]) -> None:
    try:
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise InputError("output", "Plotly, which draws the page, is not installed: pip install plotly") from error
    title = escape(heading.title)
    # A finger that scrolls past a plot does not zoom it.
    touch = """if (matchMedia("(pointer: coarse)").matches)
  for (const plot of document.querySelectorAll(".plotly-graph-div")) Plotly.relayout(plot, {dragmode: false});"""
    lines = [
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{title}</title><style>{STYLE}</style><script>{get_plotlyjs()}</script></head><body>",
        f'<h1>{title}</h1><p class="facts">{escape(heading.facts)}</p>',
        *parts,
        f"<script>{touch}</script></body></html>",
    ]
    path.write_text("\n".join(lines), encoding="utf-8")


def _parts(report: EffortReport) -> Iterator[str]:
    yield from map(table_element, effort_tables(report))
    yield from (f'<p class="notes">{escape(note)}</p>' for note in notes(report))
    yield f"<h2>Effort of each joint</h2><p>{escape(PARTS)}</p>"
    unjudged = report.t[0], report.t[int(np.argmax(report.judged))]
    for i, name in enumerate(report.model.joint_names):
        yield _plot(f"effort-{i}", name, report.units[i], effort_curves(report, i), height=380, shaded=unjudged)
    yield f"<h2>Contact</h2><p>{escape(CONTACT)}</p>"
    yield f"<p>{escape(contact_note(report))}</p>"
    if report.contact is not None:
        yield table_element(contact_table(report, report.contact))
        for i, name in enumerate(report.model.joint_names):
            yield _plot(f"contact-{i}", name, report.units[i], contact_curves(report, i), height=280)


def table_element(table: Table) -> str:
    """Return the elements of a table."""
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in table.header)
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th>{"".join(f"<td>{escape(cell)}</td>" for cell in cells)}</tr>'
        for name, *cells in table.rows
    )
    title = escape(table.title)
    caption = f'<p class="caption">{title}</p>'  # beside the box, for it must not scroll with a wide table
    body = f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody>"
    return f'{caption}<div class="table"><table aria-label="{title}">{body}</table></div>'


def _plot(
    name: str, title: str, unit: str, curves: Iterable[Curve], *, height: int, shaded: tuple[float, float] | None = None
) -> str:
    """Return the elements of one plot; a span of time is shaded, s."""
    import plotly.graph_objects as go

    figure = go.Figure(layout=_layout(unit, height))
    for curve in curves:
        line = {"color": curve.colour, "width": curve.width, "dash": curve.dash}
        # In single precision, since a page holds each number as text.
        t, values = curve.t.astype(np.float32), curve.values.astype(np.float32)
        shown = True if curve.shown else "legendonly"
        figure.add_scatter(x=t, y=values, name=curve.label, mode="lines", line=line, visible=shown)
    if shaded is not None:
        figure.add_vrect(*shaded, fillcolor="#000", opacity=0.05, line_width=0, layer="below")
    config = {
        "responsive": True,
        "displaylogo": False,
        "showSendToCloud": False,
        "modeBarButtonsToRemove": ["select2d", "lasso2d", "zoomIn2d", "zoomOut2d"],
    }
    options = {"full_html": False, "include_plotlyjs": False, "div_id": name, "default_height": f"{height}px"}
    return f"<h3>{escape(title)}</h3>" + figure.to_html(config, **options)


def _layout(unit: str, height: int) -> dict[str, Any]:
    grid = {"gridcolor": "#e5e5e5", "zerolinecolor": "#bbb"}
    return {
        "template": "none",
        "height": height,
        "margin": {"l": 60, "r": 10, "t": 30, "b": 40},
        "font": {"family": "system-ui, sans-serif", "size": 13},
        "hovermode": "x unified",
        "xaxis": grid | {"ticksuffix": " s"},
        "yaxis": grid | {"title": {"text": unit}},
        "legend": {"orientation": "h", "x": 0, "y": -0.12, "yanchor": "top"},
    }
