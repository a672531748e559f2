# Everything a newcomer or CI runs. The environment lives in .venv and is made on first use.
SHELL := /bin/bash
VENV := .venv
PY := $(VENV)/bin/python
READY := $(VENV)/.ready
# Without the last option xdist starts a crashed process again and again, or waits for it for ever.
ONCE := --max-worker-restart=0
FAST := $(PY) -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder $(ONCE)
# What is interpreted compiles nothing that tests of a file would share, so that it can be dealt out
# to the last test: it steps back for the others, and fills both cores when they are done.
EVENLY := nice -n 10 $(PY) -m pytest -q -n 2 --dist worksteal $(ONCE)
KERNELS := tests/equivalence tests/dataflow tests/live tests/unit/engine tests/unit/kernels \
  tests/unit/api/test_tables.py tests/unit/programs/test_tolerance_bound.py tests/unit/store/test_lean.py \
  tests/unit/tools/test_compile_library.py tests/damage/test_derived.py \
  tests/failures/test_days.py tests/failures/test_limits.py tests/failures/test_log.py \
  $(addprefix tests/scenario/test_, bench_cluster.py bench_headlines.py bench_live.py docs.py \
  edge_properties.py graph_runs.py memory_api.py memory_runs.py named_vertices.py pair_pieces.py pairs.py queries.py \
  run_kill.py run_statement.py runs.py vertex_properties.py walk_programs.py walk_rows.py)
REACHED := build/reached
# A folder in memory, for what waits for no disk.
MEMORY := $(wildcard /dev/shm)
CLASSES := build/spark.jsa
# Tests start hundreds of processes, each of which would compile all modules where the environment
# has Python keep no bytecode: three seconds of a processor instead of one.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help demo test fast compiled interpreted checks lint types layers spark bench campaign page checked mutants reference wheel \
  hashes notice pictures site clean

help:
	@echo "make demo      install, then load a million calls, define views, run programs over them"
	@echo "make test      install, then lint, type check, layer check, the documentation site and all tests"
	@echo "make fast      the tests that need no JVM"
	@echo "make bench     all figures of docs/benchmarks.md, beside other libraries (an hour)"
	@echo "make campaign  the long randomised tests"
	@echo "make checked   the campaigns interpreted, and compiled with every index checked"
	@echo "make mutants   break rules of the engine, one at a time, and see that the tests notice"
	@echo "make wheel     a wheel that brings machine code of the library (some minutes)"
	@echo "make hashes    hashes of all files of the pinned versions, for pip (asks the index)"
	@echo "make notice    the licences of all that an installation brings"
	@echo "make reference the page of all docstrings"
	@echo "make pictures  the pictures of the documentation, drawn by its own pages"
	@echo "make page      the libraries of the page in the browser, from npm's packages"
	@echo "make site      the documentation as a site, every link followed"
	@echo "make clean     remove the environment and everything generated"

$(READY): pyproject.toml constraints.txt tools/make_venv.sh
	@bash tools/make_venv.sh $(VENV)
	@touch $@

demo: $(READY)
	$(PY) -m demo

lint: $(READY)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .

types: $(READY)
	$(VENV)/bin/mypy
	$(PY) tools/page/build.py types

# The libraries of the page, as the repository has them: for whoever changes their versions.
page: $(READY)
	$(PY) tools/page/build.py vendor

layers: $(READY)
	$(VENV)/bin/lint-imports --no-cache

fast: compiled interpreted

compiled: $(READY)
	$(FAST) -m "not spark and not interpreted"

interpreted: $(READY)
	rm -rf $(REACHED)
	NUMBA_DISABLE_JIT=1 GRAPHTIDE_SHARE=1 GRAPHTIDE_REACHED=$(REACHED) $(EVENLY) \
	  -m "not spark and not compiled" $(KERNELS)
	$(PY) tools/kernels_reached.py $(REACHED)

# Without it tests take longer, and no more than that.
$(CLASSES): $(READY)
	-$(PY) -m tests.java $@

# Only files that have such tests: to import all others takes each process ten seconds.
spark: $(CLASSES)
	$(FAST) -m spark \
	  $$(grep -rl --include='test_*.py' 'mark\.spark' tests | sort)

# Tests with Spark often wait for a JVM, and what has one thread leaves a core: all run side by side.
test: lint
	$(MAKE) --no-print-directory --jobs 4 compiled interpreted spark checks

checks: layers site types

campaign: $(READY)
	GRAPHTIDE_CAMPAIGN=1 GRAPHTIDE_CAMPAIGN_EXAMPLES=200 $(PY) -m pytest -q --timeout 7200 \
	  tests/equivalence tests/property tests/dataflow tests/damage tests/scenario/test_docs.py tests/scenario/test_bench.py \
	  tests/spark/test_collections.py tests/spark/test_executor_kill.py tests/spark/test_failing_tasks.py \
	  tests/spark/test_ingest_csv.py tests/spark/test_ingest_real.py tests/spark/test_masters.py \
	  tests/spark/test_skew.py tests/spark/test_streams.py
	TMPDIR=$(MEMORY) $(PY) -m tests.failures "kills --minutes 10" "signals --minutes 10" "calls --minutes 10" \
	  "power --minutes 10" "stored --minutes 10"
	TMPDIR=$(MEMORY) $(PY) -m tests.live.splits_campaign --minutes 10
	$(PY) -m tests.failures.hostile --minutes 10
	$(PY) -m tests.failures.fuzz --minutes 60
	$(PY) -m tests.failures.memory --failures 5000 --minutes 30

checked: $(READY)
	rm -rf $(REACHED)
	NUMBA_DISABLE_JIT=1 GRAPHTIDE_REACHED=$(REACHED) GRAPHTIDE_INDICES=1 GRAPHTIDE_CAMPAIGN_EXAMPLES=20 \
	  $(PY) -m pytest -q -n 2 --timeout 7200 -m "not spark and not compiled" $(KERNELS)
	$(PY) tools/kernels_reached.py $(REACHED)
	NUMBA_BOUNDSCHECK=1 $(PY) -m pytest -q -n 2 --timeout 3600 -m "not spark and not interpreted" $(KERNELS)

mutants: $(READY)
	$(PY) tools/mutants.py

bench: $(READY)
	$(PY) -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[bench]"
	$(PY) -m bench all

reference: $(READY)
	$(PY) tools/reference.py

hashes: $(READY)
	$(PY) tools/hashes.py

notice: $(READY)
	$(PY) tools/components.py

wheel: $(READY)
	$(PY) tools/make_wheel.py dist

pictures: $(READY)
	$(PY) -m tools.pictures

site: $(READY)
	$(PY) tools/site.py

clean:
	rm -rf $(VENV) .cache build dist demo-output bench-output .pytest_cache .mypy_cache .ruff_cache .hypothesis
