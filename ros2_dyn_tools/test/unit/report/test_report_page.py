# SPDX-License-Identifier: Apache-2.0
"""The page: complete, readable without a network, and safe with any name."""

import re
import sys
from dataclasses import replace
from html import escape
from html.parser import HTMLParser

import pytest

from recordings import recorded_motion
from robots import MOCK_ARM
from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn_tools.report.effort_report import effort_report
from ros2_dyn_tools.report.html_page import write_page
from ros2_dyn_tools.report.text import Heading

pytest.importorskip("plotly", reason="Plotly, which draws the page, is not installed")

NASTY = '<b>&"$x_1$</script>'
URDF = MOCK_ARM


class Elements(HTMLParser):
    """The elements of a page, and the text of its headings and table rows."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict]] = []
        self.text: dict[str, list[str]] = {}
        self.feed(page)
        self.text = {tag: [each.strip() for each in texts] for tag, texts in self.text.items()}

    def handle_starttag(self, tag, attributes):
        """Keep an element."""
        self.found.append((tag, dict(attributes)))
        if tag in ("h1", "h3", "th"):
            self.text.setdefault(tag, []).append("")

    def handle_data(self, data):
        """Keep the text of headings."""
        tag = self.found[-1][0] if self.found else ""
        if tag in self.text:
            self.text[tag][-1] += data


@pytest.fixture(scope="module")
def report():
    """Of 30 s at 125 Hz, and a joint with a name that is markup everywhere."""
    text = URDF.read_text()
    model = RobotModel.from_urdf(text.replace('"elbow_joint"', f'"{escape(NASTY)}"'))
    assert NASTY in model.joint_names
    return effort_report(model, recorded_motion(30.0, 125.0, 1.0), model)


@pytest.fixture(scope="module")
def page(report, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_page(report, Heading("a <title>", "& facts"), path)
    assert path.stat().st_size < 6e6
    return path.read_text(encoding="utf-8")


def without_library(page: str) -> str:
    from plotly.offline import get_plotlyjs

    assert page.count(get_plotlyjs()) == 1
    return page.replace(get_plotlyjs(), "")


def test_the_page_loads_nothing(page):
    for tag, attributes in Elements(without_library(page)).found:
        assert tag not in ("link", "img", "iframe", "object", "base"), tag
        assert "src" not in attributes, tag
        assert "href" not in attributes, tag
    rest = without_library(page)
    assert "http" not in re.sub(r'"plotlyServerURL": ?"[^"]*"', "", rest)
    assert '"showSendToCloud": false' in rest
    assert "@import" not in rest
    assert "url(" not in rest


def test_the_page_has_two_plots_for_each_joint(page, report):
    plots = [a["id"] for _, a in Elements(without_library(page)).found if "plotly-graph-div" in a.get("class", "")]
    n = report.model.n
    assert plots == [f"effort-{i}" for i in range(n)] + [f"contact-{i}" for i in range(n)]
    rest = without_library(page)
    assert len(re.findall(r"Plotly\.newPlot\(", rest)) == 2 * n
    for label in ("measured", "model", "inertia", "Coriolis", "gravity", "friction", "rest", "external", "threshold"):
        assert rest.count(f'"name":"{label}"') == n


def test_names_are_text_and_no_markup(page, report):
    elements = Elements(without_library(page))
    assert elements.text["h1"] == ["a <title>"]
    assert elements.text["h3"] == [*report.model.joint_names] * 2
    assert elements.text["th"].count(NASTY) == 3  # tables
    assert "b" not in {tag for tag, _ in elements.found}


def test_a_report_without_thresholds_is_drawn(report, tmp_path):
    why = f"'{NASTY}' never moved"
    bare = replace(report, contact=None, no_contact=why)
    write_page(bare, Heading("title", "facts"), tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.count(escape(why)) == 1
    assert "contact-0" not in page


def test_a_prismatic_joint_has_newtons(tmp_path):
    text = URDF.read_text().replace('name="elbow_joint" type="revolute"', 'name="elbow_joint" type="prismatic"')
    model = RobotModel.from_urdf(text)
    report = effort_report(model, recorded_motion(rate=125.0, noise=1.0), model)
    assert report.units == ("N m", "N m", "N", "N m", "N m", "N m")
    write_page(report, Heading("title", "facts"), tmp_path / "report.html")
    rest = without_library((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert '<th scope="row">elbow_joint</th><td>N</td>' in rest
    assert rest.count('"title":{"text":"N"}') == 2


def test_what_is_not_installed_is_named(report, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    with pytest.raises(InputError, match="pip install plotly"):
        write_page(report, Heading("title", "facts"), tmp_path / "report")
