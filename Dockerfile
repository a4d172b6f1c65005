# The packages of this checkout in a container: docs/installation.md says how it is started.
# The last stage runs them (compose.yaml); the stage `development` has what building and testing needs (.devcontainer).
ARG ROS_DISTRO=jazzy

FROM ros:${ROS_DISTRO}-ros-base AS dependencies
WORKDIR /ws
# The manifests alone: a change of the sources installs nothing anew.
COPY ros2_dyn/package.xml src/ros2_dyn/
COPY ros2_dyn_controllers/package.xml src/ros2_dyn_controllers/
COPY ros2_dyn_interfaces/package.xml src/ros2_dyn_interfaces/
COPY ros2_dyn_tools/package.xml src/ros2_dyn_tools/
# python3-dev: the node compiles its kernels with Python's headers when it starts.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends python3-dev python3-venv \
    && rosdep update --rosdistro "$ROS_DISTRO" \
    && rosdep install --from-paths src --ignore-src --yes --dependency-types exec \
    && rm -rf /var/lib/apt/lists/*

FROM dependencies AS development
RUN apt-get update \
    && apt-get install --yes --no-install-recommends python3-pytest-cov python3-pytest-timeout \
    && rosdep install --from-paths src --ignore-src --yes \
    && rm -rf /var/lib/apt/lists/* \
    && echo 'source "/opt/ros/$ROS_DISTRO/setup.bash"' >>/etc/bash.bashrc

FROM development AS build
COPY ros2_dyn src/ros2_dyn
COPY ros2_dyn_controllers src/ros2_dyn_controllers
COPY ros2_dyn_interfaces src/ros2_dyn_interfaces
COPY ros2_dyn_tools src/ros2_dyn_tools
RUN . "/opt/ros/$ROS_DISTRO/setup.sh" \
    && colcon build --merge-install --install-base /opt/ros2_dyn

FROM dependencies AS run
# What the page needs is no package of the distribution. NumPy stays the distribution's, which its extensions need.
RUN python3 -m venv --system-site-packages /opt/venv \
    && /opt/venv/bin/pip install --no-cache-dir \
        "numpy==$(python3 -c 'import numpy; print(numpy.__version__)')" "viser>=1.1"
ENV PATH=/opt/venv/bin:$PATH
COPY --from=build /opt/ros2_dyn /opt/ros2_dyn
RUN useradd --create-home ros
USER ros
WORKDIR /home/ros
# With --, so that the script reads none of the command's arguments; with exec, so that a stop reaches the command.
ENTRYPOINT ["bash", "-c", "source /opt/ros2_dyn/setup.bash -- && exec \"$@\"", "bash"]
CMD ["bash"]
