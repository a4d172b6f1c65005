# SPDX-License-Identifier: Apache-2.0
"""Virtual time: order of events, periods without rounding."""

from ros2_dyn_tools.campaign.event_queue import EventQueue


def test_events_run_in_the_order_of_their_times_and_of_their_addition():
    queue, seen = EventQueue(), []
    for name, t in (("c", 30), ("a", 10), ("b", 10), ("d", 40)):
        queue.at(t, lambda name=name: seen.append((queue.now_ns, name)))
    queue.run(30e-9)
    assert seen == [(10, "a"), (10, "b"), (30, "c")]
    assert queue.now_ns == 30


def test_event_in_the_past_runs_at_once_and_time_never_goes_back():
    queue, seen = EventQueue(), []
    queue.at(50, lambda: queue.at(20, lambda: seen.append(queue.now_ns)))
    queue.run(1.0)
    assert seen == [50]
    assert queue.now == 1.0


def test_periodic_event_keeps_its_period_to_the_nanosecond():
    queue, seen = EventQueue(), []
    queue.every(1 / 300, lambda: seen.append(queue.now_ns))
    queue.run(100.0)
    assert seen == [3333333 * i for i in range(30001)]


def test_event_added_with_a_delay_runs_after_it():
    queue, seen = EventQueue(), []
    queue.run(0.5)
    queue.after(0.25, lambda: seen.append(queue.now))
    queue.run(0.7)
    assert not seen
    queue.run(0.8)
    assert seen == [0.75]
