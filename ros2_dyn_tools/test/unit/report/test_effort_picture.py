# SPDX-License-Identifier: Apache-2.0
"""A picture of measured and modelled efforts."""

import struct

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="matplotlib is not installed")

from matplotlib.figure import Figure

from ros2_dyn.errors import InputError
from ros2_dyn_tools.report.effort_picture import draw_efforts

T = np.linspace(0, 2, 50)
MEASURED = np.stack([np.sin(T), np.cos(T), T], axis=1)
MODELS = {"worse": MEASURED + np.array([3.0, 4.0, 5.0]), "better": MEASURED + 0.25}


def test_picture_has_a_plot_for_each_joint_with_all_efforts_and_their_errors(tmp_path, monkeypatch):
    drawn = []
    save = Figure.savefig
    monkeypatch.setattr(Figure, "savefig", lambda self, path: (drawn.append(self), save(self, path)))
    draw_efforts(tmp_path / "efforts.png", "Efforts", ["a", "b", "c"], T, MEASURED, MODELS)
    plots = [axes for axes in drawn[0].axes if axes.lines]
    assert [axes.get_title(loc="left") for axes in plots] == ["a", "b", "c"]
    assert [axes.get_title(loc="right") for axes in plots] == [f"rms error {e}.00 → 0.25 N m" for e in (3, 4, 5)]
    for i, axes in enumerate(plots):
        assert [line.get_label() for line in axes.lines] == ["measured", "worse", "better"]
        for line, efforts in zip(axes.lines, (MEASURED, *MODELS.values())):
            assert np.array_equal(line.get_ydata(), efforts[:, i])
    width, height = struct.unpack(">II", (tmp_path / "efforts.png").read_bytes()[16:24])
    assert 800 < width < 1400
    assert 400 < height < 800


def test_folder_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(InputError, match=r"none/efforts\.png"):
        draw_efforts(tmp_path / "none" / "efforts.png", "", ["a"], T, MEASURED, MODELS)
