// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package structure

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/isa"
)

// opcodeText is, for each package that compares the text of opcodes, the number of lines that do.
// What an instruction does is defined in isa: use Kind, Mod and Operation. The numbers only go
// down. A package that is not listed has none.
var opcodeText = map[string]int{}

// textPackages read or write PTX text, so they may look at it, as isa itself may: the parser, the
// form checks, the generator of isa, the harnesses that write PTX programs, and the mutants, which
// edit text.
var textPackages = []string{"ptx", "form", "internal/gen", "internal/oracle",
	"passes/verify/mutants"}

// otherWords are files whose literals are spelled as words of PTX but mean something else, with
// what they mean.
var otherWords = map[string]string{
	"bench/cmd/emubench/main.go":                     "names of benchmarks",
	"bench/family.go":                                "names of parameters",
	"bench/gemm.go":                                  "names of types",
	"examples/15_matmul_hopper/variants.go":          "names of parameters",
	"bench/cmd/gpubench/main.go":                     "names of benchmarks",
	"cmd/ptxdsl/opt.go":                              "names of passes",
	"cmd/ptxdsl/runarray.go":                         "types of arguments on the command line",
	"examples/08_rmsnorm/family_check.go":            "names of parameters",
	"examples/13_matmul_multistage/options_check.go": "names of parameters",
	"examples/17_matmul_blockscaled/check.go":        "names of parameters",
	"examples/17_matmul_blockscaled/variants.go":     "names of parameters",
	"examples/23_gemm/gemm.go":                       "names of parameters",
	"examples/27_calls/experts.go":                   "names of parameters",
	"examples/27_calls/kernel.go":                    "names of parameters",
	"examples/27_calls/rows.go":                      "names of parameters",
	"examples/27_calls/scaled.go":                    "names of parameters",
	"examples/27_calls/sparse.go":                    "names of parameters",
	"passes/pressure/regclass.go":                    "names of special registers",
	"runtime/argument.go":                            "types of parameters in a signature",
	"runtime/emu/bulk.go":                            "names of operands in the spec",
	"runtime/emu/coverage.go":                        "families of the spec",
	"runtime/emu/inspect/timeline.go":                "categories of the timeline",
	"runtime/emu/memmodel/decide.go":                 "the notation of litmus tests",
	"runtime/emu/memmodel/parse.go":                  "the notation of litmus tests",
	"runtime/emu/memmodel/values.go":                 "the notation of litmus tests",
	"runtime/kerneltest/gemm.go":                     "names of parameters",
	"runtime/signature.go":                           "types of parameters in a signature",
	"runtime/mapping.go":                             "types of elements",
}

