# SPDX-License-Identifier: Apache-2.0
"""Installs the package; ROS 2 (colcon) and pip both read this file."""

from glob import glob

from setuptools import find_packages, setup

package_name = "ros2_dyn"

setup(
    name=package_name,
    version="0.2.0",
    packages=find_packages(exclude=["test"]),
    package_data={package_name: ["py.typed", "kernels/*.c", "kernels/*.h"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{package_name}"]),
        (f"share/{package_name}", ["package.xml"]),
        (f"share/{package_name}/config", glob("config/*")),
        (f"share/{package_name}/launch", glob("launch/*.launch.py")),
    ],
    python_requires=">=3.10",
    install_requires=["numpy", "pyyaml", "rich", "scipy", "urdf-parser-py"],
    extras_require={
        "audit": ["pycollada", "trimesh"],
        "report": ["matplotlib", "plotly>=6", "rosbags"],
        "black_box": ["mcap"],
        "cluster": ["distributed"],
        "excite": ["pin"],
        "jax": ["jax"],
        "retime": ["toppra"],
        "view": ["mcap", "pycollada", "rosbags", "trimesh", "viser>=1.1"],
        "test": ["pytest"],
    },
    zip_safe=False,
    maintainer="ros2_dyn maintainers",
    maintainer_email="maintainers@ros2-dyn.example",
    description="Rigid-body dynamics of any URDF robot arm: a Python library and a ROS 2 node.",
    license="Apache-2.0",
    entry_points={
        "console_scripts": [
            "dynamics_node = ros2_dyn.ros.dynamics_node:main",
            "mock_arm_node = ros2_dyn.ros.mock_arm_node:main",
            "retime_node = ros2_dyn.ros.retime_node:main",
            "demo = ros2_dyn.demos.main:main",
            "ros2_dyn = ros2_dyn.cli.main:main",
        ],
    },
)
