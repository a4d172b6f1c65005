# SPDX-License-Identifier: Apache-2.0
"""The black box: a replay decides the same, what it holds is bounded, and a file made to do harm is an error."""

import gc
import json
import marshal
import pickle
from typing import Any

import numpy as np
import pytest

pytest.importorskip("mcap", reason="mcap is not installed")

from mcap.writer import CompressionType, Writer

from ros2_dyn.control.events import Event
from ros2_dyn.errors import InputError
from ros2_dyn.runtime import ArmRuntime, CommandLink, DesiredSample, black_box, black_box_file, run_work
from ros2_dyn.runtime.black_box import AFTERMATH, Recording, RecordingRuntime
from ros2_dyn.runtime.input_records import Answer, write_record
from ros2_dyn.runtime.inputs import ClockJump, SettingsChange
from ros2_dyn_tools.campaign.runner import play_world
from ros2_dyn_tools.recording import black_box_reader
from ros2_dyn_tools.recording.black_box_reader import read_record
from ros2_dyn_tools.recording.replay import replay
from runtime_rig import NAMES, SETTINGS, RuntimeRig, description
from tiers import FULL


class Arm(RuntimeRig):
    """A recorded runtime whose arm stays where it is."""

    make_runtime = RecordingRuntime

    def __init__(self) -> None:
        super().__init__(moves=False)
        self.targets = False

    @property
    def box(self) -> black_box.BlackBox:
        """What is recorded."""
        return self.runtime.box

    def play(self, seconds: float) -> None:
        """Let time pass with states, s."""
        self.step(round(seconds / self.period))


@pytest.fixture(scope="module")
def recording() -> Recording:
    """The last seconds of an arm in gravity that gets no states any more."""
    arm = Arm()
    arm.play(1.0)
    arm.enter("gravity")
    arm.play(2.0)
    arm.silence(1.5)
    found = arm.box.take_stop(arm.now)
    assert found is not None
    return found


@pytest.mark.parametrize("seed", range(1, 9 if FULL else 3))
def test_replay_of_a_world_with_faults_decides_the_same_to_the_last_bit(seed, tmp_path):
    """In all modes, with node restarts, other parameters and robots."""
    runtimes = []

    def make(model, settings):
        runtimes.append(RecordingRuntime(model, settings))
        return runtimes[-1]

    world = play_world(seed, 20 if FULL else 5, make_runtime=make, family="unpremised").world
    for number, runtime in enumerate(runtimes):
        taken = runtime.box.take("the world ends", world.now)
        assert taken is not None, runtime.box.problem
        black_box_file.write(taken, tmp_path / f"{number}.mcap")
        read, about = black_box_reader.read(tmp_path / f"{number}.mcap")
        assert about.reason == "the world ends"
        replayed = list(replay(read))
        assert [each.difference for each in replayed] == [0.0] * len(taken.records)
        assert all(each.same for each in replayed)


def test_recording_of_a_stop_is_due_once_some_time_after_it(recording):
    assert recording.reason.startswith("state stale")
    records = recording.records
    assert records[-1].now >= recording.taken_at + AFTERMATH
    assert records[0].now <= recording.taken_at - 2.0
    arm = Arm()
    arm.play(1.0)
    arm.enter("gravity")
    arm.play(1.0)
    assert arm.box.take_stop(arm.now) is None
    arm.runtime.step(ClockJump("by 2 s"), arm.now)
    assert arm.box.take_stop(arm.now) is None
    arm.play(AFTERMATH + arm.period)
    assert arm.box.take_stop(arm.now).reason.startswith("clock jumped")
    arm.play(2 * AFTERMATH)
    assert arm.box.take_stop(arm.now) is None


def test_collector_of_cycles_visits_no_records():
    """It would hold a node up for 20 ms, again and again."""

    def visited_after(make_runtime):
        arm = type("", (Arm,), {"make_runtime": make_runtime})()
        arm.play(0.5)
        arm.enter("gravity")
        gc.collect()
        before = len(gc.get_objects())
        arm.play(5.0)
        gc.collect()
        return len(gc.get_objects()) - before

    assert visited_after(RecordingRuntime) - visited_after(ArmRuntime) < 100