// TestOpcodeText counts the lines that compare the text of opcodes.
func TestOpcodeText(t *testing.T) {
	v := newVocabulary()
	found, exempt := make(map[string][]string), make(map[string]bool)
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel("../..", path)
		name = filepath.ToSlash(name)
		if d.IsDir() {
			skip := name != "." &&
				(strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" ||
					d.Name() == "build" || readsText(name))
			if skip {
				return filepath.SkipDir
			}
			return nil
		}
		if filepath.ToSlash(filepath.Dir(name)) == "isa" || !strings.HasSuffix(name, ".go") ||
			strings.HasSuffix(name, "_test.go") || strings.HasPrefix(d.Name(), "z") {
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		lines := make(map[int]bool)
		v.compared(file, func(n ast.Expr) {
			if otherWords[name] == "" {
				lines[files.Position(n.Pos()).Line] = true
			}
			exempt[name] = true
		})
		folder := filepath.ToSlash(filepath.Dir(name))
		for _, line := range slices.Sorted(maps.Keys(lines)) {
			found[folder] = append(found[folder], name+":"+strconv.Itoa(line))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for folder, lines := range found {
		if n := len(lines); n > opcodeText[folder] {
			t.Errorf("%s: %d lines compare the text of opcodes; at most %d may:\n%s", folder, n,
				opcodeText[folder], strings.Join(lines, "\n"))
		}
	}
	for name := range otherWords {
		if !exempt[name] {
			t.Errorf("%s has no words of PTX any more; remove it from otherWords", name)
		}
	}
	for folder, n := range opcodeText {
		if len(found[folder]) < n {
			t.Errorf("%s: %d lines compare the text of opcodes; lower the number in opcodeText, which is %d", folder, len(found[folder]), n)
		}
	}
}

// readsText reports whether a folder belongs to textPackages.
func readsText(folder string) bool {
	return slices.ContainsFunc(textPackages, func(p string) bool { return within(folder, p) })
}

// A vocabulary holds the words of opcodes.
type vocabulary struct {
	words map[string]bool // heads, words of names, and modifiers, without their dots
	names []string        // names of instructions
}

func newVocabulary() *vocabulary {
	v := &vocabulary{words: make(map[string]bool)}
	for ins := range isa.Standard().All() {
		v.names = append(v.names, ins.Name)
		for w := range strings.SplitSeq(ins.Name, ".") {
			v.words[w] = true
		}
	}
	for m := isa.NoMod + 1; m.String() != ""; m++ {
		v.words[m.String()[1:]] = true
	}
	return v
}

// opcode reports whether text is a part of an opcode: words with dots between them, or the
// beginning of a name of at least four letters.
func (v *vocabulary) opcode(text string) bool {
	text = strings.Trim(text, ".")
	if text == "" {
		return false
	}
	if len(text) >= 4 &&
		slices.ContainsFunc(v.names, func(name string) bool {
			return strings.HasPrefix(name, text)
		}) {
		return true
	}
	for w := range strings.SplitSeq(text, ".") {
		if !v.words[w] {
			return false
		}
	}
	return true
}

// compared calls visit for each literal in file that is compared with something and is a part of an
// opcode, or that is compared with the field Op or the result of the methods Head, Mod and Has.
func (v *vocabulary) compared(file *ast.File, visit func(n ast.Expr)) {
	check := func(with ast.Expr, list ...ast.Expr) {
		for _, e := range list {
			text, ok := literal(e)
			if _, directive := isa.DirectiveNamed(text); !ok || text == "" ||
				directive && ofInstr(with) {
				continue // the text of a directive is not an opcode
			}
			if v.opcode(text) || ofInstr(with) {
				visit(e)
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.NEQ {
				check(n.X, n.Y)
				check(n.Y, n.X)
			}
		case *ast.SwitchStmt:
			for _, c := range n.Body.List {
				if n.Tag != nil {
					check(n.Tag, c.(*ast.CaseClause).List...)
				}
			}
		case *ast.CompositeLit:
			keyed := false
			switch t := n.Type.(type) {
			case *ast.MapType:
				keyed = isString(t.Key)
			}
			for _, e := range n.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok && keyed {
					check(nil, kv.Key)
				}
			}
		case *ast.CallExpr:
			v.call(n, check, visit)
		}
		return true
	})
}

// call checks the arguments of functions that search a string or a list of strings.
func (v *vocabulary) call(n *ast.CallExpr, check func(with ast.Expr, list ...ast.Expr),
	visit func(n ast.Expr)) {
	s, ok := n.Fun.(*ast.SelectorExpr)
	if !ok {
		return
	}
	if p, ok := s.X.(*ast.Ident); ok {
		switch {
		case p.Name == "strings" &&
			!slices.Contains([]string{"Join", "Repeat", "ReplaceAll", "Replace", "NewReplacer"},
				s.Sel.Name):
			for i := 1; i < len(n.Args); i++ {
				check(n.Args[0], n.Args[i])
			}
			return
		case p.Name == "slices":
			for _, a := range n.Args {
				check(nil, a)
				if list, ok := a.(*ast.CompositeLit); ok {
					check(nil, list.Elts...)
				}
			}
			return
		}
	}
	if slices.Contains([]string{"Mod", "Head", "Has"}, s.Sel.Name) {
		check(nil, n.Args...)
	}
	if p, ok := s.X.(*ast.Ident); s.Sel.Name == "Mod" &&
		(!ok || !slices.Contains([]string{"isa", "dsl", "math"}, p.Name)) && len(n.Args) == 1 {
		if _, ok := n.Args[0].(*ast.Ident); ok {
			visit(n.Args[0]) // the text of a modifier in a variable
		}
	}
}

// ofInstr reports whether e is the text of an opcode: in.Op, in.Head().
func ofInstr(e ast.Expr) bool {
	if c, ok := e.(*ast.CallExpr); ok {
		e = c.Fun
	}
	s, ok := e.(*ast.SelectorExpr)
	return ok && (s.Sel.Name == "Op" || s.Sel.Name == "Head")
}

func isString(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "string"
}

// literal returns the value of a string literal.
func literal(e ast.Expr) (string, bool) {
	l, ok := e.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(l.Value)
	return text, err == nil
}
