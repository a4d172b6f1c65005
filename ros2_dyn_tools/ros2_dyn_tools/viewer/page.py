# SPDX-License-Identifier: Apache-2.0
"""The page: the scene with robot and wrenches, the panels beside it, and the loop that draws them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.viewer import status_panel
from ros2_dyn_tools.viewer.arrows import KINDS, Arrows, legend
from ros2_dyn_tools.viewer.picture import Picture, ShownRobot, Source
from ros2_dyn_tools.viewer.plots import POINTS, SPAN, Plots
from ros2_dyn_tools.viewer.scene import FIELD_OF_VIEW, RobotScene, camera

if TYPE_CHECKING:
    import viser

RATE = 30.0
"""Rate at which the robot is drawn, Hz."""
NARROW = (
    "<style>@media (max-width: 40em) { [style*='max-height: 60%'] { max-height: 46% !important; }"
    " [style*='max-height: 60%'], [style*='max-height: 60%'] [style*='width: 20em'] { width: 100vw !important; } }"
    "</style>"
)
"""Lets viser's panel be as wide as the screen of a phone, and as high as `HIDDEN`."""
HIDDEN = 0.46
"""Share of the screen of a phone, from below, that the panel covers."""


class Page:
    """One page, which any number of browsers may show at once."""

    def __init__(self, server: viser.ViserServer, source: Source, title: str) -> None:
        """Add what does not depend on the robot."""
        self._server, self._source = server, source
        self._robot: ShownRobot | None = None
        self._scene: RobotScene | None = None
        self._plots: Plots | None = None
        self._ticks = 0
        self._aimed: dict[int, tuple[float, Array]] = {}
        """Aspect and position of the camera, m, that each browser was given."""
        self._hidden: dict[int, float] = {}
        """Share of each browser's picture, from below, that a panel covers."""
        self._arrows = Arrows(server)
        self.extra: Callable[[], None] = lambda: None
        """Called for each picture: what controls show."""
        gui = server.gui
        gui.set_panel_label(title)
        gui.add_html(NARROW)
        self._facts = gui.add_html(
            '<div style="margin:4px 10px;font-size:13px">Waiting for robot_description and joint_states.</div>'
        )
        self._banner = gui.add_html("")
        self._reset = gui.add_button("Reset collision", color="red", disabled=True, visible=source.can_reset)
        self._problems = gui.add_html("")
        self._fine_folder = gui.add_folder("", expand_by_default=False, visible=False)
        with self._fine_folder:
            self._fine = gui.add_html("")
        self.controls = gui.add_folder("Controls", visible=False)
        """Where playback has its controls."""
        with gui.add_folder("Wrenches"):
            gui.add_html(legend())
            for name, kind in KINDS.items():
                self._add_toggle(name, kind.name)
        panel = gui.add_panel()
        self._efforts = panel.add_tab("Efforts")
        self._externals = panel.add_tab("External efforts")
        panel.dock_right()
        panel.set_width(400)
        gui.main_panel.dock_left()
        gui.main_panel.set_width(330)
        self._reset.on_click(lambda _: self._on_reset())
        server.on_client_connect(self._meet)
        self._floor()

    def run(self, until: Callable[[], bool]) -> None:
        """Draw at `RATE` until a condition holds."""
        due = time.monotonic()
        while not until():
            if not self._server.get_clients():
                time.sleep(0.1)
                due = time.monotonic()
                continue
            self.draw()
            due = max(due + 1 / RATE, time.monotonic() - 1 / RATE)
            time.sleep(max(0.0, due - time.monotonic()))

    def draw(self) -> None:
        """Draw what the source shows now."""
        robot = self._source.robot
        if robot is None:
            return
        if robot is not self._robot:
            self._use(robot)
        picture = self._source.picture()
        if picture is None or self._scene is None or self._plots is None:
            return
        with self._server.atomic():
            self._scene.move(picture.q)
            self._aim(self._scene)
            self._scene.mark(picture.status.collision, picture.status.contact_link)
            self._arrows.draw(robot.model, picture)
        if self._ticks % 3 == 0:
            self._plots.draw(self._source.window(SPAN, POINTS))
        if self._ticks % 6 == 0:
            self._write(picture)
        self._ticks += 1
        self.extra()

    def _write(self, picture: Picture) -> None:
        _set(self._banner, status_panel.banner(picture))
        _set(self._facts, status_panel.facts(picture))
        _set(self._problems, status_panel.problems(picture.status))
        label, fine = status_panel.fine(picture.status)
        _set(self._fine, fine)
        if self._fine_folder.label != label:
            self._fine_folder.label, self._fine_folder.visible = label, bool(label)
        if self._reset.disabled == picture.status.collision:
            self._reset.disabled = not picture.status.collision

    def _use(self, robot: ShownRobot) -> None:
        """Show another robot."""
        if self._scene is not None:
            self._scene.remove()
        if self._plots is not None:
            self._plots.remove()
        self._scene, self._robot = RobotScene(self._server, robot), robot
        self._plots = Plots(self._server, self._efforts, self._externals, robot.model)
        self._aimed.clear()

    def _meet(self, client: viser.ClientHandle) -> None:
        """Tell a phone by the shape of its picture, which a browser first tells without the panels."""
        self._hidden[client.client_id] = HIDDEN if client.camera.aspect < 0.75 else 0.0

    def _aim(self, scene: RobotScene) -> None:
        """Let new browsers show the arm as it stands, and again where the picture changes its shape before the view."""
        for number, client in self._server.get_clients().items():
            aspect, (shown, position) = client.camera.aspect, self._aimed.get(number, (0.0, client.camera.position))
            same_view = np.allclose(client.camera.position, position, atol=1e-3)
            if number not in self._hidden or aspect == shown or not same_view:
                continue
            for each in (self._server.initial_camera, client.camera):  # the first is for "Reset View"
                each.position, each.look_at = camera(scene.points(), aspect, self._hidden[number])
                each.fov = FIELD_OF_VIEW
            self._aimed[number] = aspect, self._server.initial_camera.position

    def _on_reset(self) -> None:
        def act() -> None:
            if problem := self._source.reset():
                for client in self._server.get_clients().values():
                    client.add_notification("Reset collision", problem[: status_panel.MAX_TEXT], color="red")

        threading.Thread(target=act, daemon=True).start()

    def _add_toggle(self, name: str, label: str) -> None:
        box = self._server.gui.add_checkbox(label, initial_value=True)

        def take(_: Any) -> None:
            self._arrows.visible[name] = box.value

        box.on_update(take)

    def _floor(self) -> None:
        scene = self._server.scene
        scene.configure_environment_map(None)  # its light makes the colours of arrows and links pale
        scene.add_light_ambient("/light", intensity=0.8)  # from everywhere: no side of a link is black
        scene.add_grid("/floor", width=4.0, height=4.0, cell_size=0.1, section_size=0.5, position=(0.0, 0.0, -0.001))
        scene.add_frame("/base", axes_length=0.12, axes_radius=0.004)


def _set(part: Any, text: str) -> None:
    if part.content != text:
        part.content = text
