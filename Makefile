# Two commands do everything on a fresh Debian machine with Rust: `make demo` and `make test`.
# Both install missing Debian packages when they can (root or sudo) and otherwise print the command that does.

CARGO ?= cargo
TARGET := $(or $(CARGO_TARGET_DIR),target)
BIN := $(TARGET)/release/flowmine
OUT := out
VENV := $(TARGET)/pm4py-venv
AIRFLOW := $(TARGET)/airflow-venv
AIRFLOW2 := $(TARGET)/airflow2-venv
PEER := $(TARGET)/release/flowmine-peer
# Pinned: what another version counts or writes may differ.
PM4PY := pm4py==2.7.23.11 pyarrow==26.0.1 polars==2.1.0 duckdb==2.0.0
SNAKEMAKE_VENV := $(TARGET)/snakemake-venv
SNAKEMAKE := snakemake==9.27.1 snakemake-executor-plugin-slurm==2.8.0
ZIG_VENV := $(TARGET)/zig-venv
ZIG := ziglang==0.17.1 cargo-zigbuild==0.24.0
WHEEL_VENV := $(TARGET)/wheel-venv
# Also in pyproject.toml.
MATURIN := maturin==1.16.0
# Its version stands in tests/lab/nextflow/pom.xml.
NEXTFLOW := $(TARGET)/nextflow
MDBOOK := $(TARGET)/mdbook/bin/mdbook
MDBOOK_VERSION := 0.5.4
# Its version stands in tests/axe/package.json.
AXE := $(TARGET)/axe
AIRFLOW_VERSION := 3.3.2
AIRFLOW2_VERSION := 2.11.2

BUILD_PACKAGES := build-essential pkg-config libssl-dev
TEST_PACKAGES := slurm-wlm slurmctld slurmd slurm-client slurm-wlm-basic-plugins slurmdbd slurm-wlm-mysql-plugin \
	mariadb-server munge openssh-server openssh-client python3-venv git qemu-system-x86 busybox-static cpio e2fsprogs \
	clang-16 llvm-16 podman runc coop-computing-tools openmpi-bin postgresql fastqc trim-galore bbmap fonts-dejavu-core iproute2 libcap2-bin shellcheck gdb maven montage tmux chromium chromium-driver firefox-esr
# Another Node than Debian's brings its own npm, and conflicts with Debian's.
TEST_PACKAGES += $(if $(shell command -v npm),,npm)
DIST_PACKAGES := perl python3-venv git binutils openssh-server openssh-client

# What this machine can have; a test that needs one of these fails where it is missing. Slurm, mounts, BPF and containers need
# root; core dumps have to land in the directory of the program.
REQUIRE := ssh,python,pm4py,pyarrow,polars,process_mining,ptrace,qemu,makeflow,snakemake,airflow,nextflow,tmux,montage,shellcheck,chromium,firefox,axe$(shell case "$$(cat /proc/sys/kernel/core_pattern)" in (core*) printf ',core-dump';; esac)$(shell [ "$$(id -u)" = 0 ] && printf ',slurm,mount,netns,fuse,bpf,podman,demonstration')

.PHONY: demo test test-long build packages bench docs site dist dist-check wheel clean

demo: build
	@rm -rf $(OUT)
	@mkdir -p $(OUT)
	$(BIN) import slurm fixtures/case-study/polls fixtures/case-study/sacct-token.txt.gz --dataset $(OUT)/dataset
	$(BIN) run --dataset $(OUT)/dataset --out $(OUT)
	@cp -r fixtures/demonstration/dataset $(OUT)/demonstration
	$(BIN) import makeflow fixtures/demonstration/rnaseq.makeflow.makeflowlog --dataset $(OUT)/demonstration
	$(BIN) correlate --dataset $(OUT)/demonstration
	$(BIN) discover --dataset $(OUT)/demonstration -o $(OUT)/dfg-demonstration.svg
	$(BIN) discover dag --dataset $(OUT)/demonstration -o $(OUT)/dag.svg
	$(BIN) discover io-profile --dataset $(OUT)/demonstration -o $(OUT)/io-profile.svg
	$(BIN) discover file-span --dataset $(OUT)/demonstration -o $(OUT)/file-span.svg
	$(BIN) discover file-timeline --dataset $(OUT)/demonstration --file /var/tmp/flow/demo/WT_REP1_2_val_2.fq.gz -o $(OUT)/file-timeline.svg
	$(BIN) report $(OUT)/demonstration -o $(OUT)/report-demonstration.html

