# SPDX-License-Identifier: Apache-2.0
"""Tables with bars, which fit into 80 columns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

BAR_WIDTH = 28
"""Width of a full bar, characters."""


class Row(NamedTuple):
    """A quantity and its value."""

    quantity: str
    value: str
    fraction: float | None = None
    """Length of the bar, 0 to 1; None: no bar."""


def status_table(title: str, rows: Iterable[Row], status: str) -> Group:
    """Return a table with a line below that tells what is happening."""
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1), show_header=False)
    for justify, width in (("left", 23), ("right", 13), ("left", BAR_WIDTH)):
        table.add_column(justify=justify, min_width=width, no_wrap=True)  # type: ignore[arg-type]
    for row in rows:
        table.add_row(row.quantity, row.value, bar(row.fraction))
    return Group(table, Text(f" {status}"))


def bar(fraction: float | None) -> str:
    """Return a bar whose length is a fraction of `BAR_WIDTH`."""
    return "" if fraction is None else "█" * round(BAR_WIDTH * min(max(fraction, 0.0), 1.0)) or "▏"
