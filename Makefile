# `make help` lists what can be made. Nothing else is needed than Python 3.10 to 3.13 with venv.
PYTHON ?= python3
# `make wheelhouse PYTHON=3.11` names a version; elsewhere PYTHON is a program
VERSION := $(filter 3.%,$(PYTHON))
ifneq ($(VERSION),)
override PYTHON := python3
endif
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# pip checks every file against the hashes of the lock
INSTALL := $(PIP) install --no-compile --require-hashes --only-binary :all:

# the stand-in of `make demo`: small, so that its whole curve is seen in a minute
EMULATED := --blocks 136 --max-batch-size 22 --time-scale 40 --port 0

# where it is set, each of the many processes would compile every package anew
unexport PYTHONDONTWRITEBYTECODE

# small matrices: the threads of two test workers would only wait for each other, and spin
test check unit test-pythons: export OMP_NUM_THREADS := 1

.DEFAULT_GOAL := help
.PHONY: help demo test check unit test-pythons fuzz audit wheelhouse try-wheelhouse try-containerfile wheels docs bench torture soak test-fleet test-vllm demo-vllm sample lock clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.runtime ## Tune the emulated daemon from start to report
	@rm -rf .demo && chmod go-w profiles/*.yaml
	@$(BIN)/autotune emulate --install .demo/install $(EMULATED) >&2
	@$(BIN)/autotune tune profiles/mindie-demo.yaml --yes --output reports

test: $(VENV)/.dev ## All tests
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m "not real_time"
	$(BIN)/python -m pytest -m real_time

check: $(VENV)/.dev ## Lint, types, import rules and the fast tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache >$(VENV)/lint-imports.log || { cat $(VENV)/lint-imports.log; exit 1; }
	$(MAKE) --no-print-directory unit

unit: $(VENV)/.dev ## The fast tests alone
	$(BIN)/python -m pytest -q -n 2 --dist loadgroup -m "not slow and not real_time" tests/unit

# other Pythons, as a version manager or the system has them
OTHERS ?= 3.10 3.12 3.13

test-pythons: ## The fast tests on every other Python that is here, each in an environment of its own
	@for version in $(OTHERS); do \
		python=$$(ls $$HOME/.pyenv/versions/$$version.*/bin/python$$version 2>/dev/null | tail -1); \
		python=$${python:-$$(command -v python$$version || true)}; \
		if [ -z "$$python" ]; then echo "Python $$version: not here, SKIPPED"; continue; fi; \
		echo "Python $$version: $$python"; \
		$(MAKE) --no-print-directory unit VENV=.venv-$$version PYTHON=$$python || exit 1; \
	done

# seconds of CPU for each target; REPORT= writes no page
SECONDS ?= 600
REPORT ?= reports/bench/fuzz.md

fuzz: $(VENV)/.fuzz ## Give every parser hostile input, SECONDS=600 each, or ONLY=name; writes reports/bench/fuzz.md
	$(BIN)/python -m tests.fuzz --seconds $(SECONDS) --only "$(ONLY)" $(if $(REPORT),--report $(REPORT))

wheelhouse: $(VENV)/.runtime ## All run-time wheels and our own, PLATFORM=aarch64 PYTHON=3.11, for a host without a network
	@$(BIN)/python -m tests.airgap.collect $(if $(PLATFORM),--machine $(PLATFORM)) $(if $(VERSION),--python $(VERSION))

try-wheelhouse: $(VENV)/.runtime ## Install here from such a folder alone, and run the command
	@$(BIN)/python -m tests.airgap.collect --output .wheelhouse
	@sh tests/airgap/install.sh .wheelhouse/cp* $(BIN)/python $(VENV)-airgap

try-containerfile: $(VENV)/.runtime ## Play the Containerfile over this host's root, without a network and without an engine (root)
	@$(BIN)/python -m tests.airgap.collect --output .wheelhouse
	@$(BIN)/python -m tests.airgap.image .wheelhouse/cp*

wheels: $(VENV)/.runtime ## For every locked dependency the aarch64 wheel of each Python; writes reports/bench/wheels.md
	@$(BIN)/python -m tests.airgap.table --report reports/bench/wheels.md

docs: $(VENV)/.dev ## Write the pages that are made from the code: command line, messages, report.json
	@$(BIN)/python -m tests.docs

audit: $(VENV)/.dev ## Known weaknesses of the locked packages, and bandit over the code
	$(BIN)/python -m tests.security.audit

