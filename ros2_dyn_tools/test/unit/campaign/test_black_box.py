# SPDX-License-Identifier: Apache-2.0
"""The black box: a replay decides the same to the last bit; what it holds is bounded; broken files are errors."""

import json
import os
import pickle

import numpy as np
import pytest

pytest.importorskip("mcap", reason="mcap is not installed")

from kept import timeline
from ros2_dyn.control.events import Event
from ros2_dyn.errors import InputError
from ros2_dyn.runtime import (
    ArmRuntime,
    CommandLink,
    DesiredSample,
    JointSample,
    Update,
    black_box,
    black_box_file,
    checkpoint,
    run_work,
)
from ros2_dyn.runtime.black_box import AFTERMATH, BlackBox, RecordingRuntime
from ros2_dyn.runtime.decision_record import INPUTS, UNRECORDED, Recording, read_record, replay, write_record
from ros2_dyn_tools.campaign.runner import play_world
from runtime_rig import HOME, NAMES, SETTINGS, description

PERIOD = 0.01


class Arm:
    """A recorded runtime whose arm rests, at 100 states a second."""

    def __init__(self, span: float = 2.0, begin: float = 100.0) -> None:
        self.runtime = RecordingRuntime(description(), SETTINGS, BlackBox(span))
        self.box, self.now = self.runtime.box, begin
        self.runtime.on_command_link(CommandLink(topic="/commands"), begin)

    def state(self) -> JointSample:
        """Return the state of this instant."""
        stamp = round(1e9 * self.now) + 10**18
        noise = 1e-6 * np.sin(1e3 * self.now + np.arange(3))
        return JointSample(stamp, NAMES, (HOME + noise).tolist(), noise.tolist(), (), stamp)

    def play(self, seconds: float) -> list[Update]:
        """Let time pass with states."""
        updates = []
        for _ in range(round(seconds / PERIOD)):
            self.now += PERIOD
            updates.append(self.runtime.on_joint_state(self.state(), self.now))
            self.runtime.on_time(self.now)
        return updates

    def wait(self, seconds: float) -> None:
        """Let time pass without states."""
        for _ in range(round(seconds / PERIOD)):
            self.now += PERIOD
            self.runtime.on_time(self.now)

    def enter(self, mode: str) -> None:
        """Request a mode."""
        run_work(self.runtime, self.runtime.request_mode(mode, self.now), self.now)


@pytest.fixture(scope="module")
def recording() -> Recording:
    """The last seconds of an arm in gravity that gets no states any more."""
    arm = Arm()
    arm.play(3.0)
    arm.enter("gravity")
    arm.play(3.0)
    arm.wait(1.5)
    found = arm.box.take_stop(arm.now)
    assert found is not None
    return found


@pytest.mark.parametrize("seed", [4, 7, 12])
def test_replay_of_a_world_with_faults_decides_the_same_to_the_last_bit(seed, tmp_path):
    """In all modes, with node restarts, other parameters and robots; each recording begins amid the run."""
    runtimes = []

    def make(model, settings):
        runtimes.append(RecordingRuntime(model, settings, BlackBox(0.7)))
        return runtimes[-1]

    world = play_world(seed, make_runtime=make)
    for number, runtime in enumerate(runtimes):
        taken = runtime.box.take("the world ends", world.now)
        assert taken is not None, runtime.box.problem
        black_box_file.write(taken, tmp_path / f"{number}.mcap")
        read, about = black_box_file.read(tmp_path / f"{number}.mcap")
        assert about.reason == "the world ends"
        assert read.records == taken.records
        replayed = list(replay(read))
        assert [each.difference for each in replayed] == [0.0] * len(taken.records)
        assert all(each.same for each in replayed)
        assert replayed[0].record.now > 0.7 or replayed[-1].record.now < 3


def test_every_input_of_the_runtime_is_recorded():
    """An input is every public method that returns an update, also one that is added."""
    public = {name for name in vars(ArmRuntime) if name[0] != "_"}
    inputs = {
        name for name in public if getattr(vars(ArmRuntime)[name], "__annotations__", {}).get("return") == "Update"
    }
    assert inputs - UNRECORDED == set(INPUTS)
    for name in INPUTS:
        assert getattr(RecordingRuntime, name) is not getattr(ArmRuntime, name)
        assert "now" in INPUTS[name]


def test_recording_of_a_stop_is_due_once_some_time_after_it(recording):
    assert recording.reason.startswith("state stale")
    records = [read_record(data) for data in recording.records]
    assert records[-1].now >= recording.taken_at + AFTERMATH
    assert records[0].now <= recording.taken_at - 2.0
    arm = Arm()
    arm.play(1.0)
    arm.enter("gravity")
    arm.play(1.0)
    assert arm.box.take_stop(arm.now) is None
    arm.runtime.on_clock_jump("by 2 s", arm.now)
    assert arm.box.take_stop(arm.now) is None
    arm.play(AFTERMATH + PERIOD)
    assert arm.box.take_stop(arm.now).reason.startswith("clock jumped")
    arm.play(2 * AFTERMATH)
    assert arm.box.take_stop(arm.now) is None


def test_runtime_that_is_recorded_decides_what_another_does():
    assert timeline(play_world(3, 6, RecordingRuntime).record) == timeline(play_world(3, 6).record)


def test_mode_that_is_left_on_request_is_no_stop():
    arm = Arm()
    arm.play(0.5)
    arm.enter("gravity")
    arm.play(0.5)
    arm.enter("monitor")
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


