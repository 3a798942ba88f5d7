# Needs Python 3.11 or newer, git and make; each target does the rest of its set-up itself, in $(VENV),
# in .venv-services and, where Node 20 is, in .node-services for the servers that the tests talk to.

VENV ?= .venv
CANDIDATES := python3.11 python3.12 python3.13 python3.14 python3 python
PYTHON ?= $(eval PYTHON := $$(shell .ci/python $(CANDIDATES)))$(PYTHON)
DEVELOPMENT := import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['dependency-groups']['dev'])

# Some tests wait for processes and servers of their own: two workers for each core.
WORKERS ?= $(shell n=$$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2); [ $$n -gt 4 ] && echo 8 || echo $$((2 * n)))

# The long tests wait a third of their time; but each worker starts servers of its own.
LONG_WORKERS ?= $(shell echo $$((2 * $(WORKERS))))

BIN := $(VENV)/bin
RUN := $(VENV)/.for-running
DEV := $(VENV)/.for-development
COMPILED := $(VENV)/.tests-compiled
SERVICES := .venv-services/.installed
WITH_RAY := .venv-services/.with-ray
NODE := .node-services/.installed
MUTATION := mutmut==3.8.1
NODE_PACKAGES := azurite@3.35.0 emulate@0.11.2 @octokit/openapi@23.0.2
GITHUB_API := .node-services/node_modules/@octokit/openapi/generated
NEL := .venv-nel/.installed
BENCH := .venv-bench/.installed
SITE := .venv-site/.installed
SERVERS := alembic gcp-storage-emulator kubernetes-validate mlflow-skinny 'moto[server]' sqlalchemy trackio
QUIETLY := install --quiet --disable-pip-version-check --no-compile
PIP := $(BIN)/python -m pip $(QUIETLY)
# uv takes a tenth of pip's time, and reads none of pip's settings: where it cannot install, pip does.
UV := uv==0.13.9
install = $(BIN)/uv pip install --quiet --python $(1) --requirement $(2) 2>/dev/null || $(BIN)/python -m pip --python $(1) $(QUIETLY) --requirement $(2)
# To put pip into one more environment takes five seconds of CPU: that of $(VENV) installs there.
another = $(1)/bin/python -c "" 2>/dev/null || $(BIN)/python -m venv --without-pip $(1)

# Without its bytecode each of the many processes that the tests start would compile all that it imports.
unexport PYTHONPATH PYTHONHOME VIRTUAL_ENV PYTHONDONTWRITEBYTECODE
export PIP_REQUIRE_VIRTUALENV := 1

.PHONY: help demo test test-thorough test-k8s services services-ray services-nel services-k8s crash lint types screens mutate picture docs docs-check site bench wheel pins clean
.DELETE_ON_ERROR:

help:  ## List the targets.
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 24

demo: $(RUN)  ## Run the full lifecycle of a small training job, in about a minute.
	$(BIN)/herorun demo

test: $(COMPILED) $(SERVICES) $(NODE)  ## Run the tests.
	$(BIN)/python -m pytest --forks $(WORKERS) -m "not back_end and not thorough"

test-thorough: $(COMPILED) $(SERVICES) $(NODE)  ## Run the long tests: whole runs, real Slurm, Ray, ssh, nel and object stores, and crash points.
	$(BIN)/python -m pytest --forks $(LONG_WORKERS) -m "back_end or thorough"

test-k8s: $(DEV) services-k8s  ## Run the tests on a real Kubernetes, as test-thorough does once it is built.
	HERORUN_REQUIRE_SERVICES=1 $(BIN)/python -m pytest -n 2 --dist worksteal -m back_end -k kubernetes tests

services: $(SERVICES) $(NODE)  ## Install the servers of the tests, in separate environments.

services-ray: $(WITH_RAY)  ## The same with Ray (320 MB); without it, the tests on a real Ray head are skipped.

services-nel: $(NEL)  ## Install the NeMo evaluator launcher (350 MB) into .venv-nel; without it, its tests are skipped.

