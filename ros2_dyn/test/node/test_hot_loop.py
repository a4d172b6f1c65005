# SPDX-License-Identifier: Apache-2.0
"""The loop that reads hot topics, by hand and where it leaves them to the executor."""

import signal
import subprocess
import sys
import threading
import time

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not here")

import rclpy
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.parameter_client import AsyncParameterClient
from rclpy.qos import qos_profile_sensor_data
from rclpy.serialization import deserialize_message
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64
from std_srvs.srv import Trigger

from ros2_dyn.ros import hot_loop, hot_wait_set
from ros2_dyn.ros.hot_loop import HotLoop
from ros2_dyn.ros.message_template import effort_template
from ros2_dyn.ros.node_base import TIME_TO_END
from ros2_dyn.ros.periodic import Periodic
from ros2_dyn.ros.polled_subscription import PolledCallbackGroup
from ros_harness import Listener

KINDS = pytest.mark.parametrize("by_hand", [True, False], ids=["by hand", "executor"])


class Echo(Node):
    """Publishes what it reads, and notes in which order things happen."""

    def __init__(self, by_hand: bool) -> None:
        super().__init__("echo")
        self.loop = HotLoop(self, by_hand)
        self.log: list[object] = []
        self.active = False
        self.wakes = False
        self.ticks = 0
        self._template = effort_template(["a"])
        self._out = self.create_publisher(JointState, "out", 10)
        self.loop.subscribe(Float64, "beside", 50, self._on_beside, wakes=lambda: self.wakes)
        self.loop.subscribe(JointState, "in", 50, self._on_state)
        self.loop.call_periodically(0.01, self._tick, lambda: self.active)
        self.create_service(Trigger, "start", self._start)

    def _on_beside(self, raw: bytes) -> None:
        self.log.append(deserialize_message(raw, Float64).data)
        if self.log[-1] < 0.0:
            raise ValueError("this number is broken")

    def _on_state(self, raw: bytes) -> None:
        message = deserialize_message(raw, JointState)
        self.log.append((message.header.stamp.sec, self.get_clock().now().nanoseconds))
        if message.header.frame_id == "broken":
            raise ValueError("this message is broken")
        self._out.publish(self._template.render(message.header.stamp.sec * 10**9, [1.0]))

    def _tick(self) -> None:
        self.ticks += 1

    def _start(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self.active, response.success = True, True
        return response


@pytest.fixture
def listener(own_domain):
    """A listener in the node's own context, where messages of different topics arrive in the order of publication."""
    listener = Listener(own_context=False)
    yield listener
    listener.close()


@pytest.fixture
def run(listener, monkeypatch):
    """Makes a node and spins it in a thread until the end of the test; no wake-up may be lost."""
    monkeypatch.setattr(hot_loop, "MAX_WAIT", 1e6)
    threads = []

    def start(by_hand):
        node = Echo(by_hand)
        threads.append(threading.Thread(target=node.loop.spin))
        threads[-1].start()
        return node

    yield start
    rclpy.shutdown()
    for thread in threads:
        thread.join(10)
        assert not thread.is_alive()
    rclpy.init()  # the listener ends what it has begun


def state(stamp, frame=""):
    message = JointState()
    message.header.stamp.sec, message.header.frame_id = stamp, frame
    return message


def stamps(messages):
    return [message.header.stamp.sec for message in messages]


@KINDS
def test_messages_are_answered_in_their_order(run, listener, by_hand):
    node = run(by_hand)
    listener.listen("out")
    states = listener.publisher(JointState, "in", 50)
    listener.until(lambda: node.count_subscribers("out") > 0, "nobody listens")
    for i in range(30):
        states.publish(state(i))
    listener.until(lambda: len(listener.received["out"]) == 30, "no answers")
    assert stamps(listener.received["out"]) == list(range(30))


@KINDS
def test_an_error_in_a_callback_is_logged_and_ends_nothing(run, listener, by_hand, capfd):
    node = run(by_hand)
    listener.listen("out")
    states = listener.publisher(JointState, "in", 50)
    listener.publisher(Float64, "beside", 50).publish(Float64(data=-1.0))
    listener.spin(0.1)
    states.publish(state(1, "broken"))
    states.publish(state(2))
    listener.until(lambda: listener.received["out"], "no answers")
    assert stamps(listener.received["out"]) == [2]
    assert [entry if isinstance(entry, float) else entry[0] for entry in node.log] == [-1.0, 1, 2]
    assert "this number is broken" in capfd.readouterr().err  # the others are throttled


@KINDS
def test_an_error_on_the_executor_is_logged_and_ends_nothing(run, listener, by_hand, capfd):
    node = run(by_hand)
    node.create_timer(0.01, lambda: [][1])
    listener.listen("out")
    states = listener.publisher(JointState, "in", 50)
    listener.spin(0.1)
    states.publish(state(2))
    listener.until(lambda: listener.received["out"], "no answers")
    assert listener.call(Trigger, "start").success
    assert "IndexError" in capfd.readouterr().err


@KINDS
def test_messages_of_a_topic_that_does_not_wake_are_read_before_the_next_that_does(run, listener, by_hand):
    node = run(by_hand)
    beside = listener.publisher(Float64, "beside", 50)
    states = listener.publisher(JointState, "in", 50)
    for i in range(3):
        beside.publish(Float64(data=1.0 * i))
    listener.spin(0.2)
    assert node.log == []
    states.publish(state(7))
    listener.until(lambda: len(node.log) == 4, "not all were read")
    assert (node.log[:3], node.log[3][0]) == ([0.0, 1.0, 2.0], 7)
    node.wakes = True
    node.loop.wake()
    assert listener.call(Trigger, "start").success  # the executor has seen it, too
    beside.publish(Float64(data=5.0))
    listener.until(lambda: node.log[-1] == 5.0, "it does not wake")


@KINDS
def test_something_is_called_periodically_once_a_service_has_begun_it(run, listener, by_hand):
    node = run(by_hand)
    listener.spin(0.1)
    assert node.ticks == 0
    assert listener.call(Trigger, "start").success
    listener.until(lambda: node.ticks > 20, "it is not called")
    node.active = False
    listener.spin(0.05)
    ticks = node.ticks
    listener.spin(0.1)
    assert node.ticks == ticks


@KINDS
def test_callbacks_of_the_loop_and_of_the_executor_never_overlap(run, listener, by_hand):
    node, inside, overlaps, served = run(by_hand), [], [], []

    def work(*_):
        overlaps.extend(inside)
        inside.append(1)
        time.sleep(0.002)
        inside.pop()

    def serve():
        work()
        served.append(1)

    node.create_timer(0.003, serve)
    node.loop._hot[-1] = node.loop._hot[-1]._replace(callback=work)
    node.loop.wake()
    states = listener.publisher(JointState, "in", 50)
    for i in range(100):
        states.publish(state(i))
        listener.spin(0.002)
    listener.until(lambda: len(served) > 5, "the executor is starved")
    assert not overlaps


def test_the_executor_does_not_wake_for_hot_messages(run, listener, monkeypatch):
    """Nor for their subscriptions' events, for which Fast DDS wakes at each message."""
    looks = []
    ask = PolledCallbackGroup.can_execute
    monkeypatch.setattr(PolledCallbackGroup, "can_execute", lambda *args: looks.append(1) or ask(*args))
    node = run(True)
    states = listener.publisher(JointState, "in", 50)
    listener.spin(0.2)
    before = len(looks)
    for i in range(100):
        states.publish(state(i))
        listener.spin(0.003)
    listener.until(lambda: len(node.log) == 100, "not all were read")
    assert len(looks) - before < 100


@KINDS
def test_a_publisher_of_incompatible_quality_is_warned_of(run, listener, by_hand, capfd, monkeypatch):
    monkeypatch.setattr(hot_loop, "EVENT_PERIOD", 0.05)
    run(by_hand)
    listener.node.create_publisher(JointState, "in", qos_profile_sensor_data)
    printed = []
    listener.until(
        lambda: printed.append(capfd.readouterr().err) or "offering incompatible" in "".join(printed), "silent"
    )


@KINDS
def test_simulated_time_is_followed_from_when_it_is_asked_for(run, listener, by_hand):
    node = run(by_hand)
    client = AsyncParameterClient(listener.node, "echo")
    listener.until(client.services_are_ready, "no parameters")
    asked = client.set_parameters([Parameter("use_sim_time", value=True)])
    listener.until(asked.done, "no answer")
    clock = listener.publisher(Clock, "/clock")
    for seconds in (100, 200, 50):
        message = Clock()
        message.clock.sec = seconds
        clock.publish(message)
        listener.until(lambda: node.get_clock().now().nanoseconds == seconds * 10**9, "time is another")  # noqa: B023


def test_the_clock_is_read_before_the_states(run, listener):
    node = run(True)
    node.set_parameters([Parameter("use_sim_time", value=True)])
    node.loop.wake()
    clock, states = listener.publisher(Clock, "/clock"), listener.publisher(JointState, "in", 50)
    for i in range(1, 51):
        message = Clock()
        message.clock.sec = i
        clock.publish(message)
        states.publish(state(i))
        listener.spin(0.002)
    listener.until(lambda: len(node.log) == 50, "not all were read")
    assert all(now >= stamp * 10**9 for stamp, now in node.log)


@pytest.mark.parametrize("error", [TypeError, AttributeError, RuntimeError])
def test_where_no_wait_set_can_be_held_the_executor_reads_all(run, listener, monkeypatch, capfd, error):
    class Missing:
        def __init__(self, *_):
            raise error("another number of arguments")

    monkeypatch.setattr(hot_wait_set._rclpy, "WaitSet", Missing)
    node = Echo(True)
    spun = []
    monkeypatch.setattr(hot_loop.LockedExecutor, "serve", lambda self: spun.append(self))
    node.loop.spin()
    assert len(spun) == 1
    assert not node.loop.reads
    assert "the executor reads all topics" in capfd.readouterr().err


@pytest.mark.parametrize(("value", "by_hand"), [("0", False), ("1", True), (None, True)])
def test_an_environment_variable_leaves_all_to_the_executor(listener, monkeypatch, value, by_hand):
    monkeypatch.delenv(hot_loop.VARIABLE, raising=False)
    if value is not None:
        monkeypatch.setenv(hot_loop.VARIABLE, value)
    assert HotLoop(listener.node)._by_hand == by_hand


@KINDS
def test_a_subscription_may_be_destroyed_meanwhile(run, listener, by_hand):
    node = run(by_hand)
    listener.listen("out")
    states = listener.publisher(JointState, "in", 50)
    node.destroy_subscription(node.loop._hot[0].subscription)
    node.loop.wake()
    states.publish(state(1))
    listener.until(lambda: listener.received["out"], "no answers")


# ---- the period


class Ticker:
    """Something periodic, and a real time that the test sets."""

    def __init__(self, pace: float) -> None:
        self.steady, self.calls, self.active = 0.0, 0, True
        clock = lambda: 5.0 + pace * self.steady  # noqa: E731
        self.periodic = Periodic(0.01, self.tick, lambda: self.active, clock, lambda: self.steady)

    def tick(self) -> None:
        """Count."""
        self.calls += 1

    def at(self, steady: float) -> int:
        """Return how often it was called up to a time."""
        self.steady = steady
        self.periodic.call_if_due()
        return self.calls


@pytest.mark.parametrize(("pace", "calls"), [(0.0, 100), (0.1, 100), (1.0, 100), (5.0, 500), (-1.0, 100)])
def test_it_is_called_each_period_of_real_time_or_of_a_clock_that_runs_faster(pace, calls):
    ticker = Ticker(pace)
    for i in range(10_000):
        ticker.at(1e-4 * i)
    assert ticker.calls == pytest.approx(calls, rel=0.1)


def test_a_period_that_was_missed_is_not_made_up_for():
    ticker = Ticker(1.0)
    assert [ticker.at(100.0), ticker.at(100.0), ticker.periodic.left() > 0.0] == [1, 1, True]


def test_it_is_not_called_while_it_is_not_wanted():
    ticker = Ticker(1.0)
    ticker.active = False
    assert [ticker.at(100.0), ticker.periodic.left()] == [0, float("inf")]


# ---- the end

STUCK = """
import sys, time
from rclpy.node import Node
from sensor_msgs.msg import JointState
from ros2_dyn.ros.hot_loop import HotLoop
from ros2_dyn.ros.node_base import run_node

class Stuck(Node):
    def __init__(self):
        super().__init__("stuck")
        self.loop = HotLoop(self, sys.argv[2] == "True")
        self.loop.subscribe(JointState, "in", 1, print)
        if sys.argv[3] == "loop":
            self.loop.call_periodically(0.01, self.work, lambda: True)
        else:
            self.create_timer(0.01, self.work)

    def work(self):
        print("begun", flush=True)
        deadline = time.monotonic() + float(sys.argv[1])
        while time.monotonic() < deadline:
            pass
        print("done", flush=True)

sys.exit(run_node(Stuck, lambda node: node.loop.spin()))
"""


def end(seconds, by_hand, where, *signals):
    """What a node that is busy prints after signals, and its status; the last signal comes late."""
    command = [sys.executable, "-c", STUCK, str(seconds), str(by_hand), where]
    with subprocess.Popen(command, stdout=-1, stderr=-2, text=True) as node:
        assert node.stdout is not None
        assert node.stdout.readline() == "begun\n"
        for each in signals[:-1]:
            node.send_signal(each)
            time.sleep(1.1 * TIME_TO_END)
        node.send_signal(signals[-1])
        try:
            return node.communicate(timeout=20)[0], node.returncode
        finally:
            node.kill()


@pytest.mark.parametrize("where", ["loop", "executor"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_lets_a_callback_come_to_its_end(where, number):
    assert end(0.6, True, where, number) == ("done\n", 0)


@pytest.mark.parametrize("where", ["loop", "executor"])
def test_a_second_interrupt_ends_a_callback_that_is_stuck(where):
    assert end(1000.0, True, where, signal.SIGINT, signal.SIGINT) == ("", 0)


def test_the_executor_in_the_loops_place_ends_alike():
    assert end(0.6, False, "loop", signal.SIGINT) == ("done\n", 0)
