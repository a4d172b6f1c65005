# SPDX-License-Identifier: Apache-2.0
"""Play, pause, scrub and speed: the time that a recording is shown at, and its controls."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from ros2_dyn_tools.viewer.picture import EffortWindow, Picture, ShownRobot
from ros2_dyn_tools.viewer.plots import SPAN
from ros2_dyn_tools.viewer.timeline import Timeline

if TYPE_CHECKING:
    import viser

STEP = 0.01
"""Resolution of the slider, s."""


class Player:
    """Where in a recording the page is. Times of the clock are arguments."""

    def __init__(self, duration: float) -> None:
        """Stand at the beginning of a recording of a duration, s."""
        self.duration = duration
        self._speed, self._playing = 1.0, False
        self._from, self._since = 0.0, 0.0

    @property
    def playing(self) -> bool:
        """Whether it plays."""
        return self._playing

    def at(self, now: float) -> float:
        """Return the recorded time, s; at the end it stays there."""
        moved = self._speed * (now - self._since) if self._playing else 0.0
        return min(self._from + moved, self.duration)

    def play(self, now: float) -> None:
        """Go on, from the beginning where the end is reached."""
        at = self.at(now)
        self._from, self._since, self._playing = 0.0 if at >= self.duration else at, now, True

    def pause(self, now: float) -> None:
        """Stand still."""
        self._from, self._playing = self.at(now), False

    def seek(self, at: float, now: float) -> None:
        """Go to a recorded time, s."""
        self._from, self._since = min(max(at, 0.0), self.duration), now

    def set_speed(self, speed: float, now: float) -> None:
        """Set recorded time over time."""
        self._from, self._since, self._speed = self.at(now), now, speed


class PlaybackSource:
    """A timeline as a source of pictures, at the time of a player."""

    can_reset = False

    def __init__(self, timeline: Timeline) -> None:
        """Stand where the plots, which end at the shown moment, are full, or at the end of what is shorter."""
        self.timeline, self.player = timeline, Player(timeline.duration)
        self.player.seek(SPAN, 0.0)

    @property
    def robot(self) -> ShownRobot:
        """See `Source`."""
        return self.timeline.robot

    def picture(self) -> Picture:
        """See `Source`."""
        return self.timeline.picture(self.player.at(time.monotonic()))

    def window(self, span: float, points: int) -> EffortWindow:
        """See `Source`."""
        return self.timeline.window(self.player.at(time.monotonic()), span, points)

    def reset(self) -> str:
        """See `Source`."""
        return "this is a recording: move on in it"


class PlaybackPanel:
    """The controls of a player."""

    def __init__(self, server: viser.ViserServer, folder: Any, player: Player) -> None:
        """Add them to a folder of the page."""
        self._player = player
        gui = server.gui
        folder.visible, folder.label = True, "Playback"
        with folder:
            self._toggle = gui.add_button("Play")
            self._slider: Any = gui.add_slider("time, s", 0.0, max(player.duration, STEP), STEP, player.at(0.0))
            speeds = ("0.1 x", "0.25 x", "0.5 x", "1 x", "2 x", "5 x", "20 x")
            speed = gui.add_dropdown("speed", speeds, initial_value="1 x")
        self._label = "Play"
        self._shown, self._sought_at = player.at(0.0), 0.0
        self._toggle.on_click(lambda _: self._switch())

        # In the server's loop, in the order in which they come: the newest place counts.
        async def seek(event: Any) -> None:
            if event.client is not None:  # otherwise the page itself has moved it
                self._sought_at = time.monotonic()
                player.seek(self._slider.value, self._sought_at)

        self._slider.on_update(seek)
        speed.on_update(lambda _: player.set_speed(float(speed.value.split()[0]), time.monotonic()))

    def show(self) -> None:
        """Show where the player is."""
        now = time.monotonic()
        at, label = self._player.at(now), "Pause" if self._player.playing else "Play"
        if at >= self._player.duration and self._player.playing:
            self._player.pause(now)
        if label != self._label:
            self._label = self._toggle.label = label
        # Each move is sent to every browser; what somebody has moved is left alone for a while.
        if now - self._sought_at > 0.5 and abs(at - self._shown) >= 0.1:
            self._shown = at
            self._slider.value = round(at / STEP) * STEP

    def _switch(self) -> None:
        now = time.monotonic()
        if self._player.playing:
            self._player.pause(now)
        else:
            self._player.play(now)
