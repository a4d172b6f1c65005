# Each target makes its own environment first: see scripts/ros2_env.
ENV := scripts/ros2_env
TEST_ENV := $(ENV) --with-tests
SOURCES := ros2_dyn bench

.PHONY: demo test bench bench-collision bench-node bench-faults lint format clean

demo: ## a simulated arm and the node talk ROS 2; MODE=hand_guiding, force, feed_forward or collision; DURATION, s
	@$(ENV) python -m ros2_dyn.demos.main $(if $(MODE),--mode $(MODE)) $(if $(DURATION),--duration $(DURATION))

test: lint ## linters, types and every test
	@$(TEST_ENV) python -m pytest

bench: ## ours, Pinocchio, MuJoCo and Robotics Toolbox side by side; JSON and a plot under .ros2/bench
	@$(ENV) --with-benchmarks python bench .ros2/bench

bench-collision: ## random contacts on simulated arms: missed, false, late; BANDWIDTH of the observer, 1/s; SEED
	@$(ENV) --with-benchmarks python bench/collision .ros2/bench $(or $(BANDWIDTH),25) $(or $(SEED),1)

bench-node: ## the node beside a floor that computes nothing: CPU and latency by rate; memory over SOAK seconds
	@$(ENV) --with-benchmarks python bench/node .ros2/bench $(or $(SOAK),600)

bench-faults: ## REPEATS faults of each kind in each mode, 75 minutes for 100: what left that must not
	@rm -f .ros2/bench/faults.jsonl && mkdir -p .ros2/bench
	@ROS2_DYN_REPEATS=$(or $(REPEATS),100) ROS2_DYN_COUNTS=.ros2/bench/faults.jsonl \
		$(TEST_ENV) python -m pytest -q ros2_dyn/test/test_command_faults.py; cat .ros2/bench/faults.jsonl

lint:
	@$(TEST_ENV) python -m ruff check --no-cache --output-format concise $(SOURCES)
	@$(TEST_ENV) python -m ruff format --no-cache --check $(SOURCES)
	@$(TEST_ENV) python -m mypy --cache-dir .ros2/mypy_cache

format:
	@$(TEST_ENV) python -m ruff check --no-cache --fix --exit-zero --quiet $(SOURCES)
	@$(TEST_ENV) python -m ruff format --no-cache $(SOURCES)

clean: ## remove the environment and all that was built
	rm -rf .ros2 build install log
