"""Tables with bars, which fit into 80 columns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

WIDTH = 28
"""Of a bar that is full."""


class Row(NamedTuple):
    """A quantity, where it is to be seen."""

    quantity: str
    value: str
    share: float | None = None
    """How full the bar is, 0 to 1; None: there is none."""


def picture(title: str, rows: Iterable[Row], now: str) -> Group:
    """A table, and what happens now."""
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1), show_header=False)
    for justify, width in (("left", 23), ("right", 13), ("left", WIDTH)):
        table.add_column(justify=justify, min_width=width, no_wrap=True)  # type: ignore[arg-type]
    for row in rows:
        table.add_row(row.quantity, row.value, bar(row.share))
    return Group(table, Text(f" {now}"))


def bar(share: float | None) -> str:
    """As long as a share of its width."""
    return "" if share is None else "█" * round(WIDTH * min(max(share, 0.0), 1.0)) or "▏"