def test_mode_that_is_left_on_request_is_no_stop():
    arm = Arm()
    arm.play(0.5)
    arm.enter("gravity")
    arm.play(0.5)
    assert arm.set_mode("monitor").error is None
    arm.play(2.0)
    assert arm.runtime.mode == "monitor"
    assert arm.box.take_stop(arm.now) is None
    assert arm.box.take_rest(arm.now) is None


def test_process_that_ends_while_it_commands_is_recorded():
    arm = Arm()
    arm.play(0.5)
    assert arm.box.take_rest(arm.now) is None
    arm.enter("gravity")
    arm.play(0.5)
    taken = arm.box.take_rest(arm.now)
    assert taken.reason == "the process ends"
    assert all(each.same for each in replay(taken))


def test_record_that_begins_amid_a_run_is_bounded_and_replays_the_mode(monkeypatch, tmp_path):
    """The mode was entered before it begins, so the replay enters it by request."""
    monkeypatch.setattr(black_box, "SPAN", 4.0)
    arm = Arm()
    arm.play(1.0)
    arm.enter("gravity")
    arm.play(8.0)
    taken = arm.box.take("now", arm.now)
    assert taken.records[0].now >= arm.now - 4.0 - arm.period
    assert taken.begins.mode == "gravity"
    assert not taken.begins.whole
    black_box_file.write(taken, tmp_path / "box.mcap")
    replayed = list(replay(black_box_reader.read(tmp_path / "box.mcap")[0]))
    compared = [each for each in replayed if each.compared]
    assert {each.decision.mode for each in compared} == {"gravity"}
    assert len(compared) > 150
    assert all(each.same for each in compared)
    assert max(each.difference for each in compared if each.decision.effort) < 0.01


def test_record_that_begins_before_the_mode_decides_the_same_after_parameters_changed(monkeypatch):
    monkeypatch.setattr(black_box, "SPAN", 4.0)
    arm = Arm()
    arm.play(0.5)
    change = SettingsChange(SETTINGS.from_values({"robot.joints": NAMES, "commands.effort_scale": 0.9}))
    run_work(arm.runtime, arm.runtime.step(change, arm.now), arm.now)
    arm.play(4.0)
    arm.enter("gravity")
    arm.play(2.0)
    taken = arm.box.take("now", arm.now)
    assert taken.begins.settings != black_box.to_plain(SETTINGS)
    assert all(each.same for each in replay(taken))


def test_box_is_bounded_in_bytes(monkeypatch):
    monkeypatch.setattr(black_box, "MAX_BYTES", 60_000)
    arm = Arm()
    for _ in range(10):
        arm.play(0.5)
        taken = arm.box.take("now", arm.now)
        assert sum(len(record.given) + len(record.decision) for record in taken.records) <= 60_000
    arm.runtime.step(DesiredSample(0, ("x" * 100_000,), accelerations=(0.0,)), arm.now)
    assert arm.box.take("now", arm.now) is None
    arm.play(0.1)
    assert arm.box.take("now", arm.now) is not None


def test_what_cannot_be_recorded_ends_the_recording_and_not_the_mode():
    class Broken:
        def __str__(self):
            raise RuntimeError("broken")

    arm = Arm()
    arm.play(0.5)
    arm.enter("gravity")
    arm.runtime.step(CommandLink(topic=Broken()), arm.now)
    arm.play(0.5)
    assert arm.runtime.mode == "gravity"
    assert "an input cannot be recorded: RuntimeError: broken" in arm.box.problem
    assert arm.box.take("now", arm.now) is None


def test_numbers_that_are_not_finite_are_recorded_and_replayed():
    arm = Arm()
    arm.play(0.1)
    arm.runtime.step(arm.sample()._replace(position=[float("nan")] * 3, velocity=[float("-inf")] * 3), arm.now)
    replayed = list(replay(arm.box.take("now", arm.now)))
    assert np.isnan(replayed[-1].given.position).all()
    assert all(each.same for each in replayed)


