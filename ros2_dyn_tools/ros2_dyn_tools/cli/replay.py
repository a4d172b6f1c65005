# SPDX-License-Identifier: Apache-2.0
"""`ros2_dyn replay`: step a runtime through the recording of a black box, and tell whether it decides the same."""

from __future__ import annotations

import argparse
from pathlib import Path

from ros2_dyn.errors import ReplayDiffers, printable
from ros2_dyn.runtime.input_records import NAMES, Decision
from ros2_dyn_tools.recording import black_box_reader
from ros2_dyn_tools.recording.replay import Replayed, replay


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("file", type=Path, metavar="FILE", help="an MCAP file that a node or a campaign has written")


def run(arguments: argparse.Namespace) -> None:
    """Print the decisions as a table, and whether they are the recorded ones.

    Raises:
        InputError: the file cannot be read.
        ReplayDiffers: a decision is not the recorded one.
    """
    recording, about = black_box_reader.read(arguments.file)
    replayed = list(replay(recording))
    print(f"{arguments.file}: {printable(about.reason)}, at {recording.taken_at:.4f} s")
    print(f"{'time, s':>12}  {'input':<17} {'mode':<12} decision")
    print(*_lines(replayed), sep="\n")
    if difference := about.difference():
        print(f"recorded with {printable(difference)}")
    different = [each for each in replayed if not each.same]
    if different:
        raise ReplayDiffers(len(different), len(replayed), different[0].now)
    commanded = [each for each in replayed if each.compared and each.decision.effort is not None]
    largest = max((each.difference for each in commanded), default=0.0)
    exactness = "bit for bit" if largest == 0 else f"within {largest:.1g} N m or N"
    what = "decisions" if recording.begins.whole else "modes"
    print(f"the same {what}: {len(replayed)} inputs, {len(commanded)} commands {exactness}")
    if not recording.begins.whole:
        print("the record begins amid the run of the node: filters and observers had to settle, so commands differ")


def _lines(replayed: list[Replayed]) -> list[str]:
    """Return the decisions that change something: modes, events, replies; and all that differ.

    What is repeated is one line, at its first time, with a count.
    """
    lines: list[tuple[str, str]] = []
    counts: list[int] = []
    mode = ""
    for each in replayed:
        recorded = each.recorded
        words = _words(recorded)
        if recorded.mode != mode or words or not each.same:
            text = f"{NAMES.get(type(each.given), '?'):<17} {printable(recorded.mode):<12} {_verdict(each)}{words}"
            if lines and lines[-1][1] == text:
                counts[-1] += 1
            else:
                lines.append((f"{each.now:12.4f}", text))
                counts.append(1)
        mode = recorded.mode
    return [f"{at}  {text}{f' ({n} times)' if n > 1 else ''}" for (at, text), n in zip(lines, counts)]


def _words(decision: Decision) -> str:
    """Return events and replies in words."""
    words = [event.text for event in decision.events if event.logged]
    words += [f"reply: {reply.error or 'done'}" for reply in decision.replies]
    words += ["a failsafe process is asked for"] * decision.failsafe
    return printable("; ".join(words))


def _verdict(each: Replayed) -> str:
    """Return how a decision differs; an empty text where it is the same."""
    if each.same:
        return ""
    if each.decision._replace(effort=None) == each.recorded._replace(effort=None):
        return f"DIFFERS: command by {each.difference:.3g} N m or N; recorded: "
    return f"DIFFERS: {each.decision.mode}, {_words(each.decision) or 'no event'}; recorded: "
