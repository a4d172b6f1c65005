# SPDX-License-Identifier: Apache-2.0
"""The drawing of a world that has been played."""

from __future__ import annotations

from itertools import cycle, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from ros2_dyn.control.modes import MODES, STOPPED
from ros2_dyn_tools.campaign.record import Record
from ros2_dyn_tools.campaign.runner import Played

MODE_COLORS = ("tab:blue", "tab:purple", "tab:green", "tab:cyan", "tab:olive", "tab:brown", "tab:pink")
"""Colours of the modes in a drawing, in the order of their names; then from the beginning."""
STOPPED_COLOR = "tab:red"


def draw(played: Played, path: Path) -> None:
    """Draw commands, positions, speeds and contact force of a world, with modes, faults and broken promises."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    record, world = played.record, played.world
    motion, commands, declared = record.motion, record.commands, record.declared
    figure, axes = plt.subplots(4, 1, sharex=True, figsize=(14, 11), layout="constrained")
    for i, name in enumerate(declared.joint_names):
        share = commands.effort[:, i] / declared.effort_limit[i]
        axes[0].plot(commands.t, share, ".", markersize=2, label=name)
        axes[1].plot(motion.t, motion.q[:, i], linewidth=0.8, label=name)
    speed = (np.abs(motion.qd) / declared.velocity_limit).max(axis=1)
    axes[2].plot(motion.t, speed, linewidth=0.8, label="joint speed / limit")
    axes[2].plot(motion.t, motion.tip_speed, linewidth=0.8, label="tip speed, m/s")
    axes[3].plot(motion.t, motion.contact_force, linewidth=0.8, label="contact force, N")
    for axis, label in zip(axes, ("command / limit", "position, rad or m", "motion", "contact force, N")):
        axis.set_ylabel(label)
        axis.legend(fontsize=6, loc="upper right", ncol=len(declared.joint_names))
        _draw_spans(axis, played)
    _draw_faults(axes[3], record)
    axes[-1].set_xlabel("s")
    figure.suptitle(f"world {world.seed}: {world.arm_model.name}")
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _draw_spans(axis: Any, played: Played) -> None:
    colors = dict(zip(MODES, cycle(MODE_COLORS))) | {STOPPED: STOPPED_COLOR}
    modes = [(e.t, e.details[0]) for e in played.record.events if e.kind == "mode"]
    for (start, mode), (end, _) in pairwise([*modes, (played.world.now, "")]):
        if mode in colors:
            axis.axvspan(start, end, color=colors[mode], alpha=0.12, linewidth=0)
    for broken in played.broken:
        axis.axvline(broken.t, color="red", linewidth=1)
        axis.text(broken.t, axis.get_ylim()[0], broken.promise, fontsize=6, color="red", rotation=90)


def _draw_faults(axis: Any, record: Record) -> None:
    top = axis.get_ylim()[1]
    for number, (begin, _, kind) in enumerate(record.faults()):
        axis.axvline(begin, color="0.5", linewidth=0.6)
        axis.text(begin, top * (0.95 - 0.12 * (number % 6)), kind, fontsize=6)