def test_refusal_is_a_decision():
    arm = Arm()
    arm.play(0.2)
    arm.enter("gravity")
    arm.runtime.step(SettingsChange(SETTINGS.from_values({})), arm.now)
    replayed = list(replay(arm.box.take("now", arm.now)))
    assert "joints" in replayed[-1].decision.replies[0].error
    assert all(each.same for each in replayed)


def changed(recording: Recording, change) -> Recording:
    """Return a recording with another decision at the last command."""
    records = list(recording.records)
    read = [read_record(record) for record in records]
    index = max(i for i, (_, decision) in enumerate(read) if decision.effort is not None)
    given, decision = read[index]
    records[index] = write_record(given, records[index].now, change(decision))
    return recording._replace(records=tuple(records))


@pytest.mark.parametrize(
    "change",
    [
        lambda decision: decision._replace(mode="force"),
        lambda decision: decision._replace(events=(Event("slew limit", "of a joint"),)),
        lambda decision: decision._replace(effort=tuple(np.add(decision.effort, 1e-5))),
        lambda decision: decision._replace(effort=None),
        lambda decision: decision._replace(replies=(Answer("1", ""),)),
    ],
)
def test_replay_tells_another_decision(recording, change):
    assert sum(not each.same for each in replay(changed(recording, change))) == 1


def test_file_holds_json_in_order_of_time_with_parameters(recording, tmp_path):
    from mcap.reader import make_reader

    path = tmp_path / "box.mcap"
    black_box_file.write(recording, path, offset=1.7e9)
    assert [file.name for file in tmp_path.iterdir()] == ["box.mcap"]
    with path.open("rb") as file:
        messages = list(make_reader(file).iter_messages())
    topics = {channel.topic for _, channel, _ in messages}
    assert {"/begin", "/input/joint_state", "/input/time", "/decision", "/event"} <= topics
    times = [message.log_time for _, _, message in messages]
    assert times == sorted(times)
    assert abs(1e-9 * times[0] - 1.7e9 - recording.records[0].now) < 1e-3
    read = {topic: [json.loads(m.data) for _, channel, m in messages if channel.topic == topic] for topic in topics}
    assert set(read["/input/joint_state"][0]["given"]["names"]) == set(NAMES)
    assert any(len(decision["effort"] or ()) == 3 for decision in read["/decision"])
    assert any(event["kind"] == "state stale" for event in read["/event"])
    assert tuple(read["/begin"][0]["settings"]["robot.joints"]) == SETTINGS.robot.joints


