# SPDX-License-Identifier: Apache-2.0
"""How nodes are served, by rclpy's EventsExecutor and by the ordinary one: order, errors, clocks, services, ends."""

import signal
import subprocess
import sys
import threading
import time

import pytest

from robots import MOCK_ARM

pytest.importorskip("rclpy", reason="ROS 2 is not here")

import rclpy
from rclpy.parameter import Parameter
from rclpy.serialization import deserialize_message
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64
from std_srvs.srv import Trigger

from ros2_dyn.ros.coroutines import Answer, LateService
from ros2_dyn.ros.executor import VARIABLE, ServedNode, Ticks, spin
from ros2_dyn.ros.node_base import TIME_TO_END
from ros_harness import PATIENCE, Listener, Process, words

KINDS = pytest.mark.parametrize("kind", ["events", "ordinary"])
PERIOD = 0.01


class Echo(ServedNode):
    """Publishes what it reads, and notes in which order things happen."""

    def __init__(self) -> None:
        super().__init__("echo")
        self.log: list[object] = []
        self.ticks, self.answers = 0, list[Answer[str]]()
        self.wants_newest, self.goes_on = False, threading.Event()
        self._out = self.create_publisher(JointState, "out", 50)
        self.beside = self.create_subscription(Float64, "beside", self._on_beside, 50, raw=True)
        self.create_subscription(JointState, "in", self._on_state, 50, raw=True)
        self.latest = self.create_subscription(Float64, "latest", self._on_latest, 1)
        self.create_subscription(Float64, "slow", self._on_slow, 10, newest=lambda: self.wants_newest)
        self.clock = Ticks(self, PERIOD, self._tick)
        self.clock.run(False)
        self.create_service(Trigger, "start", self._start)
        LateService(self, Trigger, "late", self._late)

    def _on_beside(self, raw: bytes) -> None:
        self.log.append(deserialize_message(raw, Float64).data)
        if self.log[-1] < 0.0:
            raise ValueError("this number is broken")

    def _on_state(self, raw: bytes) -> None:
        message = deserialize_message(raw, JointState)
        self.log.append((message.header.stamp.sec, self.get_clock().now().nanoseconds))
        self._out.publish(message)

    def _on_latest(self, message: Float64) -> None:
        self.log.append(message.data)
        time.sleep(0.01)  # beside which what comes between two messages is no pause

    def _on_slow(self, message: Float64) -> None:
        self.log.append(message.data)
        self.goes_on.wait(0.004 if message.data else PATIENCE)

    def _tick(self) -> None:
        self.ticks += 1

    def _start(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self.clock.run(True)
        response.success = True
        return response

    async def _late(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self.answers.append(Answer())
        response.message = await self.answers[-1]
        if response.message == "fault":
            raise ValueError("this answer is broken")
        return response


@pytest.fixture
def listener(own_domain):
    """A listener in the node's own context, where messages of different topics arrive in the order of publication."""
    listener = Listener(own_context=False)
    yield listener
    listener.close()


@pytest.fixture
def run(listener, monkeypatch):
    """Makes a node and serves it in a thread until the end of the test."""
    threads = []

    def start(kind, **parameters):
        monkeypatch.setenv(VARIABLE, str(int(kind == "events")))
        node = Echo()
        node.set_parameters([Parameter(name, value=value) for name, value in parameters.items()])
        threads.append(threading.Thread(target=spin, args=[node]))
        threads[-1].start()
        return node

    yield start
    rclpy.shutdown()
    for thread in threads:
        thread.join(10)
        assert not thread.is_alive()
    rclpy.init()  # the listener ends what it has begun


def state(stamp):
    message = JointState()
    message.header.stamp.sec = stamp
    return message


def seconds(stamp):
    message = Clock()
    message.clock.sec, message.clock.nanosec = divmod(round(1e9 * stamp), 10**9)
    return message


@KINDS
def test_a_burst_of_messages_is_answered_in_its_order_and_a_service_meanwhile(run, listener, kind):
    node = run(kind)
    listener.listen("out")
    states = listener.publisher(JointState, "in", 50)
    listener.until(lambda: node.count_subscribers("out") > 0, "nobody listens")
    for i in range(30):
        states.publish(state(i))
    assert listener.call(Trigger, "start").success
    listener.until(lambda: len(listener.received["out"]) == 30, "no answers")
    assert [message.header.stamp.sec for message in listener.received["out"]] == list(range(30))


@KINDS
def test_of_a_topic_that_keeps_one_message_the_newest_is_read_once(run, listener, capfd, kind):
    """As many come as may, while the node turns to none."""
    node = run(kind)
    node.call_soon(lambda: [node.latest.callback(Float64(data=float(i))) for i in range(4)])
    listener.until(lambda: 3.0 in node.log, "the newest is not read")
    assert listener.call(Trigger, "start").success
    assert node.log.count(3.0) == 1
    assert "report this fault" not in capfd.readouterr().err


@KINDS
def test_a_service_is_answered_while_more_messages_come_than_can_be_read(run, listener, kind):
    node, publisher, ends = run(kind), listener.publisher(Float64, "slow"), threading.Event()

    def publish():
        while not ends.wait(0.001):
            publisher.publish(Float64(data=time.monotonic()))

    thread = threading.Thread(target=publish)
    thread.start()
    try:
        listener.until(lambda: len(node.log) > 300, "no messages are read")
        before = len(node.log)
        assert listener.call(Trigger, "start").success
        meanwhile = len(node.log) - before
    finally:
        ends.set()
        thread.join()
    assert meanwhile < 60  # 900 wait by then where each message is an event
    assert node.log == sorted(node.log)


@pytest.mark.parametrize(("newest", "read"), [(True, [0, 12]), (False, [0, *range(3, 13)])])
def test_of_messages_that_wait_the_newest_is_read_or_all_that_the_queue_holds(run, listener, newest, read):
    node, publisher = run("events"), listener.publisher(Float64, "slow")
    node.wants_newest = newest
    listener.listen("slow", type=Float64)
    for i in range(13):
        publisher.publish(Float64(data=float(i)))
        listener.until(lambda i=i: len(listener.received["slow"]) == i + 1, "it does not come")
        listener.until(lambda: node.log, "it is not read")  # and not left before all of them wait
    listener.spin(0.1)
    node.goes_on.set()
    listener.until(lambda: node.log[-1] == 12, "the newest one is not read")
    assert node.log == read


def test_after_a_pause_one_message_of_each_topic_is_read_where_it_comes(run, listener, monkeypatch):
    node, waited = run("events"), []
    slow, states = listener.publisher(Float64, "slow"), listener.publisher(JointState, "in", 50)
    call_soon = node.call_soon
    monkeypatch.setattr(node, "call_soon", lambda callback: (waited.append(callback), call_soon(callback)))
    for i in range(10):
        slow.publish(Float64(data=1.0))
        states.publish(state(i))  # it comes while the other is read
        listener.until(lambda i=i: len(node.log) == 2 * i + 2, "they are not read")
        listener.spin(0.02)
    assert len(waited) < 5  # the node may be held up amid a message, so that the pause after it is too short


@KINDS
@pytest.mark.parametrize("of", ["a subscription", "a timer", "call_soon"])
def test_an_error_in_a_callback_is_logged_and_ends_nothing(run, listener, kind, of, capfd):
    node = run(kind)
    listener.listen("out")
    states = listener.publisher(JointState, "in", 50)
    if of == "a subscription":
        listener.publisher(Float64, "beside", 50).publish(Float64(data=-1.0))
    elif of == "a timer":
        node.create_timer(0.01, lambda: [][1])
    else:
        node.call_soon(lambda: [][1])
    printed = []
    listener.until(lambda: printed.append(capfd.readouterr().err) or "please report" in "".join(printed), "silent")
    states.publish(state(2))
    listener.until(lambda: listener.received["out"], "no answers")
    assert listener.call(Trigger, "start").success


@KINDS
def test_what_is_to_be_called_soon_is_called_in_its_order_from_any_thread(run, listener, kind):
    node = run(kind)
    for i in range(50):
        node.call_soon(lambda i=i: node.log.append((i, threading.current_thread())))
    listener.until(lambda: len(node.log) == 50, "not all was called")
    assert [i for i, _ in node.log] == list(range(50))
    assert len({thread for _, thread in node.log}) == 1
    assert node.log[0][1] is not threading.current_thread()


@KINDS
def test_ticks_come_once_a_service_has_begun_them_and_pause(run, listener, kind):
    node = run(kind)
    listener.spin(0.1)
    assert node.ticks == 0
    assert listener.call(Trigger, "start").success
    listener.until(lambda: node.ticks > 20, "it does not tick")
    node.call_soon(lambda: node.clock.run(False))
    listener.spin(0.1)
    ticks = node.ticks
    listener.spin(0.1)
    assert node.ticks == ticks


@KINDS
def test_ticks_come_in_simulated_time_too_and_where_it_stands_still(run, listener, kind):
    node = run(kind, use_sim_time=True)
    clock = listener.publisher(Clock, "/clock")
    assert listener.call(Trigger, "start").success
    listener.until(lambda: node.ticks > 20, "it does not tick in real time")
    steps = []

    def faster_than_real_time():
        before, started = node.ticks, time.monotonic()
        for _ in range(50):
            steps.append(1)
            clock.publish(seconds(100 + PERIOD * len(steps)))
            listener.spin_once()
        return node.ticks - before > 1.5 * (time.monotonic() - started) / PERIOD

    listener.until(faster_than_real_time, "it ticks in real time alone")


@KINDS
def test_the_clock_is_followed_from_when_it_is_asked_for_and_read_before_the_states(run, listener, kind):
    node = run(kind)
    listener.spin(0.1)
    node.set_parameters([Parameter("use_sim_time", value=True)])
    clock, states = listener.publisher(Clock, "/clock"), listener.publisher(JointState, "in", 50)
    for i in range(1, 31):
        clock.publish(seconds(i))
        listener.until(lambda i=i: kind == "events" or node.get_clock().now().nanoseconds == i * 10**9, "another time")
        listener.spin(0.02)  # DDS does not order two topics
        states.publish(state(i))
    listener.until(lambda: len(node.log) == 30, "not all were read")
    assert all(now >= stamp * 10**9 for stamp, now in node.log)


@KINDS
def test_a_late_service_serves_one_request_at_a_time_while_others_are_served(run, listener, kind):
    node = run(kind)
    first, second = (listener.call_async(Trigger, "late") for _ in range(2))
    listener.until(lambda: node.answers, "no request")
    assert listener.call(Trigger, "start").success
    assert len(node.answers) == 1
    assert not first.done()
    node.call_soon(lambda: node.answers[0].give("first"))
    listener.until(lambda: len(node.answers) == 2, "the second one is not served")
    node.call_soon(lambda: node.answers[1].give("second"))
    listener.until(second.done, "no answer")
    assert (first.result().message, second.result().message) == ("first", "second")


@KINDS
def test_a_late_service_that_fails_says_so_and_serves_the_next_request(run, listener, kind, capfd):
    node = run(kind)
    first, second = (listener.call_async(Trigger, "late") for _ in range(2))
    for i, text in enumerate(["fault", "fine"]):
        listener.until(lambda i=i: len(node.answers) > i, "no request")
        node.call_soon(lambda i=i, text=text: node.answers[i].give(text))
    listener.until(second.done, "no answer")
    assert second.result().message == "fine"
    assert (first.result().success, first.result().message) == (
        False,
        "a fault of the node: ValueError('this answer is broken')",
    )
    assert "this answer is broken" in capfd.readouterr().err


# ---- the end

STUCK = """
import sys, time
from ros2_dyn.ros.executor import ServedNode
from ros2_dyn.ros.node_base import run_node

class Stuck(ServedNode):
    def __init__(self):
        super().__init__("stuck")
        self.create_timer(0.01, self.work)

    def work(self):
        print("begun", flush=True)
        deadline = time.monotonic() + float(sys.argv[1])
        while time.monotonic() < deadline:
            pass
        print("done", flush=True)

sys.exit(run_node(Stuck))
"""


def end(seconds, *signals, pause=1.1 * TIME_TO_END):
    """What a node that is busy prints after signals, and its status; between them a pause passes, s."""
    command = [sys.executable, "-c", STUCK, str(seconds)]
    with subprocess.Popen(command, stdout=-1, stderr=-2, text=True) as node:
        assert node.stdout is not None
        assert node.stdout.readline() == "begun\n"
        for each in signals[:-1]:
            node.send_signal(each)
            time.sleep(pause)
        node.send_signal(signals[-1])
        try:
            return node.communicate(timeout=20)[0], node.returncode
        finally:
            node.kill()


@pytest.mark.parametrize(
    ("kind", "signals"),
    [("1", [signal.SIGTERM]), ("1", [signal.SIGINT, signal.SIGINT]), ("0", [signal.SIGINT])],
)
def test_a_signal_and_an_early_second_one_let_a_callback_come_to_its_end(kind, signals, monkeypatch):
    monkeypatch.setenv(VARIABLE, kind)
    assert end(0.3, *signals, pause=0.1) == ("done\n", 0)


def test_a_late_second_interrupt_ends_a_callback_that_is_stuck():
    assert end(1000.0, signal.SIGINT, signal.SIGINT) == ("", 0)


def test_interrupts_without_end_are_no_error():
    process = Process("ros2_dyn.ros.dynamics_node", *words(urdf_file=str(MOCK_ARM)))
    deadline = time.monotonic() + PATIENCE
    while "using 'mock_arm'" not in process.printed:
        assert time.monotonic() < deadline, "the node does not start"
        time.sleep(0.01)
    while process.alive:
        process.process.send_signal(signal.SIGINT)
        time.sleep(0.002)
    assert "Traceback" not in process.ended()
    assert process.process.returncode == 0
