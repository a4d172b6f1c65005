# SPDX-License-Identifier: Apache-2.0
"""Installs the package; ROS 2 (colcon) and pip both read this file."""

from setuptools import find_packages, setup

package_name = "ros2_dyn_tools"

COMMANDS = (
    "campaign",
    "doctor",
    "excite",
    "identify",
    "layouts",
    "passport",
    "replay",
    "retime",
    "view",
)
"""Commands that this package adds to `ros2_dyn`; each is a module of the room `cli`."""

setup(
    name=package_name,
    version="0.2.0",
    packages=find_packages(exclude=["test"]),
    package_data={package_name: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{package_name}"]),
        (f"share/{package_name}", ["package.xml"]),
    ],
    python_requires=">=3.10",
    install_requires=["numpy", "pyyaml", "rich", "ros2_dyn", "scipy"],
    extras_require={
        "report": ["plotly>=6", "rosbags"],
        "black_box": ["mcap"],
        "campaign": ["matplotlib"],
        "excite": ["pin"],
        "retime": ["toppra"],
        "view": ["mcap", "pycollada", "rosbags", "trimesh", "viser>=1.1", "websockets"],
        "test": ["pytest"],
    },
    zip_safe=False,
    maintainer="ros2_dyn maintainers",
    maintainer_email="maintainers@ros2-dyn.example",
    description="Tools for robot arms: identification, doctor, reports, timing, viewer, campaigns and demos.",
    license="Apache-2.0",
    entry_points={
        "console_scripts": [
            "demo = ros2_dyn_tools.demos.main:main",
            "retime_node = ros2_dyn_tools.ros.retime_node:main",
        ],
        "ros2_dyn.commands": [f"{name} = ros2_dyn_tools.cli.{name.replace('-', '_')}" for name in COMMANDS],
    },
)