def test_file_that_is_cut_off_or_changed_or_something_else_is_an_input_error(recording, tmp_path):
    path = tmp_path / "box.mcap"
    black_box_file.write(recording, path)
    whole = path.read_bytes()
    broken = [whole[:size] for size in (0, 5, 100, 1000, len(whole) // 2)]
    rng = np.random.default_rng(1)
    for _ in range(30):
        data = bytearray(whole)
        for place in rng.integers(8, len(data) - 8, 40):
            data[place] ^= 0xFF
        broken.append(bytes(data))
    for data in [*broken, b"text", b"\x89MCAP0\r\n" * 2]:
        path.write_bytes(data)
        try:
            found, _ = black_box_reader.read(path)
            list(replay(found))
        except InputError:
            pass
    with pytest.raises(InputError, match="cannot be read"):
        black_box_reader.read(tmp_path / "missing.mcap")


class Hostile:
    """What makes a file where it is unpickled without care."""

    def __reduce__(self):
        return open, ("hostile", "w")


def forge(path, messages, compression=CompressionType.NONE) -> None:
    """Write a file by hand: messages as topic, number and bytes."""
    with path.open("wb") as file:
        writer = Writer(file, compression=compression)
        writer.start(profile="", library="ros2_dyn")
        names = black_box_file.About._fields
        writer.add_metadata(black_box_file.METADATA, dict.fromkeys(names, "0.0"))
        schema = writer.register_schema("ros2_dyn/any", "jsonschema", b'{"type": "object"}')
        channels = {topic: writer.register_channel(topic, "json", schema) for topic, _, _ in messages}
        for topic, number, data in messages:
            writer.add_message(channels[topic], 0, data, 0, number)
        writer.add_attachment(0, 0, "replay", "application/zlib", pickle.dumps(Hostile()))
        writer.finish()


BEGIN = {"now": 0.0, "settings": black_box.to_plain(SETTINGS), "description": None, "mode": "monitor", "whole": True}
STATE = {"stamp": 1, "names": list(NAMES), "position": [0.0] * 3, "velocity": [], "effort": [], "received": 1}
ROBOT = black_box.to_plain(description())
ORPHAN = ROBOT | {"links": [*ROBOT["links"][:1], ROBOT["links"][1] | {"parent": "nobody"}]}
SHAPELESS = ROBOT | {"links": [ROBOT["links"][0] | {"X": {"E": [[1.0]], "r": []}}]}


def heavy(mass: float) -> dict[str, Any]:
    """Return the robot with a first link of another mass, in kg."""
    first, *others = ROBOT["links"]
    return ROBOT | {"links": [first | {"inertia": first["inertia"] | {"mass": mass, "h": [0.1, 0.0, 0.0]}}, *others]}


DECISION = {"mode": "monitor", "commands": False, "effort": None}


def dumped(**changes) -> list[tuple[str, int, bytes]]:
    """Return the messages of a file of one joint state, with some of its parts replaced."""
    parts = {"begin": BEGIN, "given": STATE, "now": 0.0, "decision": DECISION, "topic": "/input/joint_state"} | changes
    raw = {name: value if isinstance(value, bytes) else json.dumps(value).encode() for name, value in parts.items()}
    given = raw["given"]
    if not isinstance(changes.get("given"), bytes):
        given = b'{"now": %s, "given": %s}' % (raw["now"], given)
    return [("/begin", 0, raw["begin"]), (parts["topic"], 1, given), ("/decision", 1, raw["decision"])]


def test_forged_file_without_harm_is_read(tmp_path):
    forge(tmp_path / "box.mcap", dumped())
    recording, _ = black_box_reader.read(tmp_path / "box.mcap")
    assert [each.same for each in replay(recording)] == [True]
    assert not (tmp_path / "hostile").exists()


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"given": pickle.dumps(Hostile())}, "no JSON"),
        ({"begin": pickle.dumps(Hostile())}, "no JSON"),
        ({"decision": pickle.dumps(Hostile())}, "no JSON"),
        ({"decision": marshal.dumps(("monitor", False, None))}, "no JSON"),
        ({"decision": b"[1]"}, "expected an object"),
        ({"given": ["monitor"]}, "expected an object"),
        ({"given": b'{"now": NaN, "given": {}}'}, "NaN is no number of JSON"),
        ({"given": b"[" * 100_000}, "no JSON"),
        ({"now": "nan"}, "expected a finite number"),
        ({"now": "0.0; import os"}, "expected a number"),
        ({"given": STATE | {"position": [10**400] * 3}}, "expected a number"),
        ({"given": STATE | {"position": [0.0] * 20_000}}, "list of at most"),
        ({"given": STATE | {"names": [["a"]] * 3}}, "expected str"),
        ({"given": STATE | {"names": {"__class__": "os.system"}}}, "expected a list"),
        ({"given": STATE | {"stamp": 2**200}}, "expected int"),
        ({"given": STATE | {"stamp": True}}, "expected int"),
        ({"given": STATE | {"__class__": "pathlib.Path"}}, "there is no field '__class__'"),
        ({"given": {"stamp": 1}}, "it has no field 'names'"),
        ({"topic": "/input/__init__"}, "there is no input '__init__'"),
        ({"topic": "/input/../../etc/passwd"}, "there is no input"),
        ({"topic": "/input/work_done", "given": {"number": "os"}}, "expected int"),
        ({"topic": "/input/description", "given": {"description": "/etc/passwd"}}, None),
        (
            {"topic": "/input/description", "given": {"description": {"name": "a", "links": [], "findings": []}}},
            "there is none",
        ),
        ({"topic": "/input/description", "given": {"description": ORPHAN}}, "no parent before it"),
        ({"topic": "/input/description", "given": {"description": SHAPELESS}}, "arrays of other shapes"),
        ({"topic": "/input/description", "given": {"description": heavy(1e308)}}, "numbers of at most"),
        ({"topic": "/input/description", "given": {"description": heavy(1e-320)}}, "its mass is 1e-320 kg, too small"),
        ({"decision": DECISION | {"effort": "0.0"}}, "expected a list"),
        ({"begin": BEGIN | {"mode": ["monitor"]}}, "expected str"),
        ({"begin": BEGIN | {"settings": {"nose": ["a"]}}}, "there is no such parameter"),
        ({"begin": BEGIN | {"settings": {"robot.joints": 3}}}, "none that its parameter may have"),
        ({"begin": BEGIN | {"settings": {"robot.joints": [3]}}}, "robot.joints"),
        ({"begin": BEGIN | {"settings": {"commands.ramp_time": 10**400}}}, "none that its parameter may have"),
        ({"begin": BEGIN | {"settings": {"friction.viscous": [10**400]}}}, "none that its parameter may have"),
        ({"begin": BEGIN | {"settings": {"robot.gravity": "abc"}}}, "robot.gravity"),
        ({"begin": BEGIN | {"settings": {"robot.gravity": [[0.0]] * 3}}}, "robot.gravity"),
        ({"begin": BEGIN | {"settings": [1]}}, "settings"),
        ({"begin": BEGIN | {"settings": BEGIN["settings"] | {"commands.ramp_time": "nan"}}}, "ramp_time"),
        ({"begin": BEGIN | {"settings": BEGIN["settings"] | {"outputs.black_box": 3}}}, "outputs.black_box"),
        ({"begin": BEGIN | {"description": "<robot"}}, "not well-formed"),
        ({"begin": {"now": 0.0}}, "expected an object with"),
    ],
)
def test_forged_file_is_refused_with_what_is_wrong(changes, problem, tmp_path, monkeypatch):
    """And nothing is opened, made or imported."""
    monkeypatch.chdir(tmp_path)
    forge(tmp_path / "box.mcap", dumped(**changes))
    if problem is None:
        assert len(list(replay(black_box_reader.read(tmp_path / "box.mcap")[0]))) == 1
    else:
        with pytest.raises(InputError, match=problem):
            list(replay(black_box_reader.read(tmp_path / "box.mcap")[0]))
    assert [file.name for file in tmp_path.iterdir()] == ["box.mcap"]


