# Each target makes its own environment first: see scripts/ros2_env.
ENV := scripts/ros2_env
TEST_ENV := $(ENV) --with-tests
SOURCES := ros2_dyn bench

.PHONY: demo test bench bench-collision bench-node bench-retiming campaign doctor-table rooms lint format clean

demo: ## a simulated arm and the node over ROS 2; MODE=hand_guiding, force, impedance, feed_forward, collision or identify; DURATION, s; PACE
	@$(ENV) python -m ros2_dyn.demos.main $(if $(MODE),--mode $(MODE)) $(if $(DURATION),--duration $(DURATION)) $(if $(PACE),--pace $(PACE))

test: lint ## linters, types and the tests; FULL=1: all robots and cases, which takes longer
	@$(TEST_ENV) python -m pytest -n $(or $(WORKERS),2) --dist worksteal

bench: ## ours, Pinocchio, MuJoCo, Robotics Toolbox and JAX libraries side by side; JSON and a plot under .ros2/bench
	@XLA_FLAGS=--xla_cpu_multi_thread_eigen=false $(ENV) --with-benchmarks python bench .ros2/bench

bench-collision: ## random contacts on simulated arms: missed, false, late; BANDWIDTH of the observer, 1/s; SEED
	@$(ENV) --with-benchmarks python bench/collision .ros2/bench $(or $(BANDWIDTH),25) $(or $(SEED),1)

bench-node: ## the node beside a floor that computes nothing: CPU and latency by rate; memory over SOAK seconds
	@$(ENV) --with-benchmarks python bench/node .ros2/bench $(or $(SOAK),600)

bench-retiming: ## timings of PATHS random paths of a Panda and a UR10: what they use of the limits, how long it takes
	@$(TEST_ENV) python bench/retiming $(or $(PATHS),100)

campaign: ## FAULTS random faults in random worlds, in virtual time; SEED; WORKERS
	@$(TEST_ENV) python -m ros2_dyn campaign --faults $(or $(FAULTS),100000) --seed $(or $(SEED),1) \
		$(if $(WORKERS),--workers $(WORKERS))

doctor-table: ## what the doctor says of recordings made wrong in each way, of real and simulated arms: half an hour
	@$(TEST_ENV) python ros2_dyn/test/support/doctor_table.py

rooms: ## files, lines and imports of each folder of the package
	@python3 ros2_dyn/test/support/rooms.py

lint:
	@$(TEST_ENV) python -m ruff check --no-cache --output-format concise $(SOURCES)
	@$(TEST_ENV) python -m ruff format --no-cache --check $(SOURCES)
	@$(TEST_ENV) python -m mypy --cache-dir .ros2/mypy_cache

format:
	@$(TEST_ENV) python -m ruff check --no-cache --fix --exit-zero --quiet $(SOURCES)
	@$(TEST_ENV) python -m ruff format --no-cache $(SOURCES)

clean: ## remove the environment and all that was built
	rm -rf .ros2 build install log
