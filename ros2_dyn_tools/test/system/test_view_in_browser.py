# SPDX-License-Identifier: Apache-2.0
"""The page in a real browser without a screen: what is in the picture, in the plots and in the words."""

import io
import shutil
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

pytest.importorskip("viser", reason="viser is not here")
pytest.importorskip("playwright.sync_api", reason="playwright, which drives the browser, is not here")

from matplotlib.image import imread
from playwright import sync_api

from robots import MOCK_ARM
from ros2_dyn.dynamics import jacobian, rnea
from ros2_dyn.runtime import JointSample, Settings
from ros2_dyn_tools.viewer.live_arm import LiveArm
from ros2_dyn_tools.viewer.page import Page
from ros2_dyn_tools.viewer.picture import Diagnostic, Status, read_robot
from ros2_dyn_tools.viewer.server import address, start_server

BROWSER = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="Chromium is not installed")
SOFTWARE_GRAPHICS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
THRESHOLDS = (12.0, 12.0, 5.0, 4.0, 4.0, 4.0)
PATIENCE = 60_000
"""Wall time that the browser may take, ms."""
PERIOD = 0.01


class SteppedArm:
    """A source whose arm moves in its own time, as far as a test lets it."""

    can_reset = True

    def __init__(self) -> None:
        robot = read_robot(MOCK_ARM)
        self.live = LiveArm(
            robot, Settings.from_values({"robot.joints": robot.model.joint_names, "collision.threshold": THRESHOLDS})
        )
        self.model, self.robot, self.t = robot.model, self.live.robot, 1.0
        self.push: np.ndarray | None = None
        self.step(0.1)

    def step(self, seconds: float, push: float = 0.0) -> None:
        """Move on, with a force on the forearm, N, that bends the elbow, or without."""
        w = np.array([0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
        for _ in range(round(seconds / PERIOD)):
            self.t += PERIOD
            q = np.array([0.0, -1.2, 1.4, -1.8, -1.57, 0.0]) + 0.8 * np.sin(w * self.t)
            qd, qdd = 0.8 * w * np.cos(w * self.t), -0.8 * w**2 * np.sin(w * self.t)
            J = jacobian(self.model, q, "forearm_link", [-0.35, 0, 0])[:3]
            tau = rnea(self.model, q, qd, qdd) - push * J.T @ J[:, 2] / np.linalg.norm(J[:, 2])
            stamp = round(1e9 * self.t)
            self.live.on_joint_state(
                JointSample(stamp, self.model.joint_names, q.tolist(), qd.tolist(), tau.tolist(), stamp)
            )

    def picture(self):
        """See `Source`."""
        said = (Diagnostic("driver", 1, "warm"), *(Diagnostic(f"part {i}", 0, "cold") for i in range(9)))
        status = Status("gravity", "too fast", self.live.collision, "", said, "test", "dynamics: runs")
        return self.live.picture(status, None, self.push)

    def window(self, span: float, points: int):
        """See `Source`."""
        return self.live.window(span, points)

    def reset(self) -> str:
        """See `Source`."""
        self.live.reset()
        return ""


@pytest.fixture(scope="module")
def shown() -> Iterator[tuple[SteppedArm, str]]:
    """A page that is drawn, and its address."""
    arm, server, done = SteppedArm(), start_server(port=0), threading.Event()
    page = Page(server, arm, "test")
    thread = threading.Thread(target=page.run, args=(done.is_set,))
    thread.start()
    yield arm, address(server)
    done.set()
    thread.join()
    server.stop()


@pytest.fixture(scope="module")
def browser() -> Iterator["sync_api.Browser"]:
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=SOFTWARE_GRAPHICS)
        yield browser
        browser.close()


def opened(browser, url: str, width: int, height: int):
    page = browser.new_page(viewport={"width": width, "height": height})
    page.set_default_timeout(PATIENCE)
    page.problems = []
    page.on("pageerror", lambda problem: page.problems.append(str(problem)))
    page.goto(url)
    page.get_by_text("No collision").wait_for()
    page.wait_for_function("() => Object.keys(window.__viserTestpoints?.uplots ?? {}).length == 6")
    return page


@pytest.fixture(scope="module")
def wide(shown, browser):
    """A page on a wide screen, which all tests look at; what the panels leave is higher than wide."""
    page = opened(browser, shown[1], 1300, 900)
    yield page
    page.close()


def scene(page) -> np.ndarray:
    """Return the middle of the 3D picture, shape (h, w, 3), 0 to 1."""
    box = page.viewport_size
    clip = {"x": 0.3 * box["width"], "y": 0, "width": 0.4 * box["width"], "height": 0.5 * box["height"]}
    return imread(io.BytesIO(page.screenshot(clip=clip)))[..., :3]


def red(picture: np.ndarray) -> float:
    """Return the share of red points."""
    r, g, b = np.moveaxis(picture, -1, 0)
    return float(np.mean((r > 0.25) & (r > 1.5 * g) & (r > 1.5 * b)))


def until(holds, what: str) -> None:
    deadline = time.monotonic() + PATIENCE / 1000
    while not holds():
        assert time.monotonic() < deadline, f"never: {what}"
        time.sleep(0.1)


def coloured(page, *, red: float) -> np.ndarray:
    """Return where the picture that panels leave is blue, with a share of red, as shares of its size, shape (k, 2)."""
    width, height = page.viewport_size["width"], page.viewport_size["height"]
    clip = {"x": 330, "y": 0, "width": width - 730, "height": height}
    if width < 576:  # a phone: one panel, below
        clip = {"x": 0, "y": 0, "width": width, "height": 0.54 * height}
    r, g, b = np.moveaxis(imread(io.BytesIO(page.screenshot(clip=clip)))[..., :3], -1, 0)
    found = np.argwhere((b > 0.25) & (b > 1.5 * g) & (r > red * b) & (r < (red + 0.7) * b))
    return (found / b.shape)[:, ::-1]


def in_the_middle(page) -> bool:
    """Return whether the arm stands in the middle of the picture that panels leave."""
    at = coloured(page, red=0.0)
    if len(at) < 1000:
        return False
    middle = (at.min(axis=0) + at.max(axis=0)) / 2
    return bool(np.all((at > 0.05) & (at < 0.95)) and np.all(np.abs(middle - 0.5) < 0.12))


def test_arm_is_in_the_middle_of_the_picture_and_a_push_is_an_arrow(shown, wide):
    """The first test, for the camera looks where the arm is when the page is opened."""
    (arm, _), page = shown, wide
    until(lambda: in_the_middle(page), "the arm is in the middle")
    arrows = len(coloured(page, red=0.7))
    arm.push = np.array([0.0, 7.0, 0, 0, 0, 0])
    until(lambda: len(coloured(page, red=0.7)) > arrows + 100, "the push is drawn")
    arm.push = None
    until(lambda: len(coloured(page, red=0.7)) <= arrows, "the push is not drawn any more")


def test_arm_moves_plots_fill_a_collision_turns_it_red_and_reset_ends_it_in_every_browser(shown, browser, wide):
    arm, url = shown
    phone = opened(browser, url, 390, 844)
    phone.get_by_role("alert").get_by_role("button").click()  # viser's word on software graphics covers the arm
    until(lambda: in_the_middle(phone), "the arm is in the middle above the panel")

    before = scene(wide)
    arm.step(2.0)
    until(lambda: np.mean(np.abs(scene(wide) - before) > 0.1) > 0.02, "the arm has moved")
    last = "() => Object.values(window.__viserTestpoints.uplots).map(u => Array.from(u.chart.data[1]).slice(-1)[0])"
    measured = arm.picture().efforts[0]
    until(lambda: np.allclose(wide.evaluate(last), measured, atol=1e-6), "the plots end with the newest effort")
    points = wide.evaluate("() => Object.values(window.__viserTestpoints.uplots).map(u => u.chart.data[0].length)")
    assert min(points) > 100
    assert red(scene(wide)) < 0.01

    arm.step(0.3, push=60.0)
    for page in (wide, phone):
        page.get_by_text("COLLISION", exact=True).wait_for()
        page.get_by_text("forearm_link").first.wait_for()
        assert page.get_by_text("too fast").is_visible()
        assert page.get_by_text("warm").is_visible()
    until(lambda: red(scene(wide)) > 0.03, "the arm is red")
    arm.step(0.5)
    assert wide.get_by_text("COLLISION", exact=True).is_visible()  # it stays until it is reset

    phone.get_by_role("button", name="Reset collision").click()
    for page in (wide, phone):
        page.get_by_text("No collision").wait_for()
    until(lambda: red(scene(wide)) < 0.01, "the arm is not red any more")
    assert wide.problems == phone.problems == []
    phone.close()


def test_node_mode_stop_and_force_are_read_first_and_what_is_fine_is_one_line_that_opens(wide):
    page = wide
    page.get_by_text("warm").wait_for()
    order = ("dynamics: runs", "gravity", "too fast", "force at the tip", "No collision", "warm", "Diagnostics: 9 fine")
    places = [page.get_by_text(text, exact=True).first.bounding_box()["y"] for text in order]
    assert places == sorted(places)
    assert not page.get_by_text("cold").first.is_visible()
    page.get_by_text("Diagnostics: 9 fine").click()
    page.get_by_text("cold").first.wait_for()
    assert page.get_by_text("cold").count() == 9
