# SPDX-License-Identifier: Apache-2.0
"""Write the phases of commands into the documentation: the tables of docs/safety.md, and docs/modes.dot.

python scripts/stop_table.py && make diagrams
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap

from ros2_dyn.control.modes import MODES
from ros2_dyn.control.stop.phases import PHASES, TRANSITIONS, Phase

DOCS = Path(__file__).parents[1] / "docs"
BEGIN, END = "<!-- phases, by scripts/stop_table.py -->\n", "<!-- end of phases -->\n"
COLOURS: dict[Phase, str] = {
    "silent": "#f1f3f5",
    "active": "#d9f2e3",
    "leaving": "#fff3cd",
    "ending": "#fff3cd",
    "failed": "#f8d0d0",
    "released": "#f8d0d0",
}
HEAD = """// The phases of commands, by scripts/stop_table.py. `make diagrams` draws modes.svg from this file.
digraph modes {
  graph [rankdir=TB, nodesep=0.7, ranksep=0.7, fontname="Helvetica", pad=0.2, bgcolor=white];
  node [shape=box, style="rounded,filled", fontname="Helvetica", fontsize=12, color="#52606d"];
  edge [fontname="Helvetica", fontsize=10, color="#52606d", fontcolor="#1f2933"];

  start [shape=point, width=0.15];
"""


def tables() -> str:
    """Return the two tables of docs/safety.md."""
    return "\n".join([BEGIN, *_phases(), "", *_transitions(), "", END])


def _phases() -> Iterator[str]:
    yield "| phase | mode shown | commanded | commanded without states |"
    yield "| --- | --- | --- | --- |"
    for name, about in PHASES.items():
        mode = "the active one" if about.mode is None else f"`{about.mode}`"
        yield f"| `{name}` | {mode} | {about.commanded} | {about.without_states or 'nothing'} |"


def _transitions() -> Iterator[str]:
    yield "| from | to | when |"
    yield "| --- | --- | --- |"
    for each in TRANSITIONS:
        yield f"| `{each.before}` | `{each.after}` | {each.when} |"
    yield "| any | `silent` | nobody listens, the failsafe process has taken over, or a stop with `none` |"


def drawing() -> str:
    """Return the source of the drawing. What each phase has in common is said in its caption."""
    return "".join([HEAD, *_nodes(), "\n  start -> silent;\n", *_edges(), "}\n"])


def _nodes() -> Iterator[str]:
    for name, about in PHASES.items():
        lines = [name, *(MODES if about.mode is None else [f"mode {about.mode}"])]
        yield f'  {name} [label="{_escaped(lines)}", fillcolor="{COLOURS.get(name, "#fde2c8")}"];\n'


def _edges() -> Iterator[str]:
    for each in TRANSITIONS:
        if each.signal in ("left", "entered") and each.before not in ("silent", "active"):
            continue
        yield f'  {each.before} -> {each.after} [label="  {_escaped(wrap(each.when, 28))}  "];\n'


def _escaped(lines: list[str]) -> str:
    return "\\n".join(lines).replace("`", "")


def main() -> None:
    """Write both."""
    (DOCS / "modes.dot").write_text(drawing())
    page = (DOCS / "safety.md").read_text()
    before, after = page.split(BEGIN)[0], page.split(END)[1]
    (DOCS / "safety.md").write_text(before + tables() + after)


if __name__ == "__main__":
    main()
