"""Rigid-body dynamics for any URDF arm: the library, and the ROS 2 node that is one of its users."""
