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
	// A generator builds many different kernels, with code for each option, and may have more
	// lines.
	generator bool
}

// entries are the kernels whose lines the page shows.
var entries = map[string][]entry{
	"Blackwell block-scaled GEMM": {
		{"16_matmul_blackwell", "Build", "tcgen05 GEMM, persistent, on one and two SMs", false},
		{"17_matmul_blockscaled", "Build", "block-scaled GEMM, all formats, dense and sparse",
			true},
		{"17_matmul_blockscaled", "BuildSync", "block-scaled mma.sync", false},
	},
	"Ampere tensor cores": {
		{"13_matmul_multistage", "Build", "multistage GEMM, all types", false},
		{"13_matmul_multistage", "BuildWith", "the same with all options", true},
		{"14_matmul_sparse", "Build", "2:4 sparse GEMM", false},
	},
	"RMSNorm and its family": {
		{"08_rmsnorm", "Build", "RMSNorm", false},
		{"08_rmsnorm", "BuildRow", "the family, with blocks of 256 threads and clusters", true},
		{"08_rmsnorm", "BuildRope", "RoPE with QK-norm", false},
	},
	"BF16 ladder": {
		{"10_matmul_ladder", "V0", "cp.async", false},
		{"10_matmul_ladder", "V1", "TMA", false},
		{"10_matmul_ladder", "V2", "warp-specialized", false},
		{"10_matmul_ladder", "V3", "persistent, ping-pong", false},
	},
	"Attention, experts and communication": {
		{"18_attention", "Build", "attention with mma.sync", false},
		{"18_attention", "BuildBatch", "variable length, paged, GQA", false},
		{"18_attention", "BuildHopper", "attention with wgmma", true},
		{"18_attention", "BuildBlackwell", "attention with tcgen05", false},
		{"18_attention", "BuildRows", "attention backward: numbers of each query", false},
		{"18_attention", "BuildBackwardKV", "attention backward: keys and values", false},
		{"18_attention", "BuildBackwardQ", "attention backward: queries", false},
		{"18_attention", "BuildMLA", "MLA decode", false},
		{"24_allreduce", "Build", "multimem all-reduce", false},
		{"25_topk", "Build", "top-k and sampling", false},
		{"26_moe", "Build", "grouped FP8 GEMM with SwiGLU", false},
	},
}

// counterparts are kernels of other projects with the same task, and their lines.
var counterparts = map[string]string{
	"Blackwell block-scaled GEMM": "Public counterparts without block scaling: tilelang `gemm_tcgen5mma_ws_persistent.py` 103 and 107 lines, " +
		"ThunderKittens `educational_b200/level_09` 130 and `bf16_b200` 326, Gluon `08-warp-specialization.py` about 150, " +
		"CuTe DSL `fp16_gemm_3.py` 297 and `dense_gemm_persistent.py` 1,055.",
}

// kernels returns the tables with the lines of the kernels of each system.
func kernels(t *testing.T) map[string]string {
	tables := make(map[string]string)
	for name, list := range entries {
		var b strings.Builder
		b.WriteString(
			"\nLines of Go of the kernels, without comments and blank lines, with the functions of the example that they call:\n\n")
		b.WriteString("| kernel | function | lines |\n|---|---|---|\n")
		for _, e := range list {
			kernel := e.kernel
			if e.generator {
				kernel += " (a generator of many kernels)"
			}
			n := countLines(t, filepath.Join("../../examples", e.directory), e.function)
			fmt.Fprintf(&b, "| %s | %s in examples/%s | %d |\n", kernel, e.function, e.directory, n)
			if n > most && !e.generator {
				t.Errorf("%s of %s has %d lines, more than %d", e.function, e.directory, n, most)
			}
		}
		if text := counterparts[name]; text != "" {
			fmt.Fprintf(&b, "\n%s\n", text)
		}
		tables[name] = b.String()
	}
	return tables
}

// countLines returns the lines of code of a function and of all functions and methods of its
// package that it refers to, directly or not. Files for checks and tests are not part of a kernel.
func countLines(t *testing.T, directory, function string) int {
	fset := token.NewFileSet()
	list, err := filepath.Glob(filepath.Join(directory, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	source := make(map[string][]byte)
	var files []*ast.File
	for _, name := range list {
		base := filepath.Base(name)
		if strings.HasSuffix(base, "_test.go") || strings.HasSuffix(base, "check.go") ||
			strings.HasPrefix(base, "variants") {
			continue
		}
		if source[name], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
		f, err := parser.ParseFile(fset, name, source[name], parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
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
				if d.Recv == nil && d.Name.Name == function {
					queue = append(queue, info.Defs[d.Name])
				}
			}
		}
	}
	if len(queue) == 0 {
		t.Fatalf("%s has no function %s", directory, function)
	}
	total := 0
	for i := 0; i < len(queue); i++ {
		d := declared[queue[i]]
		from, to := fset.Position(d.Pos()), fset.Position(d.End())
		total += codeLines(source[from.Filename][from.Offset:to.Offset])
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
	return total
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

// codeLines returns the number of lines with a token other than a comment.
func codeLines(text []byte) int {
	var s scanner.Scanner
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(text))
	s.Init(file, text, nil, 0)
	var lines []int
	for {
		at, kind, _ := s.Scan()
		if kind == token.EOF {
			return len(slices.Compact(lines))
		}
		lines = append(lines, file.Line(at))
	}
}
