# SPDX-License-Identifier: Apache-2.0
"""Parameter files of the node: which sections count, and what is refused."""

import pytest

from ros2_dyn.errors import InputError
from ros2_dyn.runtime.parameter_files import read_parameter_file


@pytest.fixture
def path(tmp_path):
    return tmp_path / "arm.yaml"


def test_sections_of_the_node_and_of_every_node_count_and_later_ones_replace_earlier_ones(path):
    path.write_text(
        "/**: {ros__parameters: {states: {timeout: 0.2}, commands: {slew_rate: 3}, use_sim_time: true}}\n"
        "mock_arm: {ros__parameters: {publish_rate: 100.0}}\n"
        "left: {dynamics: {ros__parameters: {states.timeout: 3e-1}}}\n"
    )
    settings = read_parameter_file(path)
    assert (settings.states.timeout, settings.commands.slew_rate) == (0.3, 3.0)


def test_one_section_counts_whatever_its_node_is_called(path):
    path.write_text("/left/left_dynamics: {ros__parameters: {states: {timeout: 0.2}}}\n")
    assert read_parameter_file(path).states.timeout == 0.2


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("- 1", "has no mapping 'ros__parameters'"),
        ("{", "cannot be read"),
        ("[" * 5000, "cannot be read"),
        ("a: &a {ros__parameters: {}}\nb: *a", "it uses an alias"),
        ("a: {ros__parameters: {joints: [], joints: []}}", "the key 'joints' is given twice"),
        ("a: {ros__parameters: {nose: 1}}", "nose: there is no such parameter"),
        ("a: {ros__parameters: {}}\nb: {ros__parameters: {}}", "expected those of one node `dynamics`, got /a, /b"),
        ("/a/dynamics: {ros__parameters: {}}\n/b/dynamics: {ros__parameters: {}}", "got /a/dynamics, /b/dynamics"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused(path, text, problem):
    path.write_text(text)
    with pytest.raises(InputError, match=problem.replace("(", r"\(")):
        read_parameter_file(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_parameter_file(path.with_name("none.yaml"))
