# SPDX-License-Identifier: Apache-2.0
"""The command `replay`, and `campaign --replay`, which writes what it reads: lines, exit status, one-line errors."""

import io
import json
from contextlib import redirect_stdout
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

pytest.importorskip("mcap", reason="mcap is not installed")
pytest.importorskip("matplotlib", reason="matplotlib is not installed")

from ros2_dyn.cli.main import main
from ros2_dyn.runtime import black_box_file
from ros2_dyn.runtime.input_records import write_record
from ros2_dyn_tools.recording import black_box_reader
from ros2_dyn_tools.recording.black_box_reader import read_record
from short_worlds import shorten_worlds

FAMILY, SEED, FAULTS = "payload", 2, 2


class ReplayedWorld(NamedTuple):
    """What the command printed of a world of the campaign, and its folder with a drawing and two black boxes."""

    lines: list[str]
    folder: Path


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> ReplayedWorld:
    """A world that is played once; its second box ends with the first command."""
    folder, printed = tmp_path_factory.mktemp("world"), io.StringIO()
    options = ["--family", FAMILY, "--output", str(folder / "world.png"), "--box", str(folder / "box.mcap")]
    with redirect_stdout(printed), pytest.MonkeyPatch.context() as patch:
        shorten_worlds(patch, FAULTS)
        assert main(["campaign", "--replay", str(SEED), *options]) == 0
    recording, _ = black_box_reader.read(folder / "box.mcap")
    first = next(i for i, record in enumerate(recording.records) if read_record(record)[1].effort is not None)
    black_box_file.write(recording._replace(records=recording.records[: first + 1]), folder / "short.mcap")
    return ReplayedWorld(printed.getvalue().splitlines(), folder)


def test_replay_of_a_world_prints_the_timeline_and_draws_it(world):
    result = json.loads(world.lines[-1])
    assert (result["family"], result["seed"]) == (FAMILY, SEED)
    assert sum(": " in line and "fault begins" in line for line in world.lines) == FAULTS
    assert any(" command: " in line for line in world.lines)
    assert (world.folder / "world.png").read_bytes().startswith(b"\x89PNG")


def test_replay_of_a_campaigns_box_lists_decisions_and_finds_them_the_same(world, capsys):
    assert main(["replay", str(world.folder / "box.mcap")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "the world ends" in lines[0]
    assert any("mode " in line and "commanding" in line for line in lines)
    assert lines[-1].startswith("the same decisions: ")
    assert lines[-1].endswith(" commands bit for bit")


def test_replay_that_differs_says_where_and_fails(world, capsys, tmp_path):
    recording, _ = black_box_reader.read(world.folder / "short.mcap")
    *records, record = recording.records
    given, decision = read_record(record)
    other = decision._replace(effort=tuple(np.add(decision.effort, 0.25)))
    records.append(write_record(given, record.now, other))
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


def test_recording_by_other_versions_says_so(world, capsys, monkeypatch):
    monkeypatch.setattr(black_box_file.np, "__version__", "0.1")
    assert main(["replay", str(world.folder / "short.mcap")]) == 0
    assert "here 0.1" in capsys.readouterr().out
