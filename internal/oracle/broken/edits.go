// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package broken

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// An Edit is a change of a call in Go code that builds kernels.
type Edit struct {
	File string
	Line int
	What string
}

// omitted lists the beginnings of the names of builder calls that an edit leaves out.
var omitted = []string{"Sync", "Arrive", "arrive", "Wait", "wait", "Fence", "Commit", "Release",
	"release", "LaunchDependents", "Signal", "Publish", "Dealloc"}

// counted lists the builder calls with an int argument, by its index, that an edit changes by one:
// pending groups, and arrivals.
var counted = map[string]int{"WaitCopies": 0, "WaitMMA": 0, "WaitStores": 0, "WaitStoresRead": 0,
	"Barrier": 1, "Barriers": 2}

// opcodes lists the beginnings of opcodes whose instruction an edit leaves out where the builder
// emits it by its text.
var opcodes = []string{"fence.", "bar", "mbarrier.", "cp.async.commit", "cp.async.wait",
	"cp.async.bulk.commit", "cp.async.bulk.wait", "wgmma.fence", "wgmma.commit", "wgmma.wait",
	"tcgen05.commit", "tcgen05.wait", "tcgen05.fence", "griddepcontrol."}

// orders lists the memory orders that an edit weakens in the text of an opcode.
var orders = []string{".release", ".acquire", ".acq_rel"}

// A change replaces the bytes from the first offset to the second.
type change struct {
	from, to int
	text     string
}

// Switches returns Go source with a switch at each builder call that synchronizes, and the edits
// that the switches make. The number of the first switch is first. The source imports a package
// edit, which decides.
func Switches(name string, source []byte, first int) ([]byte, []Edit, error) {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, name, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, nil, err
	}
	var edits []Edit
	var changes []change
	at := func(p token.Pos) int { return files.Position(p).Offset }
	add := func(n ast.Node, before, after, what string) {
		id := first + len(edits)
		edits = append(edits, Edit{name, files.Position(n.Pos()).Line, what})
		changes = append(changes, change{at(n.Pos()), at(n.Pos()), fmt.Sprintf(before, id)},
			change{at(n.End()), at(n.End()), after})
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ExprStmt:
			if call, ok := n.X.(*ast.CallExpr); ok && synchronizes(call) {
				add(n, "if edit.Keeps(%d) { ", " }", "leave out "+nameOf(call))
			}
		case *ast.CallExpr:
			if i, ok := counted[nameOf(n)]; ok && i < len(n.Args) {
				add(n.Args[i], "edit.Count(%d, ", ")", "add one to a count of "+nameOf(n))
			}
		case *ast.BasicLit:
			if n.Kind == token.STRING && weakens(n.Value) {
				add(n, "edit.Order(%d, ", ")", "weaken "+n.Value)
			}
		case *ast.ImportSpec, *ast.GenDecl:
			return !declares(n)
		}
		return true
	})
	if len(edits) == 0 {
		return source, nil, nil
	}
	changes = append(changes, change{at(f.Name.End()), at(f.Name.End()),
		"; import \"" + module + "/internal/edit\""})
	return apply(source, changes), edits, nil
}

// declares reports whether a node is an import or a constant, which a switch cannot change.
func declares(n ast.Node) bool {
	g, ok := n.(*ast.GenDecl)
	return !ok || g.Tok != token.VAR
}

// synchronizes reports whether an edit leaves out a call.
func synchronizes(call *ast.CallExpr) bool {
	name := nameOf(call)
	if name == "ins" && len(call.Args) > 0 {
		text, ok := call.Args[0].(*ast.BasicLit)
		return ok && begins(strings.Trim(text.Value, "\"`"), opcodes)
	}
	_, method := call.Fun.(*ast.SelectorExpr)
	return method && begins(name, omitted)
}

// nameOf returns the name of the function or method of a call.
func nameOf(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.SelectorExpr:
		return f.Sel.Name
	case *ast.Ident:
		return f.Name
	}
	return ""
}

func begins(s string, list []string) bool {
	return slices.ContainsFunc(list, func(p string) bool { return strings.HasPrefix(s, p) })
}

// weakens reports whether a string is an opcode, or its end, with a memory order.
func weakens(s string) bool {
	return !strings.ContainsAny(s, " %") &&
		slices.ContainsFunc(orders, func(o string) bool { return strings.Contains(s, o) })
}

// apply makes changes.
func apply(source []byte, changes []change) []byte {
	slices.SortStableFunc(changes, func(a, b change) int { return a.from - b.from })
	var out bytes.Buffer
	end := 0
	for _, c := range changes {
		out.Write(source[end:c.from])
		out.WriteString(c.text)
		end = c.to
	}
	out.Write(source[end:])
	return out.Bytes()
}

// module is the path of this module.
const module = "github.com/ptxdsl/ptxdsl"

// A Builder is a program that builds kernels with one edit.
type Builder struct {
	path  string
	Edits []Edit
}

// NewBuilder compiles, into a folder, a program that builds kernels from the Go files of a module
// with switches. The program's main function is given.
func NewBuilder(root, folder, main string, patterns []string) (*Builder, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	b := &Builder{path: filepath.Join(folder, "builder")}
	overlay := make(map[string]string)
	put := func(path string, text []byte) error {
		to := filepath.Join(folder, strconv.Itoa(len(overlay))+".go")
		overlay[filepath.Join(root, path)] = to
		return os.WriteFile(to, text, 0o644)
	}
	if err := put("internal/edit/edit.go", []byte(decides)); err != nil {
		return nil, err
	}
	if err := put("internal/editbuilder/main.go", []byte(main)); err != nil {
		return nil, err
	}
	for _, p := range patterns {
		names, err := filepath.Glob(filepath.Join(root, p))
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			text, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			short, _ := filepath.Rel(root, name)
			text, edits, err := Switches(short, text, len(b.Edits))
			if err != nil {
				return nil, err
			}
			b.Edits = append(b.Edits, edits...)
			if len(edits) > 0 {
				if err := put(short, text); err != nil {
					return nil, err
				}
			}
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		return nil, err
	}
	file := filepath.Join(folder, "overlay.json")
	if err := os.WriteFile(file, list, 0o644); err != nil {
		return nil, err
	}
	c := exec.Command("go", "build", "-overlay", file, "-o", b.path, module+"/internal/editbuilder")
	c.Dir = root
	if out, err := c.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return b, nil
}

// Build returns the PTX of a kernel with an edit, or without one if the number is negative. The
// error says that the builder refuses the edit.
func (b *Builder) Build(kernel string, edit int) (string, error) {
	c := exec.Command(b.path, kernel, strconv.Itoa(edit))
	out, err := c.Output()
	return string(out), err
}

// decides is the package whose functions are the switches.
const decides = `package edit

import (
	"os"
	"strconv"
	"strings"
)

var chosen = func() int {
	if len(os.Args) > 2 {
		if n, err := strconv.Atoi(os.Args[2]); err == nil {
			return n
		}
	}
	return -1
}()

// Keeps reports whether a call is kept.
func Keeps(n int) bool { return n != chosen }

// Count returns a count, or one more.
func Count(n, x int) int {
	if n == chosen {
		x++
	}
	return x
}

// Order returns the text of an opcode, with its memory order or with none.
func Order(n int, s string) string {
	if n == chosen {
		s = strings.NewReplacer(".release", ".relaxed", ".acquire", ".relaxed", ".acq_rel", ".relaxed").Replace(s)
	}
	return s
}
`