build:
	@PACKAGES="$(BUILD_PACKAGES)" tests/packages.sh
	$(CARGO) build --release --locked --workspace

test: $(VENV)/ready $(SNAKEMAKE_VENV)/ready $(AIRFLOW)/ready $(AIRFLOW2)/ready $(NEXTFLOW)/ready $(AXE)/ready $(PEER)
	@mkdir -p $(TARGET)
	@rm -f $(TARGET)/not-run.txt
	@touch $(TARGET)/not-run.txt
	crates/extract-ebpf/bpf/build.sh --check
	PROPTEST_RNG_SEED=$${PROPTEST_RNG_SEED-30} FLOWMINE_REQUIRE=$${FLOWMINE_REQUIRE-$(REQUIRE)} FLOWMINE_NOT_RUN=$(abspath $(TARGET))/not-run.txt \
		FLOWMINE_PYTHON=$(abspath $(VENV))/bin/python FLOWMINE_PEER=$(abspath $(PEER)) \
		FLOWMINE_SNAKEMAKE=$(abspath $(SNAKEMAKE_VENV))/bin/snakemake \
		FLOWMINE_AIRFLOW=$(abspath $(AIRFLOW)) FLOWMINE_AIRFLOW2=$(abspath $(AIRFLOW2)) \
		FLOWMINE_AXE=$(abspath $(AXE))/node_modules/axe-core/axe.min.js FLOWMINE_IMAGES=$(abspath $(TARGET))/report-images \
		FLOWMINE_NEXTFLOW=$(abspath $(NEXTFLOW)) $(CARGO) test --release --locked --workspace
	@if [ -s $(TARGET)/not-run.txt ]; then echo "NOT RUN, because something was missing:"; sort -u $(TARGET)/not-run.txt; \
		else echo "Every test ran."; fi

# The same with the long forms of scenarios.
test-long: export FLOWMINE_LONG := 1
test-long: test

$(VENV)/ready: Makefile
	@PACKAGES="$(BUILD_PACKAGES) $(TEST_PACKAGES)" tests/packages.sh
	python3 -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check $(PM4PY)
	@touch $@

$(AXE)/ready: Makefile tests/axe/package.json tests/axe/package-lock.json
	@PACKAGES="$(BUILD_PACKAGES) $(TEST_PACKAGES)" tests/packages.sh
	@mkdir -p $(AXE)
	cp tests/axe/package.json tests/axe/package-lock.json $(AXE)/
	npm ci --prefix $(AXE) --ignore-scripts --no-audit --no-fund --silent
	@touch $@

$(SNAKEMAKE_VENV)/ready: Makefile
	@PACKAGES="$(BUILD_PACKAGES) $(TEST_PACKAGES)" tests/packages.sh
	python3 -m venv $(SNAKEMAKE_VENV)
	$(SNAKEMAKE_VENV)/bin/pip install --quiet --disable-pip-version-check $(SNAKEMAKE)
	@touch $@

# What the versions in the lists depend on is pinned too: another version of it may keep Airflow from starting.
$(AIRFLOW)/ready: tests/lab/airflow/airflow-$(AIRFLOW_VERSION).txt
$(AIRFLOW2)/ready: tests/lab/airflow/airflow-$(AIRFLOW2_VERSION).txt
$(AIRFLOW)/ready $(AIRFLOW2)/ready:
	@PACKAGES="$(BUILD_PACKAGES) $(TEST_PACKAGES)" tests/packages.sh
	python3 -m venv $(@D)
	$(@D)/bin/pip install --quiet --disable-pip-version-check --requirement $<
	@touch $@