services-k8s:  ## Build Kubernetes 1.20 from Debian's sources into ~/.cache/herorun/k8s (eight minutes, once); without it, its tests are skipped.
	@nice tests/services/k8s_build.sh

crash: $(DEV)  ## Kill the commands at every crash point; takes long.
	HERORUN_CRASH_ALL=1 $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal tests/crash

lint: $(DEV)  ## Run ruff and the import contracts.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo

types: $(DEV)  ## Run mypy --strict.
	$(BIN)/mypy

screens: $(DEV)  ## Render every screen into tests/screens/*.txt: read the diff.
	PYTHONPATH=src:tests $(BIN)/python -m screens

mutate: $(DEV)  ## Make small changes to the code, one at a time, and list those that no test notices: make mutate MODULE=core/seal TESTS=tests/core
	$(BIN)/pip install --quiet $(MUTATION)
	nice $(BIN)/python tests/mutation.py $(addprefix --module ,$(MODULE)) --seed $(or $(SEED),1) $(if $(MOST),--most $(MOST)) $(if $(LONGEST),--longest-test $(LONGEST)) $(if $(WRITE),--write) $(or $(TESTS),tests/core)

picture: $(RUN)  ## Draw the README's picture from the real screen: docs/preflight-blocked.svg.
	$(BIN)/python docs/picture.py

docs: $(RUN)  ## Print the reference in docs/ from the code.
	$(BIN)/python docs/generate.py

docs-check: $(RUN)  ## Fail if a printed page is stale.
	$(BIN)/python docs/generate.py --check

site: $(SITE)  ## Build the offline site into build/site/html; a broken link is a failure.
	$(dir $(SITE))bin/python docs/build_site.py

bench: $(DEV) $(SERVICES) $(BENCH)  ## Measure herorun and its alternatives; writes docs/benchmarks.md.
	$(BIN)/python -m benchmarks

wheel: $(DEV)  ## Build both wheels into dist/: herorun, and herorun-checkin for training environments.
	$(BIN)/python -m build --wheel --no-isolation --outdir dist
	$(BIN)/python -m build --wheel --no-isolation --outdir dist checkin

pins:  ## Pin the newest versions that fit; run the tests before you commit them.
	"$(PYTHON)" -m venv --clear $(VENV)-pins
	$(VENV)-pins/bin/pip install --quiet hatchling '.[demo]'
	{ echo "# To run herorun and its demo, and to build it. Written by \`make pins\`."; \
		$(VENV)-pins/bin/pip freeze --exclude herorun; } > requirements.txt
	$(VENV)-pins/bin/python -c "$(DEVELOPMENT)" | xargs $(VENV)-pins/bin/pip install --quiet
	{ echo "# What the tests and the checks need in addition to requirements.txt. Written by \`make pins\`."; \
		$(VENV)-pins/bin/pip freeze --exclude herorun | grep -vxFf requirements.txt; } > requirements-dev.txt
	"$(PYTHON)" -m venv --clear $(VENV)-pins
	$(VENV)-pins/bin/pip install --quiet $(SERVERS)
	{ echo "# What the servers of tests/services need, in an environment of their own. Written by \`make pins\`."; \
		$(VENV)-pins/bin/pip freeze; } > tests/services/requirements.txt
	$(VENV)-pins/bin/pip install --quiet 'ray[default]'
	{ echo "# What a Ray head needs in addition to requirements.txt, in the same environment. Written by \`make pins\`."; \
		$(VENV)-pins/bin/pip freeze | grep -vxFf tests/services/requirements.txt; } > tests/services/requirements-ray.txt
	"$(PYTHON)" -m venv --clear $(VENV)-pins
	$(VENV)-pins/bin/pip install --quiet nemo-evaluator-launcher
	{ echo "# The NeMo evaluator launcher, in an environment of its own. Written by \`make pins\`."; \
		$(VENV)-pins/bin/pip freeze; } > tests/services/requirements-nel.txt
	"$(PYTHON)" -m venv --clear $(VENV)-pins
	$(VENV)-pins/bin/pip install --quiet zensical tomli_w 'pymdown-extensions<13' # 13 needs 3.11.5
	{ echo "# What the site is built with, in an environment of its own. Written by \`make pins\`."; \
		$(VENV)-pins/bin/pip freeze; } > docs/requirements.txt
	"$(PYTHON)" -m venv --clear $(VENV)-pins
	$(VENV)-pins/bin/pip install --quiet beaker-gantry kubernetes lightkube pandas plotly
	{ echo "# What \`make bench\` measures next to herorun, in an environment of its own. Written by \`make pins\`."; \
		$(VENV)-pins/bin/pip freeze; } > benchmarks/requirements.txt
	rm -rf $(VENV)-pins

