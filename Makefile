# The front door. `make demo` and `make test` do all the set-up on a clean Debian 12.
JOBS ?= $(shell nproc)
BUILD := build/release
SANITIZE := build/sanitize
COVARY := $(BUILD)/bin/covary
CXX_FILES = $(shell git ls-files "*.cpp" "*.hpp")

.PHONY: help build demo test test-sanitize bench format lint docs wheel site install-deps demo-deps clean

help:
	@echo "make build | demo | test | bench | format | lint | docs | wheel | site"

install-deps:
	@scripts/install-deps.sh

demo-deps:
	@scripts/install-deps.sh demo

$(BUILD)/build.ninja: CMakeLists.txt
	cmake --preset release

build: install-deps $(BUILD)/build.ninja
	cmake --build $(BUILD) -j $(JOBS)

demo: demo-deps $(BUILD)/build.ninja
	cmake --build $(BUILD) --target covary_cli -j $(JOBS)
	@scripts/demo.sh $(COVARY)

# The Python package comes first: the tutorial, which is a test, uses it. Its tests leave a core idle, which begins to
# compile for the sanitizers meanwhile. Of these `make test` has the rooms that others stand on and that read files and
# expressions of strangers; of `models` the model files. The two that take longest are left to `make test-sanitize`, which
# has them all.
SANITIZED := autodiff data features kernels likelihoods linalg parameters random report statistics storage training
SANITIZED_TESTS := $(addprefix test_,$(SANITIZED)) test_models
empty :=
space := $(empty) $(empty)

test: build $(SANITIZE)/build.ninja
	@. scripts/blas-core.sh; nice -n 15 ninja -C $(SANITIZE) -j 1 $(SANITIZED_TESTS) >/dev/null 2>&1 & ahead=$$!; \
	  JOBS=$(JOBS) scripts/test-python.sh && ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS); \
	  status=$$?; kill $$ahead 2>/dev/null; wait $$ahead 2>/dev/null; exit $$status
	cmake --build $(SANITIZE) -j $(JOBS) --target $(SANITIZED_TESTS)
	. scripts/blas-core.sh; ctest --test-dir $(SANITIZE) --output-on-failure -j $(JOBS) -R '^($(subst $(space),|,$(SANITIZED))|model_files)$$'

$(SANITIZE)/build.ninja: CMakeLists.txt
	cmake --preset sanitize -DCOVARY_BUILD_APPS=OFF

# All of the core's tests under the address and undefined-behaviour sanitizers.
test-sanitize: install-deps $(SANITIZE)/build.ninja
	cmake --build $(SANITIZE) -j $(JOBS)
	ctest --test-dir $(SANITIZE) --output-on-failure -j $(JOBS)

bench: install-deps
	@scripts/bench.sh

format:
	clang-format-14 -i $(CXX_FILES)

# With SINCE=revision clang-tidy reads only what has changed since then, and what includes it. Clang does not read GCC's
# precompiled headers.
LINTED = $(shell git ls-files 'src/*.cpp' 'apps/*.cpp' 'experiments/*.cpp')
lint: install-deps
	clang-format-14 --dry-run --Werror $(CXX_FILES)
	sources="$(LINTED)"; $(if $(SINCE),sources=$$(scripts/changed_sources.py $(SINCE) $$sources) &&) scripts/lint.sh $(JOBS) $$sources

docs:
	@scripts/check-docs.sh

# The Python package for other machines, tried in an empty environment. PYTHON names the interpreter.
wheel: build
	@wheel=$$(scripts/wheel.sh) && scripts/test-wheel.sh $$wheel && echo $$wheel


# The documentation as a site, with its notebooks run and both APIs.
site: build
	@scripts/site.sh

clean:
	rm -rf build
