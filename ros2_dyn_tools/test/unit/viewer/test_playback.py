# SPDX-License-Identifier: Apache-2.0
"""The time that a recording is shown at."""

from ros2_dyn_tools.viewer.playback import Player


def test_player_stands_plays_pauses_and_goes_on():
    player = Player(10.0)
    assert player.at(100.0) == 0.0
    player.play(100.0)
    assert player.at(102.5) == 2.5
    player.pause(103.0)
    assert player.at(200.0) == 3.0
    player.play(200.0)
    assert player.at(201.0) == 4.0


def test_speed_changes_from_now_on():
    player = Player(100.0)
    player.play(0.0)
    player.set_speed(5.0, 2.0)
    assert player.at(4.0) == 12.0
    player.set_speed(0.1, 4.0)
    assert player.at(14.0) == 13.0


def test_seek_stays_within_the_recording_and_goes_on_playing():
    player = Player(10.0)
    player.play(0.0)
    player.seek(7.0, 1.0)
    assert player.at(2.0) == 8.0
    player.seek(-3.0, 2.0)
    assert player.at(2.0) == 0.0
    player.seek(99.0, 3.0)
    assert player.at(3.0) == 10.0


def test_player_stops_at_the_end_and_begins_again_from_there():
    player = Player(10.0)
    player.play(0.0)
    assert player.at(30.0) == 10.0
    player.pause(30.0)
    player.play(31.0)
    assert player.at(32.0) == 1.0
