# SPDX-License-Identifier: Apache-2.0
"""What the page says in words, and that texts from outside can only be read."""

import numpy as np

from ros2_dyn_tools.viewer.picture import CURVES, ERROR, OK, WARN, Diagnostic, LinkWrench, Picture, Status
from ros2_dyn_tools.viewer.plots import filled
from ros2_dyn_tools.viewer.status_panel import banner, diagnostics, facts

HOSTILE = "<img src=x onerror=alert(1)>"


def picture(status: Status, external=None) -> Picture:
    return Picture(
        1.0, np.zeros(2), np.zeros(2), np.full((CURVES, 2), np.nan), np.zeros((2, 6)), external, None, status
    )


def test_banner_tells_a_collision_and_its_link():
    assert "No collision" in banner(Status())
    assert "COLLISION" in banner(Status(collision=True))
    assert "forearm" in banner(Status(collision=True, contact_link="forearm"))


def test_facts_give_mode_last_stop_and_force():
    wrench = LinkWrench("tip", "tip", np.array([3.0, 4.0, 0, 9, 9, 9]))
    text = facts(picture(Status("stopped", "too fast", source="joint_states"), wrench))
    assert all(word in text for word in ("stopped", "too fast", "joint_states", "5.0 N"))
    assert "mode" not in facts(picture(Status()))


def test_diagnostics_begin_with_the_worst():
    text = diagnostics(
        Status(diagnostics=(Diagnostic("a", OK, "x"), Diagnostic("b", WARN, "x"), Diagnostic("c", ERROR, "x")))
    )
    assert text.index(">c<") < text.index(">b<") < text.index(">a<")


def test_text_from_outside_is_never_markup():
    status = Status(HOSTILE, HOSTILE, True, HOSTILE, (Diagnostic(HOSTILE, WARN, HOSTILE),), HOSTILE)
    for text in (banner(status), facts(picture(status)), diagnostics(status)):
        assert "<img" not in text
        assert "&lt;img" in text


def test_long_text_from_outside_is_cut():
    assert len(facts(picture(Status(source="x" * 100_000)))) < 3000


def test_curve_with_unknown_values_is_drawn_without_them():
    assert filled(np.array([np.nan, np.inf])) is None
    np.testing.assert_array_equal(filled(np.array([np.nan, 1.0, np.nan, np.inf, 3.0])), [1, 1, 1, 1, 3])
