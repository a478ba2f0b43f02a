// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package systems

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// most is the number of lines of Go that a kernel may have.
const most = 150

// An entry is a function that builds a kernel.
type entry struct {
	directory, function, kernel string
	// A generator builds many different kernels, with code for each option. The lines of a kernel
	// are those that run when it is built.
	generator bool
	// limit replaces most for generators that still exceed it.
	limit int
}

// entries are the kernels whose lines the page shows.
var entries = map[string][]entry{
	"Blackwell block-scaled GEMM": {
		{"16_matmul_blackwell", "Build", "tcgen05 GEMM, persistent, on one and two SMs", false, 0},
		{"17_matmul_blockscaled", "Build", "block-scaled GEMM, all formats, dense and sparse", true,
			0},
		{"17_matmul_blockscaled", "BuildSync", "block-scaled mma.sync", false, 0},
	},
	"Ampere tensor cores": {
		{"13_matmul_multistage", "Build", "multistage GEMM, all types", false, 0},
		{"13_matmul_multistage", "BuildWith", "the same with all options", true, 0},
		{"14_matmul_sparse", "Build", "2:4 sparse GEMM", false, 0},
	},
	"RMSNorm and its family": {
		{"08_rmsnorm", "Build", "RMSNorm", false, 0},
		{"08_rmsnorm", "BuildRow", "the family, with blocks of 256 threads and clusters", true, 0},
		{"08_rmsnorm", "BuildRope", "RoPE with QK-norm", false, 0},
	},
	"BF16 ladder": {
		{"10_matmul_ladder", "V0", "cp.async", false, 0},
		{"10_matmul_ladder", "V1", "TMA", false, 0},
		{"10_matmul_ladder", "V2", "warp-specialized", false, 0},
		{"10_matmul_ladder", "V3", "persistent, ping-pong", false, 0},
		{"10_matmul_ladder", "V4", "persistent, shared tiles", false, 0},
	},
	"Hopper GEMM with wgmma": {
		{"15_matmul_hopper", "BuildWith", "GEMM with all options", true, 0},
	},
	"Attention, experts and communication": {
		{"18_attention", "Build", "attention with mma.sync", false, 0},
		{"18_attention", "BuildBatch", "variable length, paged, GQA", false, 0},
		{"18_attention", "BuildHopper", "attention with wgmma", true, 0},
		{"18_attention", "BuildFP8", "attention with wgmma in FP8", true, 0},
		{"18_attention", "BuildTransposed", "transposed values for FP8", false, 0},
		{"18_attention", "BuildBlackwell", "attention with tcgen05", false, 0},
		{"18_attention", "BuildRows", "attention backward: numbers of each query", false, 0},
		{"18_attention", "BuildBackwardKV", "attention backward: keys and values", false, 0},
		{"18_attention", "BuildBackwardQ", "attention backward: queries", false, 0},
		{"18_attention", "BuildHopperDeltas", "attention backward with wgmma: deltas", false, 0},
		{"18_attention", "BuildHopperBackwardWith", "attention backward with wgmma", true, 0},
		{"18_attention", "BuildHopperQueries", "attention backward with wgmma: queries", false,
			0},
		{"18_attention", "BuildMLA", "MLA decode", false, 0},
		{"24_allreduce", "Build", "multimem all-reduce", false, 0},
		{"25_topk", "Build", "top-k and sampling", false, 0},
		{"26_moe", "Build", "grouped FP8 GEMM with SwiGLU", false, 0},
	},
}

// counterparts are kernels of other projects with the same task, and their lines.
var counterparts = map[string]string{
	"Blackwell block-scaled GEMM": "With block scaling: tilelang `gemm_mxfp8_blockscaled_1d1d.py` 67 to 110, ThunderKittens `mxfp8_b200` 188, CuTe DSL " +
		"`dense_blockscaled_gemm_persistent.py` 505. Without: tilelang `gemm_tcgen5mma_ws_persistent.py` 103 and 107, " +
		"ThunderKittens `educational_b200/level_09` 130 and `bf16_b200` 326, Gluon `08-warp-specialization.py` about 150, " +
		"CuTe DSL `fp16_gemm_3.py` 297 and `dense_gemm_persistent.py` 1,055 (with wrapped lines).",
	"Ampere tensor cores":                  "tilelang `example_gemm.py` 17 and `example_gemm_intrinsics.py` 66, CuTe DSL `tensorop_gemm.py` 272.",
	"RMSNorm and its family":               "tilelang `rms_norm.py` 20, ThunderKittens `layernorm.cu` 205, CuTe DSL `rmsnorm.py` 176, quack `rmsnorm.py` 163.",
	"BF16 ladder":                          "fast.cu `matmul_1.cuh` to `matmul_12.cuh` 65 to 164, ThunderKittens `bf16_h100` 173.",
	"Hopper GEMM with wgmma":               "fast.cu `matmul_12.cuh` 161, ThunderKittens `bf16_h100` 173, CuTe DSL `dense_gemm_persistent.py` 328.",
	"Attention, experts and communication": "Forward with mma.sync: CuTe DSL `flash_attention_v2.py` 284.",
}

const linesHead = `
The column *lines* counts the Go lines of a kernel and of the functions of the example that it
calls, without comments and blank lines. A statement that is wrapped counts as one line; the lines
of a block inside it count separately. If a generator builds many kernels, the table gives the lines
that run when the largest variant is built, and the lines of the whole generator.

| kernel | function | lines | whole generator |
|---|---|---|---|
`

