# Copyright 2026 The ptxdsl Authors
# SPDX-License-Identifier: Apache-2.0
#
# make            build bin/ptxdsl
# make demo       a kernel in Go, its checks and its PTX
# make test       everything CI runs: style, vet, tests, races, a slice of the agreement, round trips
# make agree      the whole comparison of the instruction table with ptxas
# make harvest    looks for instructions that ptxas takes and the table lacks
# make gpu-test   build bin/gputest, which runs the examples and the runtime on a GPU
# make gpu-bench  build bin/gpubench, and on a machine with a GPU measure against the libraries there
# make roundtrip DIR=folder   format, and lift and lower, every .ptx under a folder and compare the machine code
# make cleanups DIR=folder    run the clean-up passes over every .ptx under a folder and compare the machine code

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.NOTPARALLEL:

GO ?= $(shell command -v go || echo /usr/local/go/bin/go)
export PATH := $(dir $(GO)):$(PATH)

FUZZTIME ?= 60s
DIR ?= .corpus
# Packages with goroutines of their own. The products of the emulator take minutes under the race detector;
# its other tests have the same goroutines.
RACE_RUNTIME := ./runtime ./runtime/device/... ./runtime/driver/... ./runtime/kerneltest/... ./runtime/emu ./runtime/emu/check/... ./runtime/emu/inspect/... ./runtime/emu/race/... ./runtime/emu/memmodel/...
RACE := ./diag/... ./dsl ./internal/oracle/agree/... ./ptx/... ./form/... ./cmd/... ./internal/ptxas/... ./internal/oracle/roundtrip/... ./internal/oracle/corpus/... $(RACE_RUNTIME)

.PHONY: build
build:
	go build -o bin/ptxdsl ./cmd/ptxdsl

# What the tests need: the assembler as judge, and the linter.
.PHONY: tools
tools:
	scripts/tools.sh judge lint

# What `make corpus` needs besides: the CUDA C++ compiler and Triton, 1.3 GB.
.PHONY: corpus-tools
corpus-tools:
	scripts/tools.sh corpus

.PHONY: generate
generate:
	go generate ./...

.PHONY: test
test: tools style generated unit race agree-ci roundtrip-ci
	@echo "test: all passed"

.PHONY: style
style:
	scripts/style.sh

# Generated files must be what go generate makes of their sources.
.PHONY: generated
generated:
	scripts/generated.sh

.PHONY: unit
unit:
	scripts/gotest.sh ./...

# The race detector needs cgo, also where the settings of go turn it off. It distorts the times that TestLinear
# measures. The other tests that it leaves out are long and have no goroutines that shorter tests lack. unit
# runs all of them.
NO_RACE := TestLinear|TestParserAgain|TestForms|TestSpins|TestTimeLimits|TestExamples
.PHONY: race
race:
	CGO_ENABLED=1 scripts/gotest.sh -race -short -skip '^($(NO_RACE))$$' $(RACE)

.PHONY: agree
agree: tools
	go run ./internal/oracle/agree/cmd/agree -report docs/reference/agree.md

# The examples in the emulator with 200 seeds, which must all give the same results.
.PHONY: emu-seeds
emu-seeds:
	EMU_SEEDS=200 go test -count 1 -timeout 6h -run TestSeeds -v ./internal/oracle/gputest

# The emulator measured: instructions per second, matrix products, scaling.
.PHONY: emu-bench
emu-bench:
	go run ./bench/cmd/emubench

# The runtime with the emulator and the command build without cgo for every platform.
.PHONY: cross
cross:
	scripts/cross.sh

# Every spelling of scalar and packed arithmetic, with a thousand inputs each, against rational numbers.
.PHONY: eval-oracle
eval-oracle:
	EVAL_ORACLE=1000 go test -count 1 -timeout 2h -run TestOracle -v ./isa/eval

# Words of all origins at every instruction: what the assembler takes and the table lacks.
.PHONY: harvest
harvest: tools
	go run ./internal/oracle/agree/cmd/agree -harvest

# Spoils whole modules in one place each, and compares the verdicts.
.PHONY: wild
wild: tools
	go run ./internal/oracle/agree/cmd/wild -n 5000 form/testdata/ok $(wildcard $(DIR))

.PHONY: agree-ci
agree-ci: tools
	go run ./internal/oracle/agree/cmd/agree -slice
	go run ./internal/oracle/agree/cmd/agree -harvest -slice