clean:  ## Remove the environment and everything that was built.
	rm -rf .venv .venv-services .venv-nel .venv-bench .venv-site .node-services dist build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests templates benchmarks docs -type d -name __pycache__ -prune -exec rm -rf {} +

$(RUN): requirements.txt pyproject.toml
	@test -n "$(PYTHON)" || { echo "herorun needs Python 3.11 or newer with its venv module (Debian: python3-venv)," \
		"and there is none on the PATH. Install one, or name it: make PYTHON=/path/to/python3 $(MAKECMDGOALS)" >&2; exit 1; }
	@echo "Setting up $(VENV) with $(PYTHON): once, and again when the pins change."
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || "$(PYTHON)" -m venv $(VENV)
	@$(PIP) $(UV) 2>/dev/null || echo "Without uv the set-up takes some minutes longer."
	$(call install,$(BIN)/python,requirements.txt)
	$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

$(DEV): requirements-dev.txt $(RUN)
	$(call install,$(BIN)/python,requirements-dev.txt)
	@touch $@

# Two processes compile the tests once, so that not every worker does. The tests themselves report what cannot be
# collected.
COLLECT = $(BIN)/python -m pytest --collect-only -qq
HALF := tests/core tests/operations
$(COMPILED): $(DEV)
	@echo "Compiling the tests: once."
	@$(COLLECT) $(HALF) >/dev/null 2>&1 & $(COLLECT) $(HALF:%=--ignore=%) >/dev/null 2>&1; wait
	@touch $@

$(SERVICES): tests/services/requirements.txt $(RUN)
	@echo "Setting up $(@D): once, and again when its pins change."
	@$(call another,$(@D))
	$(call install,$(@D)/bin/python,$<)
	@touch $@

$(WITH_RAY): tests/services/requirements-ray.txt $(SERVICES)
	@echo "Adding Ray to $(@D): once, and again when its pins change."
	$(call install,$(@D)/bin/python,$<)
	@touch $@

# The GitHub and the Azure of the tests, and GitHub's own description of its API: one file of that package, the others are large.
$(NODE): Makefile
	@mkdir -p $(@D)
	@command -v npm >/dev/null 2>&1 || { echo "Without npm the tests against GitHub and Azure are left out: install Node 20 or newer."; exit 0; }; \
		echo "Setting up $(@D): once, and again when the packages change." && \
		npm install --prefix $(@D) --ignore-scripts --no-package-lock --no-save --no-audit --no-fund --silent $(NODE_PACKAGES) && \
		find $(GITHUB_API) -type f ! -name api.github.com.json -delete && touch $@

$(NEL): tests/services/requirements-nel.txt $(RUN)
	@echo "Setting up $(@D): once, and again when its pins change."
	@$(call another,$(@D))
	$(call install,$(@D)/bin/python,$<)
	@touch $@

# Where they cannot be installed, their lines are left out of the tables, by name.
$(BENCH): benchmarks/requirements.txt $(RUN)
	@echo "Setting up $(@D): once, and again when its pins change."
	@$(call another,$(@D))
	@{ $(call install,$(@D)/bin/python,$<); } && touch $@ || \
		{ rm -rf $(@D); echo "They cannot be installed here: their lines are left out."; }

$(SITE): docs/requirements.txt $(RUN)
	@echo "Setting up $(@D): once, and again when its pins change."
	@$(call another,$(@D))
	$(call install,$(@D)/bin/python,$<)
	@touch $@
