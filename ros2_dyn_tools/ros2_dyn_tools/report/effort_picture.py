# SPDX-License-Identifier: Apache-2.0
"""A picture of measured efforts beside those of two models of one arm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from ros2_dyn.errors import InputError
from ros2_dyn.model.spatial import Array

COLUMNS = 2
"""Joints beside each other."""
WIDTH, ROW_HEIGHT, MARGIN = 10.0, 2.1, 1.0
"""Width, height of a row of joints, and height of title and legend, inches."""
DPI = 110
MEASURED_COLOUR, COLOURS = "0.72", ("#d1495b", "#00507a")
"""Of the measured effort, and of the models in their order."""


def draw_efforts(
    path: Path, title: str, joint_names: Sequence[str], t: Array, measured: Array, models: Mapping[str, Array]
) -> None:
    """Write a PNG with a plot for each joint.

    Args:
        path: of the PNG.
        title: one line above.
        joint_names: the joints, n of them.
        t: times, s, shape (m,).
        measured: measured efforts, N m, shape (m, n).
        models: by their names, the efforts of two models, N m, shape (m, n), the worse one first.

    Raises:
        InputError: Matplotlib is not installed, or the file cannot be written.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise InputError("output", "Matplotlib, which draws it, is not installed: pip install matplotlib") from error
    rows = -(-len(joint_names) // COLUMNS)
    figure = Figure(figsize=(WIDTH, ROW_HEIGHT * rows + MARGIN), dpi=DPI, layout="constrained")
    places = figure.subplots(rows, COLUMNS, sharex=True, squeeze=False).ravel()
    for i, (name, axes) in enumerate(zip(joint_names, places)):
        axes.plot(t, measured[:, i], color=MEASURED_COLOUR, linewidth=3.0, label="measured")
        for (model, efforts), colour in zip(models.items(), COLOURS):
            axes.plot(t, efforts[:, i], color=colour, linewidth=1.1, label=model)
        errors = [np.sqrt(np.mean(np.square(measured[:, i] - efforts[:, i]))) for efforts in models.values()]
        axes.set_title(name, fontsize=11, loc="left", parse_math=False)
        axes.set_title("rms error " + " → ".join(f"{error:.2f}" for error in errors) + " N m", fontsize=10, loc="right")
        axes.grid(color="0.92", linewidth=0.6)
        axes.margins(x=0)
        axes.tick_params(labelsize=9)
        axes.spines[["top", "right"]].set_visible(False)
    for axes in places[len(joint_names) :]:
        axes.axis("off")
    for axes in places[len(joint_names) - COLUMNS : len(joint_names)]:
        axes.set_xlabel("time, s", fontsize=10)
    figure.supylabel("effort, N m", fontsize=11)
    figure.suptitle(title, fontsize=14, parse_math=False)
    handles, labels = places[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncol=len(labels), fontsize=11, frameon=False)
    try:
        figure.savefig(path)
    except OSError as error:
        raise InputError("output", f"'{path}' cannot be written: {error}") from error
