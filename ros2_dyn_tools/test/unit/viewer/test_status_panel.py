# SPDX-License-Identifier: Apache-2.0
"""What the page says in words, and that texts from outside can only be read."""

import numpy as np

from ros2_dyn_tools.viewer.picture import (
    CURVES,
    ERROR,
    OK,
    STALE,
    THRESHOLD,
    WARN,
    Diagnostic,
    LinkWrench,
    Picture,
    Status,
)
from ros2_dyn_tools.viewer.plots import filled
from ros2_dyn_tools.viewer.status_panel import banner, facts, fine, problems

HOSTILE = "<img src=x onerror=alert(1)>"


def picture(status: Status, external=None) -> Picture:
    return Picture(
        1.0, np.zeros(2), np.zeros(2), np.full((CURVES, 2), np.nan), np.zeros((2, 6)), external, None, status
    )


def test_banner_tells_a_collision_and_its_link():
    assert "COLLISION" in banner(picture(Status(collision=True)))
    assert "forearm" in banner(picture(Status(collision=True, contact_link="forearm")))


def test_banner_tells_no_collision_only_where_a_joint_has_a_threshold():
    calm = picture(Status())
    assert "not watched" in banner(calm)
    calm.efforts[THRESHOLD, 1] = 5.0
    assert "No collision" in banner(calm)


def test_facts_begin_with_node_mode_last_stop_and_force():
    wrench = LinkWrench("tip", "tip", np.array([3.0, 4.0, 0, 9, 9, 9]))
    text = facts(picture(Status("stopped", "too fast", source="joint_states", node="dynamics: runs"), wrench))
    found = [text.index(word) for word in ("dynamics: runs", "stopped", "too fast", "5.0 N", "joint_states")]
    assert found == sorted(found)
    assert "mode" not in facts(picture(Status()))
    assert "node" not in facts(picture(Status()))


def test_problems_begin_with_the_worst_and_hold_nothing_that_is_fine():
    levels = {"a": OK, "b": WARN, "c": ERROR, "d": STALE, "e": 99}
    status = Status(diagnostics=tuple(Diagnostic(name, level, "x") for name, level in levels.items()))
    text = problems(status)
    assert text.index(">c<") < text.index(">b<") < text.index(">e<") < text.index(">d<")
    assert ">a<" not in text


def test_what_is_fine_is_counted_and_named_apart():
    status = Status(diagnostics=(*(Diagnostic(str(i), OK, "x") for i in range(9)), Diagnostic("b", WARN, "x")))
    label, text = fine(status)
    assert label == "Diagnostics: 9 fine"
    assert all(f">{i}<" in text for i in range(9))
    assert ">b<" not in text
    assert fine(Status(diagnostics=(Diagnostic("b", WARN, "x"),)))[0] == ""


def test_node_without_diagnostics_is_told():
    assert "no diagnostics received" in problems(Status(node="dynamics: runs"))
    assert "received" not in problems(Status())  # a recording has none


def test_text_from_outside_is_never_markup():
    said = (Diagnostic(HOSTILE, WARN, HOSTILE), Diagnostic(HOSTILE, OK, HOSTILE))
    status = Status(HOSTILE, HOSTILE, True, HOSTILE, said, HOSTILE, HOSTILE)
    for text in (banner(picture(status)), facts(picture(status)), problems(status), fine(status)[1]):
        assert "<img" not in text
        assert "&lt;img" in text


def test_long_text_from_outside_is_cut():
    assert len(facts(picture(Status(source="x" * 100_000)))) < 3000


def test_curve_with_unknown_values_is_drawn_without_them():
    assert filled(np.array([np.nan, np.inf])) is None
    np.testing.assert_array_equal(filled(np.array([np.nan, 1.0, np.nan, np.inf, 3.0])), [1, 1, 1, 1, 3])