.PHONY: roundtrip
roundtrip: tools
	go run ./internal/oracle/roundtrip/cmd/roundtrip $(DIR)

# Runs the clean-up passes on every .ptx under a folder, and compares the machine code before and after.
.PHONY: cleanups
cleanups: tools
	go run ./internal/oracle/cleanups/cmd/cleanups $(DIR)

# How near the predicted register counts are to those of ptxas, over the corpus and the examples.
.PHONY: registers
registers: tools
	go run ./internal/oracle/registers/cmd/registers $(DIR) examples

# Fits the correction of passes/pressure to the kept samples, and prints how far off it is for
# producers that it was not fitted to. The samples change only with the features of the simulation.
.PHONY: registers-fit
registers-fit: tools
	go run ./internal/oracle/registers/cmd/registers -fit passes/pressure/correction.txt -families internal/oracle/registers/testdata/samples.gz

# The part of the corpus that the repository keeps.
.PHONY: roundtrip-ci
roundtrip-ci: tools
	go run ./internal/oracle/roundtrip/cmd/roundtrip internal/oracle/corpus/testdata/corpus.tar.gz

# Compiles what is missing in .corpus.
.PHONY: corpus
corpus: corpus-tools
	go run ./internal/oracle/corpus/cmd/corpus

# Compiles the kernels of internal/oracle/foreign anew, and computes what they must leave with NumPy.
.PHONY: foreign
foreign:
	scripts/tools.sh corpus numpy
	PYTHONPATH=.tools/corpus:.tools/numpy PYTHONDONTWRITEBYTECODE=1 python3 \
		internal/oracle/foreign/reference/harvest.py internal/oracle/foreign/testdata/foreign.tar.bz2
	go test ./internal/oracle/foreign -run TestPage -update

# Cuts the repository's slice anew from .corpus.
.PHONY: corpus-slice
corpus-slice:
	go run ./internal/oracle/corpus/cmd/corpus -slice internal/oracle/corpus/testdata/corpus.tar.gz

# Builds the tool and a kernel, checks the kernel with the tool and with the real assembler, and shows its PTX.
.PHONY: demo
demo: tools build
	mkdir -p build
	go run ./examples/02_saxpy/main > build/saxpy.ptx
	cat build/saxpy.ptx
	bin/ptxdsl verify -v build/saxpy.ptx
	.tools/judge/nvidia/cu13/bin/ptxas -arch sm_90 -v build/saxpy.ptx -o build/saxpy.cubin
	bin/ptxdsl run build/saxpy.ptx -grid 2 -arg 'f32[16]=iota' -arg 'f32[16]=1' -arg 2 -arg 16 -print y
	go run ./examples/02_saxpy/main -run

# Every fuzz target of every package, one after the other.
.PHONY: fuzz
fuzz: tools
	scripts/fuzz.sh $(FUZZTIME)

.PHONY: bench
bench:
	go test -run '^$$' -bench . -benchmem ./ptx ./form ./isa ./lower ./dsl/... ./passes/verify/suite

# Programs for a machine with a GPU, which needs nothing but its driver: all examples and the runtime, and speed against the libraries there.
.PHONY: gpu-test
gpu-test:
	CGO_ENABLED=0 go build -o bin/gputest ./internal/oracle/gputest/cmd/gputest

# The arithmetic of isa/eval against a GPU: kernels in build/gpuagree and bin/gpuagree, which runs them where there is one.
.PHONY: gpu-agree
gpu-agree: tools
	CGO_ENABLED=0 go build -o bin/gpuagree ./internal/oracle/gpuagree/cmd/gpuagree
	bin/gpuagree generate -in build/gpuagree
	bin/gpuagree programs-generate -in build/gpuprograms

# Measures there, and writes tables and plots to bench/results/gpu, if this machine has a GPU.
.PHONY: gpu-bench
gpu-bench:
	CGO_ENABLED=0 go build -o bin/gpubench ./bench/cmd/gpubench
	if [ -e /dev/nvidiactl ]; then bin/gpubench -out bench/results/gpu; else echo "no GPU: run bin/gpubench -out on a machine with one"; fi

.PHONY: cover
cover: tools
	mkdir -p build
	go test -coverprofile build/cover.out ./...
	go tool cover -func build/cover.out | tail -1

.PHONY: clean
clean:
	rm -rf bin build