def test_box_covers_its_span_and_no_more_than_one_and_a_half_times_of_it():
    arm = Arm(span=1.0)
    arm.play(10.0)
    records = arm.box.take("now", arm.now).records
    first, last = read_record(records[0]), read_record(records[-1])
    assert 1.0 - PERIOD <= last.now - first.now <= 1.5 + PERIOD


def test_box_is_bounded_in_bytes_and_goes_on_at_the_next_checkpoint(monkeypatch):
    monkeypatch.setattr(black_box, "MAX_BYTES", 60_000)
    arm = Arm(span=1.0)
    for _ in range(20):
        arm.play(0.5)
        taken = arm.box.take("now", arm.now)
        assert taken is None or sum(map(len, taken.records)) <= 60_000
    arm.runtime.on_desired(DesiredSample(0, ("x" * 100_000,), accelerations=(0.0,)), arm.now)
    assert arm.box.take("now", arm.now) is None
    arm.play(0.1)
    assert all(each.same for each in replay(arm.box.take("now", arm.now)))


def test_what_cannot_be_recorded_ends_the_recording_and_not_the_mode():
    arm = Arm()
    arm.play(0.5)
    arm.enter("gravity")
    arm.runtime.on_command_link(arm.runtime._modes.link._replace(topic=lambda: None), arm.now)
    commands = [update.command for update in arm.play(0.5)]
    assert None not in commands
    assert "an input of on_command_link cannot be saved" in arm.box.problem
    assert arm.box.take("now", arm.now) is None


def test_error_of_an_input_is_a_decision():
    arm = Arm()
    arm.play(0.2)
    arm.enter("gravity")
    with pytest.raises(InputError, match="joints"):
        arm.runtime.change_settings(SETTINGS.from_values({}), arm.now)
    replayed = list(replay(arm.box.take("now", arm.now)))
    assert "joints" in replayed[-1].decision.error
    assert all(each.same for each in replayed)


def changed(recording: Recording, change) -> Recording:
    """Return a recording with another decision at the last command."""
    records = list(recording.records)
    index = max(i for i, data in enumerate(records) if read_record(data).decision.effort is not None)
    record = read_record(records[index])
    arguments = tuple(record.arguments[name] for name in INPUTS[record.method] if name in record.arguments)
    records[index] = write_record(record.method, arguments, {}, change(record.decision), record.work)
    return Recording(recording.reason, recording.taken_at, recording.begins, records)


@pytest.mark.parametrize(
    "change",
    [
        lambda decision: decision._replace(mode="force"),
        lambda decision: decision._replace(events=(Event("slew limit", "of a joint"),)),
        lambda decision: decision._replace(effort=(decision.command + 1e-5).tobytes()),
        lambda decision: decision._replace(effort=None),
        lambda decision: decision._replace(replies=((1, ""),)),
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
        reader = make_reader(file)
        messages = list(reader.iter_messages())
        attachments = {each.name: each.data for each in reader.iter_attachments()}
    assert len(messages) == len(recording.records)
    topics = {channel.topic for _, channel, _ in messages}
    assert {"/on_joint_state", "/on_time"} <= topics
    times = [message.log_time for _, _, message in messages]
    assert times == sorted(times)
    assert abs(1e-9 * times[0] - 1.7e9 - read_record(recording.records[0]).now) < 1e-3
    states = [json.loads(message.data) for _, channel, message in messages if channel.topic == "/on_joint_state"]
    assert set(states[0]["sample"]["names"]) == set(NAMES)
    assert any(len(state["decision"]["command"] or ()) == 3 for state in states)
    assert tuple(json.loads(attachments["settings.json"])["joints"]) == SETTINGS.joints


def test_file_that_is_cut_off_or_changed_or_something_else_is_an_input_error(recording, tmp_path):
    path = tmp_path / "box.mcap"
    black_box_file.write(recording, path)
    whole = path.read_bytes()
    broken = [whole[:size] for size in (0, 5, 100, 1000, len(whole) // 2, len(whole) - 1)]
    rng = np.random.default_rng(1)
    for _ in range(30):
        data = bytearray(whole)
        for place in rng.integers(8, len(data) - 8, 40):
            data[place] ^= 0xFF
        broken.append(bytes(data))
    for data in [*broken, b"text", b"\x89MCAP0\r\n" * 2]:
        path.write_bytes(data)
        try:
            found, _ = black_box_file.read(path)
            list(replay(found))
        except InputError:
            pass
        else:
            assert found.records == recording.records  # what was changed is for display
    with pytest.raises(InputError, match="cannot be read"):
        black_box_file.read(tmp_path / "missing.mcap")


class Hostile:
    """What runs a command where it is unpickled without care."""

    def __reduce__(self):
        return os.system, ("touch hostile",)


@pytest.mark.parametrize("value", [Hostile(), print, os, ArmRuntime.__init__.__globals__["rejection"]])
def test_file_can_make_nothing_but_parts_of_a_runtime(value):
    try:
        data = pickle.dumps(value)
    except TypeError:  # modules
        data = b"\x80\x04cos\nsystem\n."
    with pytest.raises(InputError, match=r"is no part of a runtime"):
        checkpoint.loads(data)


def test_without_mcap_the_error_says_what_to_install(recording, tmp_path, monkeypatch):
    for module in ("mcap", "mcap.writer", "mcap.reader"):
        monkeypatch.setitem(__import__("sys").modules, module, None)
    assert not black_box_file.is_available()
    with pytest.raises(InputError, match="pip install mcap"):
        black_box_file.write(recording, tmp_path / "box.mcap")
    with pytest.raises(InputError, match="pip install mcap"):
        black_box_file.read(tmp_path / "box.mcap")
