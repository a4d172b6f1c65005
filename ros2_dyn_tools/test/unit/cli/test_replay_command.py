# SPDX-License-Identifier: Apache-2.0
"""The command `replay`: the decisions as lines, the verdict as exit status, and errors of one line."""

import numpy as np
import pytest

pytest.importorskip("mcap", reason="mcap is not installed")
pytest.importorskip("matplotlib", reason="matplotlib is not installed")

from ros2_dyn.cli.main import main
from ros2_dyn.runtime import black_box_file
from ros2_dyn.runtime.input_records import read_record, write_record


@pytest.fixture(scope="module")
def box(tmp_path_factory):
    """The black box of a node of the campaign."""
    folder = tmp_path_factory.mktemp("box")
    world = ["campaign", "--replay", "4", "--output", str(folder / "world.png"), "--box", str(folder / "box.mcap")]
    assert main(world) == 0
    return folder / "box.mcap"


def test_replay_of_a_campaigns_box_lists_decisions_and_finds_them_the_same(box, capsys):
    assert main(["replay", str(box)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "the world ends" in lines[0]
    assert any("mode " in line and "commanding" in line for line in lines)
    assert lines[-1].startswith("the same decisions: ")
    assert lines[-1].endswith(" commands bit for bit")


def test_replay_that_differs_says_where_and_fails(box, capsys, tmp_path):
    recording, _ = black_box_file.read(box)
    records = list(recording.records)
    index = next(i for i, record in enumerate(records) if read_record(record)[1].effort is not None)
    record = records[index]
    given, decision = read_record(record)
    other = decision._replace(effort=tuple(np.add(decision.effort, 0.25)))
    records[index] = write_record(given, record.now, other)
    black_box_file.write(recording._replace(records=tuple(records)), tmp_path / "other.mcap")
    assert main(["replay", str(tmp_path / "other.mcap")]) == 1
    printed = capsys.readouterr()
    assert "DIFFERS: command by 0.25 N m or N" in printed.out
    assert f"1 of {len(records)} decisions differ, the first at {record.now:.4f} s" in printed.err


@pytest.mark.parametrize("content", [b"", b"no MCAP at all"])
def test_broken_file_is_one_line(content, capsys, tmp_path):
    path = tmp_path / "broken.mcap"
    path.write_bytes(content)
    assert main(["replay", str(path)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"ros2_dyn: file: '{path}' cannot be read")


def test_recording_by_other_versions_says_so(box, capsys, monkeypatch):
    monkeypatch.setattr(black_box_file.np, "__version__", "0.1")
    assert main(["replay", str(box)]) == 0
    assert "here 0.1" in capsys.readouterr().out
