# The front door. `make demo` and `make test` do all the set-up on a clean Debian 12.
JOBS ?= $(shell nproc)
BUILD := build/release
SANITIZE := build/sanitize
COVARY := $(BUILD)/bin/covary
CXX_FILES = $(shell git ls-files "*.cpp" "*.hpp")

.PHONY: help build demo test test-sanitize bench format lint docs install-deps clean

help:
	@echo "make build | demo | test | bench | format | lint | docs"

install-deps:
	@scripts/install-deps.sh

$(BUILD)/build.ninja: CMakeLists.txt
	cmake --preset release

build: install-deps $(BUILD)/build.ninja
	cmake --build $(BUILD) -j $(JOBS)

demo: install-deps $(BUILD)/build.ninja
	cmake --build $(BUILD) --target covary_cli -j $(JOBS)
	@scripts/demo.sh $(COVARY)

# The Python package comes first: the tutorial, which is a test, uses it.
test: build
	COVARY=$(COVARY) JOBS=$(JOBS) scripts/test-python.sh
	ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS)
	$(MAKE) test-sanitize

# The core's tests under the address and undefined-behaviour sanitizers.
test-sanitize: install-deps
	cmake --preset sanitize -DCOVARY_BUILD_APPS=OFF
	cmake --build $(SANITIZE) -j $(JOBS)
	ctest --test-dir $(SANITIZE) --output-on-failure -j $(JOBS)

bench: install-deps
	@scripts/bench.sh

format:
	clang-format-14 -i $(CXX_FILES)

# Clang does not read GCC's precompiled headers.
lint: install-deps
	clang-format-14 --dry-run --Werror $(CXX_FILES)
	scripts/lint.sh $(JOBS) $(shell git ls-files 'src/*.cpp' 'apps/*.cpp' 'experiments/*.cpp')

docs:
	@scripts/check-docs.sh

clean:
	rm -rf build
