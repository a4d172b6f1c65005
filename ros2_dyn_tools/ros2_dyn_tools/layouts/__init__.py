# SPDX-License-Identifier: Apache-2.0
"""Configurations of RViz, Foxglove and PlotJuggler that show the node `dynamics` of any arm."""

from __future__ import annotations

from pathlib import Path

from ros2_dyn_tools.layouts.foxglove import foxglove_layout
from ros2_dyn_tools.layouts.plotjuggler import plotjuggler_layout
from ros2_dyn_tools.layouts.rviz import rviz_config
from ros2_dyn_tools.layouts.shown import Shown

__all__ = ["Shown", "foxglove_layout", "plotjuggler_layout", "rviz_config", "write_layouts"]

LAYOUTS = {"dynamics.rviz": rviz_config, "foxglove.json": foxglove_layout, "plotjuggler.xml": plotjuggler_layout}
"""What makes the text of each file."""


def write_layouts(shown: Shown, folder: Path) -> list[Path]:
    """Write the files of all tools, and return their paths; the folder is made."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / name for name in LAYOUTS]
    for path, make in zip(paths, LAYOUTS.values()):
        path.write_text(make(shown), encoding="utf-8")
    return paths