// kernels returns the tables with the lines of the kernels of each system.
func kernels(t *testing.T) map[string]string {
	var generators []string
	for _, list := range entries {
		for _, e := range list {
			if e.generator && !slices.Contains(generators, e.directory) {
				generators = append(generators, e.directory)
			}
		}
	}
	slices.Sort(generators)
	executions := execute(t, generators)
	tables := make(map[string]string)
	for name, list := range entries {
		var b strings.Builder
		b.WriteString(linesHead)
		for _, e := range list {
			functions := reachable(t, filepath.Join("../../examples", e.directory), e.function)
			n, kernel, whole := 0, e.kernel, ""
			for _, f := range functions {
				n += len(f.lines)
			}
			if e.generator {
				whole = fmt.Sprint(n)
				var variant string
				if n, variant = largest(functions, executions[e.directory]); n == 0 {
					t.Errorf("%s of %s builds no variant", e.function, e.directory)
				}
				kernel += ": " + variant
			}
			fmt.Fprintf(&b, "| %s | %s in examples/%s | %d | %s |\n", kernel, e.function,
				e.directory, n, whole)
			if limit := max(most, e.limit); n > limit {
				t.Errorf("%s of %s has %d lines, more than %d", e.function, e.directory, n, limit)
			}
			if e.limit > n {
				t.Errorf("%s of %s has %d lines; reduce its limit of %d", e.function, e.directory,
					n, e.limit)
			}
		}
		if text := counterparts[name]; text != "" {
			fmt.Fprintf(&b, "\nLines of kernels for the same task in other projects: %s\n", text)
		}
		tables[name] = b.String()
	}
	return tables
}

// A function is a function of an example.
type function struct {
	file  string // base name
	lines []int  // lines with code
}

// reachable returns a function and all functions and methods of its package that it refers to,
// directly or not. Files for checks and tests are not part of a kernel.
func reachable(t *testing.T, directory, name string) []function {
	fset := token.NewFileSet()
	source := make(map[string][]byte)
	var files []*ast.File
	for _, path := range kernelFiles(t, directory) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := parser.ParseFile(fset, path, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		source[path], files = text, append(files, f)
	}
	// Imports are not resolved: only references within the package matter.
	info := types.Info{Defs: make(map[*ast.Ident]types.Object),
		Uses: make(map[*ast.Ident]types.Object)}
	checker := types.Config{Error: func(error) {}, Importer: noImports{}}
	checker.Check(directory, fset, files, &info) // errors are those of the imports
	declared := make(map[types.Object]*ast.FuncDecl)
	var queue []types.Object
	for _, f := range files {
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok {
				declared[info.Defs[d.Name]] = d
				if d.Recv == nil && d.Name.Name == name {
					queue = append(queue, info.Defs[d.Name])
				}
			}
		}
	}
	if len(queue) == 0 {
		t.Fatalf("%s has no function %s", directory, name)
	}
	var list []function
	for i := 0; i < len(queue); i++ {
		d := declared[queue[i]]
		from, to := fset.Position(d.Pos()), fset.Position(d.End())
		list = append(list,
			function{filepath.Base(from.Filename),
				codeLines(source[from.Filename][from.Offset:to.Offset], from.Line)})
		ast.Inspect(d.Body, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			used, ok := info.Uses[id].(*types.Func)
			if !ok {
				return true
			}
			for object := range declared {
				// A method of an interface stands for all methods of that name.
				same := object == used.Origin() || used.Name() == object.Name() && isInterface(used)
				if same && !slices.Contains(queue, object) {
					queue = append(queue, object)
				}
			}
			return true
		})
	}
	return list
}

// kernelFiles returns the files of an example that may be part of its kernels.
func kernelFiles(t *testing.T, directory string) []string {
	list, err := filepath.Glob(filepath.Join(directory, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(list, func(path string) bool {
		base := filepath.Base(path)
		return strings.HasSuffix(base, "_test.go") || strings.HasSuffix(base, "check.go") ||
			strings.HasPrefix(base, "variants")
	})
}

// isInterface reports whether a function is a method of an interface.
func isInterface(f *types.Func) bool {
	receiver := f.Signature().Recv()
	return receiver != nil && types.IsInterface(receiver.Type())
}

// noImports is an importer of nothing.
type noImports struct{}

func (noImports) Import(path string) (*types.Package, error) {
	return nil, fmt.Errorf("%s is not imported", path)
}

// codeLines returns the lines with a token other than a comment, in a text that starts at a line.
// Of a wrapped statement, only the first line and those that open a block count.
func codeLines(text []byte, first int) []int {
	var s scanner.Scanner
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(text))
	s.Init(file, text, nil, 0)
	var lines []int
	line, last, wrapped := 0, token.SEMICOLON, false
	for {
		at, kind, _ := s.Scan()
		if now := file.Line(at); now != line || kind == token.EOF {
			if line > 0 && (!wrapped || last == token.LBRACE) {
				lines = append(lines, first+line-1)
			}
			line, wrapped = now, last != token.SEMICOLON && last != token.LBRACE &&
				last != token.COLON
		}
		if kind == token.EOF {
			return lines
		}
		last = kind
	}
}

// TestCodeLines checks which lines count.
func TestCodeLines(t *testing.T) {
	const text = `func f() { // line 10

	a := g(1,
		2)
	k.Roles(
		h(func() {
			b() // more
		}),
		i(3))
	switch {
	case a:
		b()
	}
}`
	want := []int{10, 12, 14, 15, 16, 17, 19, 20, 21, 22, 23}
	if got := codeLines([]byte(text), 10); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
