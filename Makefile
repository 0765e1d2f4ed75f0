# Two commands matter most: `make demo` and `make test`. `make help` lists the rest.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PREFIX ?= /usr/local
DESTDIR ?=
# The build that `make install` uses: release, or debug (for the tests, to build only once).
CONFIGURATION ?= release

# The release build has flags of its own, and a folder of its own: changing flags in one folder compiles everything
# anew. Swift's libraries are linked in, so that the programs need no Swift on the machine they run on.
RELEASE := --configuration release --scratch-path .build-release --static-swift-stdlib --disable-local-rpath
# No symbols, no debugging information, and no trace of the build folder: the same sources give the same programs.
RELEASE += -debug-info-format none -Xlinker -s -Xcc -ffile-prefix-map=$(CURDIR)=.
# The compiler stores a hash of its input, including folder names, to skip work the next time: not in programs (make twice).
RELEASE += -Xswiftc -Xfrontend -Xswiftc -disable-incremental-llvm-codegen
# Small: functions that nobody calls can be left out, none is exported, and relocations are packed.
RELEASE += -Xswiftc -Xfrontend -Xswiftc -function-sections -Xcc -ffunction-sections -Xcc -fdata-sections
RELEASE += -Xswiftc -use-ld=lld -Xlinker --no-export-dynamic -Xlinker -z -Xlinker pack-relative-relocs
# The symbols that the loader resolves are read-only before the program begins.
RELEASE += -Xlinker -z -Xlinker now
# The C++ library under Swift's is linked in too: to find and relocate the shared one took a third of `brokerctl token`. The linker
# looks here first, and finds no shared one.
LINKED_IN := .build-release/linked-in
# Little of the code is C and C++: the parsers of settings and HTTP, and system calls. Optimized for size it is fast enough.
RELEASE += -Xcc -Os -Xcxx -Os
RELEASE += -Xlinker -L$(CURDIR)/$(LINKED_IN)

# The following differ only in linker options, so that all programs share the compiled code.
# Installed programs: constants are always read-only. (Debian's valgrind cannot read a program with this layout and unwinding
# tables.)
INSTALLED := -Xlinker -T$(CURDIR)/.ci/read-only-constants.ld -Xlinker -O2 -Xlinker --icf=safe
# In addition, for brokerctl (decision 1).
SMALLER := -Xlinker --no-eh-frame-hdr -Xlinker -T$(CURDIR)/.ci/no-unwinding.ld

# The programs of `make dist`: without relocations that glibc 2.35 does not support, and with libraries as other systems have them.
PORTABLE_LIBRARIES := .build-release/portable-libraries
PORTABLE := -Xlinker -z -Xlinker nopack-relative-relocs

# The folder of the programs to install. They are copied as they are: root needs no compiler.
ifeq ($(CONFIGURATION),release)
BIN ?= .build-release/release
else
BIN ?= .build/debug
endif

.PHONY: help deps deps-test build release twice deb dist install uninstall provider demo test check documentation format fuzz fuzz-built sanitize soak \
	bench parts parts-built clean

help: ## this list
	@echo "make TARGET, where TARGET is one of"
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16
	@echo "Variables of install: PREFIX (/usr/local), DESTDIR, UNITDIR, CONFIGURATION (release or debug)."

deps: ## install the Debian packages that building needs
	@.ci/deps build

deps-test: ## install the Debian packages that the tests need
	@.ci/deps test

build: deps ## compile everything, for development
	@swift build

release: deps $(LINKED_IN) ## compile brokerd and brokerctl as they are installed
	@swift build $(RELEASE) $(INSTALLED) --product brokerd
	@swift build $(RELEASE) $(INSTALLED) $(SMALLER) --product brokerctl

$(LINKED_IN):
	@mkdir -p $@
	@ln -sf "$$(clang -print-file-name=libgcc_eh.a)" $@/libgcc_s.a
	@ln -sf "$$(clang -print-file-name=libstdc++.a)" $@/libstdc++.a

provider: deps ## run the development provider at http://127.0.0.1:8460, to try the broker with; FLAVOR=entra for Entra's
	@swift run broker-dev-idp --port 8460 --flavor $(or $(FLAVOR),openid)

demo: deps ## sign in once and watch two apps share it, in a minute
	@.ci/demo

test: deps-test ## run every test, with real providers, a browser and a systemd
	@.ci/test

check: ## checks that need no daemon: formatting, layers, documents
	@.ci/check

documentation: deps ## build the pages of the Swift library (DocC) below .build/documentation
	@swift build --target BrokerClient
	@.ci/documentation

format: ## format the sources as .swift-format says
	@swift format format --in-place --parallel --recursive Package.swift Sources Tests

fuzz: deps-test ## fuzz everything that reads bytes from outside; FUZZ_SECONDS=60 for each reader
	@Tests/Fuzzing/run $(or $(FUZZ_SECONDS),60)

fuzz-built:
	@Tests/Fuzzing/run --compile $(or $(FUZZ_SECONDS),60)

sanitize: deps-test ## run the tests of the parts under the thread sanitizer and the address sanitizer
	@Tests/Sanitizing/run thread
	@Tests/Sanitizing/run address

soak: deps-test ## an hour of mixed load, faults, restarts and clock steps; SOAK_SECONDS=3600
	@swift build --build-tests
	@.build/debug/broker-soak $(or $(SOAK_SECONDS),3600)

bench: deps-test $(LINKED_IN) ## measure, and print the results next to the goals; also as JSON
	@swift build $(RELEASE) $(INSTALLED) --product brokerd
	@swift build $(RELEASE) $(INSTALLED) $(SMALLER) --product brokerctl
	@swift build $(RELEASE) --product broker-dev-idp
	@swift build $(RELEASE) --product broker-bench
	@.build-release/release/broker-bench --json .build-release/bench.json

parts: deps-test ## count the instructions of single parts, next to their limits
	@Tests/Benchmarks/parts

parts-built: $(LINKED_IN)
	@swift build $(RELEASE) --product broker-parts

twice: release ## compile brokerd and brokerctl once more in another folder, and compare them byte for byte
	@.ci/twice

deb: release ## make Debian packages, in .build-deb
	@.ci/deps deb
	@.ci/deb .build-release

dist: deps $(LINKED_IN) ## make one archive for other systems, in .build-dist; it replaces the programs in .build-release
	@.ci/portable-libraries $(PORTABLE_LIBRARIES)
	@PKG_CONFIG_PATH=$(CURDIR)/$(PORTABLE_LIBRARIES) swift build $(RELEASE) $(INSTALLED) $(PORTABLE) --product brokerd
	@PKG_CONFIG_PATH=$(CURDIR)/$(PORTABLE_LIBRARIES) swift build $(RELEASE) $(INSTALLED) $(SMALLER) $(PORTABLE) --product brokerctl
	@.ci/dist .build-release

install: ## put programs, units and documents below PREFIX
	@CONFIGURATION=$(CONFIGURATION) PREFIX='$(PREFIX)' DESTDIR=$(DESTDIR) UNITDIR=$(UNITDIR) .ci/install $(BIN)

uninstall: ## stop the broker and remove them
	@PREFIX='$(PREFIX)' DESTDIR=$(DESTDIR) UNITDIR=$(UNITDIR) .ci/install --remove

clean: ## remove what was built
	@rm -rf .build .build-release .build-fuzzing .build-deb .build-dist .build-thread .build-address