bench: $(VENV)/.dev ## Measure the hot paths beside their rivals; on a quiet machine, writes reports/bench
	@mkdir -p reports/bench
	$(BIN)/python tests/bench/simulator_speed.py | tee reports/bench/simulator.txt
	$(BIN)/python tests/bench/emulator_real_time.py | tee reports/bench/emulator.txt
	$(BIN)/python tests/bench/dead_time.py | tee reports/bench/dead_time.txt
	$(BIN)/python tests/bench/report_speed.py | tee reports/bench/report.txt
	$(BIN)/python -m tests.bench.load.bench all --seconds 20 $(if $(PEERS),--peers $(PEERS)) | tee reports/bench/load.txt
	$(BIN)/python -m tests.bench.search --split test --repetitions 1 --noise 0.02 --workers 2 | tee reports/bench/search.txt

test-fleet: $(VENV)/.dev ## Four agents on one study; PostgreSQL must be installed
	AUTOTUNE_REQUIRE_POSTGRESQL=1 $(BIN)/python -m pytest -m fleet

MINUTES ?= 45
# without SECONDS=180 on the command line all of it, and its table
TORTURE = $(if $(findstring command,$(origin SECONDS)),--seconds $(SECONDS),--output reports/bench/torture.md)

torture: $(VENV)/.dev ## Kill campaigns at random instants and worse; all of it, or for SECONDS=180
	@mkdir -p reports/bench
	$(BIN)/python -m tests.torture $(TORTURE)

soak: $(VENV)/.dev ## One campaign of MINUTES=45 at 1,000 streams: memory, descriptors, drift
	@mkdir -p reports/bench
	$(BIN)/python -m tests.soak --minutes $(MINUTES) --output reports/bench/soak.md

# a clean machine is done within 20 minutes, setting up included
test-vllm: $(VENV)/.dev ## Real vLLM on CPU: contract, deaths, a campaign (3.4 GB, 15 minutes, a quiet machine)
	sh tests/integration/vllm/setup.sh .venv-vllm $(PYTHON)
	AUTOTUNE_VLLM=$(CURDIR)/.venv-vllm $(BIN)/python -m pytest -m real_vllm --durations=0 --durations-min=5 tests/contracts tests/integration/vllm

demo-vllm: $(VENV)/.runtime ## Tune real vLLM on CPU
	sh tests/integration/vllm/setup.sh .venv-vllm $(PYTHON)
	sh tests/integration/vllm/demo.sh $(BIN)/autotune .venv-vllm

sample: $(VENV)/.dev ## Make the checked-in sample report and its pictures again
	@chmod go-w profiles/*.yaml
	@$(BIN)/python -m tests.sample.make_sample $(EMULATED)

lock: ## Pin every dependency with its hashes
	$(PYTHON) -m venv $(VENV)-lock && $(VENV)-lock/bin/pip install --quiet uv
	$(VENV)-lock/bin/uv pip compile --quiet --universal --python-version 3.10 --generate-hashes --no-emit-index-url \
		--custom-compile-command "make lock" --group build -o requirements.lock pyproject.toml
	$(VENV)-lock/bin/uv pip compile --quiet --universal --python-version 3.10 --generate-hashes --no-emit-index-url \
		--custom-compile-command "make lock" --group build --group dev -c requirements.lock -o requirements-dev.lock pyproject.toml
	$(VENV)-lock/bin/uv pip compile --quiet --universal --python-version 3.10 --generate-hashes --no-emit-index-url \
		--custom-compile-command "make lock" --group pyproject.toml:fuzz -o requirements-fuzz.lock
	rm -r $(VENV)-lock

clean: ## Remove the environment and what tests left
	rm -rf $(VENV) .venv-* .demo .fuzz .wheelhouse .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage*

$(VENV)/pyvenv.cfg:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))' \
		|| { echo "Python 3.10 to 3.13 is needed: make PYTHON=python3.11 $(MAKECMDGOALS)" >&2; exit 1; }
	@echo "setting up $(VENV) ..." >&2
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: requirements.lock pyproject.toml | $(VENV)/pyvenv.cfg
	@$(INSTALL) -r requirements.lock
	@$(PIP) install --no-build-isolation --no-deps --editable .
	@touch $@

$(VENV)/.dev: requirements-dev.lock $(VENV)/.runtime
	@$(INSTALL) -r requirements-dev.lock
	@touch $@

$(VENV)/.fuzz: requirements-fuzz.lock $(VENV)/.dev
	@$(INSTALL) -r requirements-fuzz.lock
	@touch $@
