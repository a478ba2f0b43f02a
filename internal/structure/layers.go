// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package structure lists the packages of this module and the packages that each may import. Its
// tests compare the list with the actual imports and with docs/explanation/architecture.md. Tests
// may import any package. The path "." stands for the root package.
package structure

import "strings"

// Anything in the field Imports allows all packages of this module.
const Anything = "anything"

// A Layer is a directory of packages and the imports that they may have.
type Layer struct {
	Path    string // directory relative to the root; includes packages below it
	Holds   string // description on the page about the architecture
	Imports string // paths of layers, separated by spaces
	Modules string // paths of other modules, separated by spaces
}

// Layers returns all layers. If several layers contain a package, the innermost layer applies.
func Layers() []Layer {
	const (
		cmp        = "github.com/google/go-cmp"
		jennifer   = "github.com/dave/jennifer"
		participle = "github.com/alecthomas/participle/v2"
	)
	return []Layer{
		{
			Path:  "diag",
			Holds: "positions, diagnostics, and their output as text, JSON, SARIF and GitHub annotations",
		},
		{
			Path:    "isa",
			Holds:   "the instruction set as data: forms, modifiers, operands, gates, effects; the matcher",
			Imports: "diag internal/slab",
		},
		{
			Path:    "isa/eval",
			Holds:   "the arithmetic of each instruction, exact: for the emulator, constants and known values",
			Imports: "isa",
		},
		{
			Path:    "ptx",
			Holds:   "scanner, syntax tree, parser, printer and formatter of PTX text; constant expressions",
			Imports: "diag isa internal/slab internal/layout",
			Modules: participle,
		},
		{
			Path:    "form",
			Holds:   "checks of a parsed module: names, types, calls, directives, each instruction by `isa`",
			Imports: "diag isa ptx",
		},
		{
			Path:    "ir",
			Holds:   "module, function, block, instruction, register; annotations of kernels",
			Imports: "diag isa",
		},
		{
			Path:    "lift",
			Holds:   "syntax tree to `ir`",
			Imports: "diag isa ptx ir internal/slab",
		},
		{
			Path:    "lower",
			Holds:   "`ir` to text",
			Imports: "diag isa ptx ir internal/layout",
		},
		{
			Path:    "passes",
			Holds:   "the list of editing passes",
			Imports: "diag isa isa/eval ir passes/analysis",
		},
		{
			Path:    "passes/analysis",
			Holds:   "control flow, liveness, values, memory, the symbolic trace, and the registers of one thread",
			Imports: "diag isa isa/eval ir internal/slab",
		},
		{
			Path:    "passes/verify",
			Holds:   "one directory per analyzer: of hazards, and of the annotations of kernels",
			Imports: "diag isa ir passes passes/analysis",
		},
		{
			Path:    ".",
			Holds:   "`Load`, `Verify`, `Fix`, `Format` and `Stats`: for programs, the command, the emulator and tests",
			Imports: "diag isa ptx form ir lift passes passes/verify",
		},
		{
			Path:    "dsl",
			Holds:   "the builder: values, control flow, memory, tiles, pipelines, roles",
			Imports: "diag isa isa/eval ir passes passes/verify lower internal/slab",
		},
		{
			Path:    "dsl/op",
			Holds:   "generated: each instruction as a method",
			Imports: "dsl isa",
		},
		{
			Path:    "runtime",
			Holds:   "devices, modules, buffers, launches",
			Imports: "diag ptx runtime/device runtime/driver runtime/emu", // ptx: kernel parameters
		},
		{
			Path:    "runtime/device",
			Holds:   "the interface between `runtime` and a driver or the emulator",
			Imports: "diag",
		},
		{
			Path:    "runtime/driver",
			Holds:   "calls the CUDA driver, without cgo",
			Imports: "diag runtime/device internal/ptxas",
			Modules: "github.com/ebitengine/purego",
		},
		{
			Path:    "runtime/kerneltest",
			Holds:   "tests of kernels: random inputs, references, tolerances",
			Imports: "dsl isa runtime", // isa: names of types
		},
		{
			Path:    "runtime/kernelcmd",
			Holds:   "the `main` function of an example",
			Imports: "dsl isa runtime runtime/kerneltest",
		},
		{
			Path:    "runtime/emu",
			Holds:   "the emulator of a GPU; below it the race detector, the search of schedules and the memory model",
			Imports: ". diag isa isa/eval ptx lift ir passes/analysis runtime/device passes",
		},
		{
			Path:    "runtime/emu/check",
			Holds:   "checks kernels by running them in the emulator: it derives launches and runs many schedules",
			Imports: ". diag ir isa runtime/device runtime/emu",
		},
		{
			Path:    "golden",
			Holds:   "golden tests of kernels",
			Imports: "diag ptx internal/diff internal/ptxas",
			Modules: cmp,
		},
		{
			Path:  "examples",
			Holds: "kernels with references and tests; public packages only",
			// isa: names of targets and types
			Imports: "dsl dsl/op runtime runtime/kerneltest runtime/kernelcmd runtime/emu golden isa",
		},
		{
			Path:    "bench",
			Holds:   "measurements, on a GPU beside vendor libraries",
			Imports: "dsl isa runtime runtime/kerneltest examples runtime/emu",
			Modules: "github.com/ebitengine/purego",
		},
		{
			Path:    "cmd/ptxdsl",
			Holds:   "the command line tool",
			Imports: Anything,
		},
		{
			Path:    "docs",
			Holds:   "listings of the documentation; public packages only",
			Imports: "dsl dsl/op runtime runtime/kerneltest golden isa runtime/emu examples",
		},
		{
			Path:    "internal/annotatedtest",
			Holds:   "annotations and expected findings in PTX comments, for tests of analyzers",
			Imports: ". diag ir isa passes/verify internal/filetest",
		},
		{
			Path:    "internal/diagram",
			Holds:   "draws the diagrams of the documentation",
			Imports: "dsl isa",
		},
		{
			Path:  "internal/diff",
			Holds: "differences of texts",
		},
		{
			Path:  "internal/doctest",
			Holds: "runs the listings and commands of the documentation",
		},
		{
			Path:    "internal/emutest",
			Holds:   "emulated devices with memory checks for tests",
			Imports: "runtime/device runtime/emu",
		},
		{
			Path:  "internal/exampletest",
			Holds: "copies examples out of the repository and runs them",
		},
		{
			Path:    "internal/fakecuda",
			Holds:   "a CUDA driver for tests that need no GPU",
			Imports: "runtime/driver",
		},
		{
			Path:    "internal/filetest",
			Holds:   "tests whose inputs and expected findings are files",
			Imports: "diag ptx",
			Modules: cmp,
		},
		{
			Path:    "internal/gen",
			Holds:   "makes Go from the specification of the instructions",
			Imports: "isa internal/notation",
			Modules: jennifer + " " + participle,
		},
		{
			Path:    "internal/hazardtest",
			Holds:   "expected findings in PTX comments, for tests of analyzers",
			Imports: ". diag passes/verify internal/filetest",
		},
		{
			Path:  "internal/hostile",
			Holds: "texts that make programs slow or fail",
		},
		{
			Path:  "internal/layout",
			Holds: "aligns columns of text",
		},
		{
			Path:    "internal/notation",
			Holds:   "reads the specification of the instructions",
			Imports: "isa",
		},
		{
			Path:  "internal/npy",
			Holds: "files of NumPy arrays",
		},
		{
			Path:    "internal/ptxas",
			Holds:   "finds and runs ptxas",
			Imports: "diag",
		},
		{
			Path:  "internal/slab",
			Holds: "allocates many small objects at once",
		},
		{
			Path:  "internal/structure",
			Holds: "this table",
		},
		{
			Path:    "internal/systems",
			Holds:   "the options of the kernel families, and which are built",
			Imports: "examples isa runtime/kerneltest",
		},
		{
			Path:    "internal/oracle",
			Holds:   "harnesses that compare with what is not of this project: ptxas, GPUs, other arithmetic",
			Imports: Anything,
		},
		{
			Path:    "internal/oracle/agree",
			Holds:   "compares the table of instructions with ptxas",
			Imports: Anything,
		},
		{
			Path:    "internal/oracle/cleanups",
			Holds:   "measures the clean-up passes with ptxas",
			Imports: ". form ir lift lower passes ptx internal/ptxas internal/oracle/roundtrip",
		},
		{
			Path:    "internal/oracle/cleanups/cmd",
			Imports: Anything,
		},
		{
			Path:  "internal/oracle/corpus",
			Holds: "fetches PTX made by compilers",
		},
		{
			Path:    "internal/oracle/gputest",
			Holds:   "runs all examples and features on a GPU or the emulator",
			Imports: ". dsl isa runtime runtime/device runtime/driver runtime/emu runtime/emu/check runtime/kerneltest examples passes ptx lift lower internal/systems",
		},
		{
			Path:    "internal/oracle/registers",
			Holds:   "fits the prediction of registers",
			Imports: ". passes internal/ptxas internal/oracle/roundtrip",
		},
		{
			Path:    "internal/oracle/registers/cmd",
			Imports: Anything,
		},
		{
			Path:    "internal/oracle/roundtrip",
			Holds:   "compares the machine code of PTX before and after a change",
			Imports: "diag internal/ptxas",
		},
		{
			Path:    "internal/oracle/roundtrip/cmd",
			Imports: Anything,
		},
	}
}

// Of returns the layer of a package, given by its directory relative to the root of the module.
// ok is false if no layer contains it.
func Of(layers []Layer, path string) (layer Layer, ok bool) {
	for _, r := range layers {
		if within(path, r.Path) && len(r.Path) >= len(layer.Path) {
			layer, ok = r, true
		}
	}
	return layer, ok
}

// within reports whether path is folder or is below it.
func within(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, folder+"/")
}

// May reports whether the packages of r may import a package of this module. Packages of the same
// layer may import each other. A layer inside another layer must be listed separately.
func (r Layer) May(layers []Layer, path string) bool {
	layer, _ := Of(layers, path)
	if layer.Path == r.Path || r.Imports == Anything {
		return true
	}
	for name := range strings.FieldsSeq(r.Imports) {
		if name == layer.Path {
			return true
		}
	}
	return false
}

// MayUse reports whether the packages of r may import a package of another module.
func (r Layer) MayUse(path string) bool {
	for name := range strings.FieldsSeq(r.Modules) {
		if within(path, name) {
			return true
		}
	}
	return false
}
