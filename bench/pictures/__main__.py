# SPDX-License-Identifier: Apache-2.0
"""`make pictures`: what a browser shows of two demos, as animated GIFs.

The demos run as a user runs them. Their messages are kept, and are shown afterwards, picture by picture: a browser that
has to draw without a graphics card is too slow to follow.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, NamedTuple

import rclpy
from PIL import Image
from playwright.sync_api import sync_playwright
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState

from ros2_dyn.ros.cdr_reader import JointStateReader
from ros2_dyn.ros.localhost import use_localhost_only
from ros2_dyn.runtime import JointSample, Settings
from ros2_dyn_tools.ros.viewer_node import Topics, ViewerNode, spin_beside
from ros2_dyn_tools.viewer.live_arm import LiveArm
from ros2_dyn_tools.viewer.page import Page
from ros2_dyn_tools.viewer.picture import EffortWindow, Picture, ShownRobot, Status
from ros2_dyn_tools.viewer.server import address, start_server

GRAPHICS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
SIZE, SHOWN = {"width": 900, "height": 480}, (660, 352)
"""Of the browser's window and of the picture, pixels."""
PANEL = 290
RATE = 10
"""Pictures of a second of simulated time."""
COLOURS = 160
SHEETS = 12
"""Pictures that the palette is made from."""
MAX_BYTES = 1_000_000


class Moment(NamedTuple):
    """A state, and what the node said when it came."""

    sample: JointSample
    status: Status


class Recorder(ViewerNode):
    """The page's node, which keeps what it receives."""

    def __init__(self) -> None:
        super().__init__(Topics())
        self.moments: list[Moment] = []
        self.settings = Settings()
        reader = JointStateReader()

        def keep(raw: bytes) -> None:
            sample = reader.read(raw)
            if (picture := self.picture()) is not None:
                status = picture.status._replace(contact_link="")
                self.moments.append(Moment(sample._replace(received=sample.stamp), status))

        self.create_subscription(JointState, "joint_states", keep, QoSProfile(depth=1000), raw=True)

    def _use_settings(self, settings: Settings) -> None:
        self.settings = settings
        super()._use_settings(settings)


class Replay:
    """What was kept, as a source that goes on when it is told to."""

    can_reset = True

    def __init__(self, robot: ShownRobot, settings: Settings, moments: list[Moment]) -> None:
        self._live, self._moments, self._next = LiveArm(robot, settings), moments, 0
        self.robot = self._live.robot
        self.advance(0.0)

    @property
    def left(self) -> bool:
        """Whether there are more states."""
        return self._next < len(self._moments)

    def advance(self, seconds: float) -> None:
        """Go on."""
        until = self._moments[self._next].sample.stamp + round(1e9 * seconds)
        while self.left and self._moments[self._next].sample.stamp <= until:
            self.moment = self._moments[self._next]
            self._live.on_joint_state(self.moment.sample)
            self._next += 1
            if self._live.collision and not self.moment.status.collision:
                self._live.reset()

    def picture(self) -> Picture | None:
        """See `Source`."""
        return self._live.picture(self.moment.status, None)

    def window(self, span: float, points: int) -> EffortWindow:
        """See `Source`."""
        return self._live.window(span, points)

    def reset(self) -> str:
        """See `Source`."""
        return ""


def main() -> None:
    """Make both pictures in the folder given first."""
    folder = Path(sys.argv[1])
    use_localhost_only()
    os.environ["ROS_DOMAIN_ID"] = "95"
    for mode, seconds in (("collision", 5.0), ("hand_guiding", 2.0)):
        robot, settings, moments = record(mode, seconds)
        images = shoot(robot, settings, interesting(moments))
        save(images, folder / f"{mode}.gif")


def record(mode: str, seconds: float) -> tuple[ShownRobot, Settings, list[Moment]]:
    """Run a demo; return the robot, the node's parameters and what was received."""
    rclpy.init()
    node = Recorder()
    end = spin_beside(node)
    command = [sys.executable, "-m", "ros2_dyn_tools.demos.main", "--mode", mode, "--duration", str(seconds)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    end()
    found = node.robot, node.settings, list(node.moments)
    node.destroy_node()
    rclpy.shutdown()
    if found[0] is None:
        raise SystemExit(f"no robot was seen in {mode}")
    return found[0], found[1], found[2]


def interesting(moments: list[Moment]) -> list[Moment]:
    """Return what belongs to the mode: from its beginning to its end, at most 14 s."""
    inside = [i for i, each in enumerate(moments) if each.status.mode not in ("", "monitor", "gravity")]
    begin, stop = moments[inside[0]].sample.stamp, moments[inside[-1]].sample.stamp
    return [each for each in moments if begin <= each.sample.stamp <= min(stop, begin + 14 * 10**9)]


def shoot(robot: ShownRobot, settings: Settings, moments: list[Moment]) -> list[Image.Image]:
    """Return pictures of the page, `RATE` for a second."""
    server, source = start_server(port=0), Replay(robot, settings, moments)
    page = Page(server, source, "ros2_dyn")
    page.compact(PANEL)
    images = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=GRAPHICS)
        tab = browser.new_page(viewport=SIZE)
        tab.goto(address(server))
        wait_for(server)
        page.draw()
        tab.get_by_text("No collision").wait_for()
        tab.wait_for_timeout(2000)
        for button in tab.locator("button.mantine-Notification-closeButton").all():
            button.click()
        while source.left:
            source.advance(1 / RATE)
            for _ in range(6):  # texts and plots are drawn every few pictures
                page.draw()
            tab.wait_for_timeout(250)
            images.append(Image.open(io.BytesIO(tab.screenshot())).convert("RGB").resize(SHOWN, Image.LANCZOS))
        browser.close()
    server.stop()
    return images


def wait_for(server: Any) -> None:
    """Wait until a browser has connected."""
    wait = threading.Event()
    while not server.get_clients():
        wait.wait(0.1)


def save(images: list[Image.Image], path: Path) -> None:
    """Write an animation with one palette for all pictures, so that what does not move costs nothing."""
    sheet = Image.new("RGB", (SHOWN[0], SHOWN[1] * SHEETS))
    for place in range(SHEETS):
        sheet.paste(images[place * len(images) // SHEETS], (0, place * SHOWN[1]))
    palette = sheet.quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE)
    frames = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=1000 // RATE, loop=0, optimize=True)
    size = path.stat().st_size
    print(f"{path}: {len(frames)} pictures, {size} bytes")
    if size > MAX_BYTES:
        raise SystemExit(f"{path} is larger than {MAX_BYTES} bytes")


if __name__ == "__main__":
    main()