@pytest.mark.parametrize(
    ("messages", "problem"),
    [
        ([], "first message"),
        (dumped()[1:], "first message"),
        (dumped()[:2], "one input and one decision"),
        ([*dumped(), ("/decision", 1, b"{}")], "one input and one decision"),
        ([*dumped(), ("/other", 1, b"{}")], "one input and one decision"),
    ],
)
def test_forged_file_without_order_is_refused(messages, problem, tmp_path):
    forge(tmp_path / "box.mcap", messages)
    with pytest.raises(InputError, match=problem):
        black_box_reader.read(tmp_path / "box.mcap")


def test_compressed_file_is_refused_so_that_it_cannot_grow(tmp_path):
    bomb = dumped(given=STATE | {"names": ["a" * 10_000_000]})
    forge(tmp_path / "box.mcap", bomb, CompressionType.ZSTD)
    assert (tmp_path / "box.mcap").stat().st_size < 100_000
    with pytest.raises(InputError, match="compressed"):
        black_box_reader.read(tmp_path / "box.mcap")


def test_file_that_is_too_large_is_refused_unread(tmp_path, monkeypatch):
    forge(tmp_path / "box.mcap", dumped())
    monkeypatch.setattr(black_box_reader, "MAX_FILE", 100)
    with pytest.raises(InputError, match="larger than 100 bytes"):
        black_box_reader.read(tmp_path / "box.mcap")


def test_without_mcap_the_error_says_what_to_install(recording, tmp_path, monkeypatch):
    for module in ("mcap", "mcap.writer", "mcap.reader"):
        monkeypatch.setitem(__import__("sys").modules, module, None)
    assert not black_box_file.is_available()
    with pytest.raises(InputError, match="pip install mcap"):
        black_box_file.write(recording, tmp_path / "box.mcap")
    with pytest.raises(InputError, match="pip install mcap"):
        black_box_reader.read(tmp_path / "box.mcap")
