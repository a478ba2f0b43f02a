// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package systems

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// An execution is what ran when a variant was built.
type execution struct {
	variant string
	blocks  []block
}

// A block is a part of a function without branches.
type block struct {
	file     string
	from, to int // lines
	ran      bool
}

// largest returns the number of lines of some functions that run for the variant with the most, and
// its name.
func largest(functions []function, executions []execution) (n int, variant string) {
	for _, e := range executions {
		lines := 0
		for _, f := range functions {
			lines += e.lines(f)
		}
		if lines > n {
			n, variant = lines, e.variant
		}
	}
	return n, variant
}

// lines returns the lines of a function that run: all of them if it is called, but those of blocks
// that do not run. The line on which such a block starts counts, because it has the condition.
func (e execution) lines(f function) int {
	called, count := false, 0
	for _, line := range f.lines {
		ran, skipped := false, false
		for _, b := range e.blocks {
			if b.file != f.file {
				continue
			}
			ran = ran || b.ran && b.from <= line && line <= b.to
			skipped = skipped || !b.ran && b.from < line && line <= b.to
		}
		called = called || ran
		if ran || !skipped {
			count++
		}
	}
	if !called {
		return 0
	}
	return count
}

// execute builds all variants of some examples and returns what ran, by example. It runs a program
// in which the files of the kernels count the executions of their blocks, as for go test -cover.
func execute(t *testing.T, directories []string) map[string][]execution {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir, replaced := t.TempDir(), make(map[string]string)
	write := func(path, text string) {
		name := filepath.Join(dir, fmt.Sprintf("%d.go", len(replaced)))
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		replaced[path] = name
	}
	cover := strings.Fields(run(t, root, "go", "tool", "-n", "cover"))[0]
	var imports, calls strings.Builder
	for i, directory := range directories {
		var names, counts, positions []string
		files := kernelFiles(t, filepath.Join(root, "examples", directory))
		for j, path := range files {
			counter := fmt.Sprintf("blocksOf%d", j)
			write(path, run(t, root, cover, "-mode=set", "-var="+counter, path))
			names = append(names, fmt.Sprintf("%q", filepath.Base(path)))
			counts, positions = append(counts, counter+".Count[:]"),
				append(positions, counter+".Pos[:]")
		}
		write(filepath.Join(root, "examples", directory, "executed.go"), fmt.Sprintf(
			"package %s\nfunc Executed() ([]string, [][]uint32, [][]uint32) {\nreturn []string{%s}, [][]uint32{%s}, [][]uint32{%s}\n}\n",
			packageName(t, files[0]), strings.Join(names, ", "), strings.Join(counts, ", "),
			strings.Join(positions, ", ")))
		fmt.Fprintf(&imports, "p%d %q\n", i, "github.com/ptxdsl/ptxdsl/examples/"+directory)
		fmt.Fprintf(&calls, "write(%q, p%d.Variants(), p%[2]d.Executed)\n", directory, i)
	}
	write(filepath.Join(root, "internal/systems/executed/main.go"),
		fmt.Sprintf(program, imports.String(), calls.String()))
	overlay, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o644); err != nil {
		t.Fatal(err)
	}
	executions := make(map[string][]execution)
	for line := range strings.Lines(
		run(t, root, "go", "run", "-overlay="+list, "./internal/systems/executed")) {
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		e := execution{variant: cells[1]}
		for _, text := range cells[2:] {
			var b block
			if _, err := fmt.Sscan(text, &b.file, &b.from, &b.to, &b.ran); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			e.blocks = append(e.blocks, b)
		}
		executions[cells[0]] = append(executions[cells[0]], e)
	}
	return executions
}

// program writes a line for each variant, with all blocks of the example's files.
const program = `package main

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
	%s)

func write(directory string, variants []kerneltest.Variant, executed func() ([]string, [][]uint32, [][]uint32)) {
	names, counts, positions := executed()
	for _, v := range variants {
		for _, list := range counts {
			clear(list)
		}
		v.Build(dsl.New("variant", v.Targets[0]))
		fmt.Printf("%%s\t%%s, %%s", directory, v.Option, v.Name)
		for i, list := range counts {
			for j, n := range list {
				fmt.Printf("\t%%s %%d %%d %%t", names[i], positions[i][3*j], positions[i][3*j+1], n > 0)
			}
		}
		fmt.Println()
	}
}

func main() {
	%s}
`

// packageName returns the name of the package of a file.
func packageName(t *testing.T, path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	i := slices.IndexFunc(lines, func(line string) bool {
		return strings.HasPrefix(line, "package ")
	})
	if i < 0 {
		t.Fatalf("%s has no package clause", path)
	}
	return strings.TrimPrefix(lines[i], "package ")
}

// run runs a command and returns what it prints.
func run(t *testing.T, dir, name string, args ...string) string {
	command := exec.CommandContext(t.Context(), name, args...)
	command.Dir = dir
	var text, problems bytes.Buffer
	command.Stdout, command.Stderr = &text, &problems
	if err := command.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, problems.String())
	}
	return text.String()
}

// TestLines checks which lines count as executed.
func TestLines(t *testing.T) {
	f := function{"a.go", []int{10, 11, 12, 13, 14, 15, 16}}
	e := execution{
		blocks: []block{{"a.go", 10, 11, true}, {"a.go", 11, 14, false}, {"a.go", 14, 15, true},
			{"b.go", 10, 16, true}}}
	if n := e.lines(f); n != 5 {
		t.Errorf("%d lines, want 5: all but 12 and 13", n)
	}
	if n := e.lines(function{"c.go", []int{1, 2}}); n != 0 {
		t.Errorf("%d lines of a function that is not called", n)
	}
}
