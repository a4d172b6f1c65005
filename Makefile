# Each target makes its own environment first: see scripts/ros2_env.
ENV := scripts/ros2_env
TEST_ENV := $(ENV) --with-tests
TYPES := python -m mypy --cache-dir .ros2/mypy_cache
DOCS_ENV := $(ENV) --with-docs
SOURCES := ros2_dyn ros2_dyn_tools ros2_dyn_controllers bench examples docs scripts

.PHONY: demo test docs docs-links bench bench-gpu bench-collision bench-failsafe bench-node campaign campaign-carried mutations diagrams doctor-calibration doctor-table rooms lint style format clean

demo: ## a simulated arm and the node over ROS 2; MODE=hand_guiding, force, impedance, handover, feed_forward, collision or identify; DURATION, s; PACE; VIEW=1: in the browser, too
	@$(ENV) python -m ros2_dyn_tools.demos.main $(if $(MODE),--mode $(MODE)) $(if $(DURATION),--duration $(DURATION)) $(if $(PACE),--pace $(PACE)) $(if $(VIEW),--view)

test: style ## linters, types and the tests; FULL=1: all robots and cases, which takes longer
	@$(TEST_ENV) bash -c '$(TYPES) >.ros2/types.txt & python -m pytest -n $(or $(WORKERS),2) --dist worksteal; \
		tests=$$?; wait $$!; types=$$?; cat .ros2/types.txt; exit $$((tests | types))'

docs: ## the documentation as a site in .ros2/docs/html; warnings are errors, links and examples are checked
	@$(TEST_ENV) python -m pytest -q -n 0 ros2_dyn_tools/test/unit/test_docs.py ros2_dyn_tools/test/system/test_readme.py
	@$(DOCS_ENV) python -m sphinx -E -W -n --keep-going -q -b html docs .ros2/docs/html
	@echo "open .ros2/docs/html/index.html"

docs-links: ## the same links, and those to other sites, which needs a network
	@ROS2_DYN_DOCS_ONLINE=1 $(DOCS_ENV) python -m sphinx -E -q -b linkcheck docs .ros2/docs/links

bench: ## ours, Pinocchio and MuJoCo side by side; JSON and a plot under .ros2/bench
	@XLA_FLAGS=--xla_cpu_multi_thread_eigen=false $(ENV) --with-benchmarks python bench .ros2/bench

bench-gpu: ## batches of inverse dynamics and mass matrices on JAX's device, beside frax and bard where they are installed
	@$(ENV) --with-benchmarks python bench/gpu .ros2/bench

bench-collision: ## random contacts on simulated arms: missed, false, late; BANDWIDTH of the observer, 1/s; SEED
	@$(ENV) --with-benchmarks python bench/collision .ros2/bench $(or $(BANDWIDTH),25) $(or $(SEED),1)

bench-failsafe: ## the node killed, stopped, terminated and starved in each mode, TRIALS times each: how far its arm goes
	@PYTHONPATH=ros2_dyn/test/support $(TEST_ENV) python bench/failsafe --trials $(or $(TRIALS),20)

bench-node: ## the node beside a floor that computes nothing: CPU and latency by rate; memory over SOAK seconds
	@$(ENV) --with-benchmarks python bench/node .ros2/bench $(or $(SOAK),600)

campaign: ## FAULTS random faults in random worlds, in virtual time; SEED; WORKERS
	@$(TEST_ENV) python -m ros2_dyn campaign --faults $(or $(FAULTS),100000) --seed $(or $(SEED),1) \
		$(if $(WORKERS),--workers $(WORKERS))

campaign-carried: ## worlds whose arm the compiled controller carries, and as without it; FAULTS of each family; SEED; WORKERS
	@PYTHONPATH=ros2_dyn/test/support:ros2_dyn_controllers/test/support $(TEST_ENV) \
		python ros2_dyn_controllers/test/support/carried_world.py \
		--faults $(or $(FAULTS),1000) --seed $(or $(SEED),1) --workers $(or $(WORKERS),2)

mutations: ## deliberate faults in the code, one after the other: how many faults a campaign plays until it finds each
	@PYTHONPATH=ros2_dyn_tools/test/support $(TEST_ENV) python ros2_dyn_tools/test/support/mutations.py

diagrams: ## the state diagrams of docs/, drawn from their .dot files; needs Graphviz
	@for name in modes supervision; do dot -Tsvg docs/$$name.dot >docs/$$name.svg && \
		echo "<!-- sha256 of $$name.dot: $$(sha256sum <docs/$$name.dot | cut -c -64) -->" >>docs/$$name.svg || exit 1; done

doctor-table: ## what the doctor says of recordings made wrong in each way, of real and simulated arms: half an hour
	@PYTHONPATH=ros2_dyn/test/support:ros2_dyn_tools/test/support $(TEST_ENV) python bench/doctor

doctor-calibration: ## how many of the doctor's findings are right, by confidence, on simulated arms: ten minutes
	@PYTHONPATH=ros2_dyn/test/support:ros2_dyn_tools/test/support $(TEST_ENV) python bench/doctor/calibration.py

rooms: ## files, lines and imports of each folder of the packages
	@PYTHONPATH=ros2_dyn_tools/test/support python3 scripts/room_table.py

lint: style
	@$(TEST_ENV) $(TYPES)

style:
	@$(TEST_ENV) python -m ruff check --no-cache --output-format concise $(SOURCES)
	@$(TEST_ENV) python -m ruff format --no-cache --check $(SOURCES)

format:
	@$(TEST_ENV) python -m ruff check --no-cache --fix --exit-zero --quiet $(SOURCES)
	@$(TEST_ENV) python -m ruff format --no-cache $(SOURCES)

clean: ## remove the environment and all that was built
	rm -rf .ros2 build install log