$(NEXTFLOW)/ready: tests/lab/nextflow/pom.xml
	@PACKAGES="$(BUILD_PACKAGES) $(TEST_PACKAGES)" tests/packages.sh
	rm -rf $(NEXTFLOW)
	mvn --quiet --batch-mode --strict-checksums --file $< dependency:copy-dependencies -DoutputDirectory=$(abspath $(NEXTFLOW))
	@touch $@

# process_mining as a program of its own, for round trips and benchmarks: its dependencies are none of ours.
$(PEER): tests/peer/Cargo.lock $(wildcard tests/peer/src/*.rs)
	@PACKAGES="$(BUILD_PACKAGES)" tests/packages.sh
	CARGO_TARGET_DIR=$(abspath $(TARGET)) $(CARGO) build --release --locked --manifest-path tests/peer/Cargo.toml
	@touch $@

bench: build $(VENV)/ready $(PEER)
	$(CARGO) bench --locked --bench poll
	$(CARGO) bench --locked --bench export
	$(CARGO) bench --locked --bench records
	$(CARGO) bench --locked --bench attribution -- --csv
	[ "$$(id -u)" != 0 ] || $(CARGO) bench --locked --bench trace
	FLOWMINE_PYTHON=$(abspath $(VENV))/bin/python FLOWMINE_PEER=$(abspath $(PEER)) $(CARGO) bench --locked --bench logs

# The figures of the pages, from the demo's datasets, and the manual pages.
docs: demo
	$(BIN) discover --dataset $(OUT)/dataset --account thesis --case-notion dependency -o docs/pictures/dfg-thesis.svg
	cp $(OUT)/dfg-demonstration.svg $(OUT)/dag.svg $(OUT)/io-profile.svg $(OUT)/file-span.svg $(OUT)/file-timeline.svg docs/pictures/
	$(BIN) discover fixtures/logs/samples.csv --case-column sample --activity-column step --timestamp-column finished \
		--time sum -o docs/pictures/dfg-samples.svg
	$(BIN) man --dir $(OUT)/man

# The pages as a site, in out/site; mdBook is built at the first time.
site: $(MDBOOK)
	contrib/site.sh $(abspath $(MDBOOK)) $(abspath $(TARGET))/site $(abspath $(OUT))/site

$(MDBOOK):
	$(CARGO) install --locked --version $(MDBOOK_VERSION) --root $(abspath $(TARGET))/mdbook mdbook

# For login nodes: a binary that needs glibc 2.17 and no other library, as a tarball and a .deb in dist/. Zig's linker knows which symbols a
# glibc has; OpenSSL and zlib are built and linked in. The machine's own processor is the target. The time that C sources may tell is always the
# same: with the commit's, each commit would build all C sources, and polars on top of them, again.
DIST := dist
DIST_TARGET := $(shell uname -m)-unknown-linux-gnu
DIST_FEATURES := --features vendored-openssl

dist: $(ZIG_VENV)/ready
	export PATH=$(abspath $(ZIG_VENV))/bin:$$PATH CARGO_TARGET_DIR=$(abspath $(TARGET)) LIBZ_SYS_STATIC=1 \
		ZIG_GLOBAL_CACHE_DIR=$(abspath $(TARGET))/zig-cache CARGO_ZIGBUILD_CACHE_DIR=$(abspath $(TARGET))/zigbuild-cache \
		SOURCE_DATE_EPOCH=1 \
		RUSTFLAGS="--remap-path-prefix=$${CARGO_HOME:-$$HOME/.cargo}/registry/src=/registry --remap-path-prefix=$(abspath $(TARGET))=/target --remap-path-prefix=$(CURDIR)=/flowmine" && \
		$(CARGO) zigbuild --release --locked --target $(DIST_TARGET).2.17 $(DIST_FEATURES)
	CARGO="$(CARGO)" python3 contrib/dist/licences.py $(DIST_TARGET) $(DIST_FEATURES) > $(TARGET)/LICENSES-OF-DEPENDENCIES
	contrib/dist/package.sh $(TARGET)/$(DIST_TARGET)/release/flowmine $(DIST) $(TARGET)/LICENSES-OF-DEPENDENCIES
	tests/dist/check.sh $(DIST) $(TARGET)/old-libc

# What is in dist/, as it is.
dist-check:
	tests/dist/check.sh $(DIST) $(TARGET)/old-libc

$(ZIG_VENV)/ready: Makefile
	@PACKAGES="$(BUILD_PACKAGES) $(DIST_PACKAGES)" tests/packages.sh
	python3 -m venv $(ZIG_VENV)
	$(ZIG_VENV)/bin/pip install --quiet --disable-pip-version-check $(ZIG)
	@touch $@

# The wheel flowmine-hpc in dist/: the Python package, its extension module and the command, all for glibc 2.17 (manylinux2014). Both
# are built as `make dist` builds the command. maturin calls a program `zig`. WHEEL_PROFILE=dev is for trying it.
WHEEL_PROFILE := release
WHEEL_DOC := $(DIST)/wheel-data/data/share/doc/flowmine
WHEEL_FOLDER := $(if $(filter dev,$(WHEEL_PROFILE)),debug,$(WHEEL_PROFILE))

wheel: $(ZIG_VENV)/ready $(WHEEL_VENV)/ready
	export PATH=$(abspath $(WHEEL_VENV))/bin:$(abspath $(ZIG_VENV))/bin:$$PATH CARGO_TARGET_DIR=$(abspath $(TARGET)) LIBZ_SYS_STATIC=1 \
		ZIG_GLOBAL_CACHE_DIR=$(abspath $(TARGET))/zig-cache CARGO_ZIGBUILD_CACHE_DIR=$(abspath $(TARGET))/zigbuild-cache \
		SOURCE_DATE_EPOCH=1 \
		RUSTFLAGS="--remap-path-prefix=$${CARGO_HOME:-$$HOME/.cargo}/registry/src=/registry --remap-path-prefix=$(abspath $(TARGET))=/target --remap-path-prefix=$(CURDIR)=/flowmine" && \
		$(CARGO) zigbuild --profile $(WHEEL_PROFILE) --locked --target $(DIST_TARGET).2.17 $(DIST_FEATURES) && \
		rm -rf $(DIST)/wheel-data && mkdir -p $(DIST)/wheel-data/scripts && \
		strip --strip-all -o $(DIST)/wheel-data/scripts/flowmine $(TARGET)/$(DIST_TARGET)/$(WHEEL_FOLDER)/flowmine && \
		$(DIST)/wheel-data/scripts/flowmine man --dir $(DIST)/wheel-data/data/share/man/man1 && \
		mkdir -p $(WHEEL_DOC) && \
		CARGO="$(CARGO)" python3 contrib/dist/licences.py $(DIST_TARGET) $(DIST_FEATURES) > $(WHEEL_DOC)/LICENSES-OF-DEPENDENCIES && \
		CARGO="$(CARGO)" python3 contrib/dist/licences.py $(DIST_TARGET) --manifest-path crates/python/Cargo.toml > $(WHEEL_DOC)/LICENSES-OF-DEPENDENCIES-OF-THE-MODULE && \
		maturin build --profile $(WHEEL_PROFILE) --locked --zig --target $(DIST_TARGET) --compatibility manylinux2014 --out $(DIST)
	rm -rf $(DIST)/wheel-data

$(WHEEL_VENV)/ready: Makefile
	@PACKAGES="$(BUILD_PACKAGES) $(DIST_PACKAGES)" tests/packages.sh
	python3 -m venv $(WHEEL_VENV)
	$(WHEEL_VENV)/bin/pip install --quiet --disable-pip-version-check $(MATURIN)
	printf '#!/bin/sh\nexec "%s" -m ziglang "$$@"\n' $(abspath $(ZIG_VENV))/bin/python > $(WHEEL_VENV)/bin/zig
	chmod +x $(WHEEL_VENV)/bin/zig
	@touch $@

clean:
	rm -rf $(OUT) $(DIST)
