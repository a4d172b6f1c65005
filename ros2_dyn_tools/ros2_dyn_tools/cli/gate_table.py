# SPDX-License-Identifier: Apache-2.0
"""The table of what a recording is good for, on a terminal."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ros2_dyn_tools.recording.gate import Check, rows


def show_gate(checks: Iterable[Check], console: Console, name: str) -> None:
    """Print what a recording of some name is good for."""
    table = Table("subject", "joints", "found", "record instead", title=f"Is {escape(name)} good enough?")
    for each, joints in rows(checks):
        colour = "green" if each.good else "yellow"
        table.add_row(f"[{colour}]{each.subject}[/]", *(escape(x) for x in (joints, each.told, each.instead)))
    console.print(table)
