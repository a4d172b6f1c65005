# SPDX-License-Identifier: Apache-2.0
"""Messages of absurd size cost no more than a small one: they are refused before their names are searched."""

import pytest

from ros2_dyn.errors import MessageError
from ros2_dyn.runtime import ArmRuntime, DesiredSample, JointSample, Settings
from ros2_dyn.runtime.inputs import MAX_NAMES, HybridSample, ModeRequest, PayloadRequest, WrenchSample
from runtime_rig import NAMES, SETTINGS, description


class Names(tuple):
    """Names that must not be searched."""

    def count(self, name):  # noqa: D102
        pytest.fail("they are searched")

    index = __contains__ = count


MANY = Names(f"n{i}" for i in range(100_000))
NUMBERS = (0.0,) * len(MANY)
MESSAGES = {
    "joint states": lambda runtime: runtime.step(JointSample(1, MANY, NUMBERS, NUMBERS), 1.0),
    "desired state": lambda runtime: runtime.step(DesiredSample(1, MANY, NUMBERS, NUMBERS, NUMBERS), 1.0),
}


@pytest.mark.parametrize("what", MESSAGES)
def test_message_with_100_000_names_is_refused_without_a_search(what, monkeypatch):
    runtime = ArmRuntime(description(), SETTINGS)
    monkeypatch.setattr("ros2_dyn.runtime.joint_order.tuple", lambda names: names, raising=False)  # else a copy
    update = MESSAGES[what](runtime)
    (event,) = [event for event in update.events if event.topic]
    assert event.kind == "too many"
    assert str(MAX_NAMES) in event.text
    assert len(event.text) < 200


def test_request_with_100_000_names_is_refused_without_a_search(monkeypatch):
    monkeypatch.setattr("ros2_dyn.runtime.joint_order.tuple", lambda names: names, raising=False)
    with pytest.raises(MessageError, match="too many"):
        ArmRuntime(description(), SETTINGS).requested_state(JointSample(1, MANY, NUMBERS))


def test_names_of_megabytes_are_shortened_in_events():
    runtime, long = ArmRuntime(description(), SETTINGS), "x" * 3_000_000
    updates = (
        runtime.step(JointSample(1, (long,), (0.0,), (0.0,)), 1.0),
        runtime.step(JointSample(2, (*NAMES, NAMES[0], long), (0.0,) * 5, (0.0,) * 5), 1.1),
        runtime.step(DesiredSample(1, (long,), (), (), (0.0,)), 1.2),
        runtime.step(WrenchSample(1, long, (0.0,) * 6), 1.3),
    )
    for update in updates:
        assert update.events
        assert all(len(event.text) < 3000 for event in update.events)
    for reply in (
        runtime.step(PayloadRequest(long, (0.0,) * 10), 1.4).replies[0],
        runtime.step(ModeRequest(long), 1.5).replies[0],
    ):
        assert len(str(reply.error)) < 3000


def test_error_of_a_setting_with_a_name_of_megabytes_is_short():
    with pytest.raises(Exception, match="no joint") as refused:
        ArmRuntime(description(), Settings.from_values({"robot.joints": ("x" * 3_000_000,)}))
    assert len(str(refused.value)) < 3000


@pytest.mark.parametrize("size", [0, 5, 8])
@pytest.mark.parametrize("field", ["pose", "wrench", "force_axes"])
def test_target_of_another_length_is_refused(field, size):
    """No message has such a one, but a program or a recording may."""
    runtime, other = ArmRuntime(description(), SETTINGS), {field: (1.0,) * size}
    whole = HybridSample(1, "", (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0), (0.0,) * 6, (False,) * 6)
    (event,) = [event for event in runtime.step(whole._replace(**other), 1.0).events if event.topic]
    assert (event.kind, event.topic) == ("wrong length", "~/desired_hybrid")
