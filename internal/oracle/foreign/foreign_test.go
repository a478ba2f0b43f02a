// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/golden"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// archive is written by make foreign. FOREIGN_ARCHIVE names another one.
func archive(t testing.TB) *Archive {
	t.Helper()
	name := "testdata/foreign.tar.bz2"
	if other := os.Getenv("FOREIGN_ARCHIVE"); other != "" {
		name = other
	}
	packed, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	a, err := Read(packed)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// A mode is how the emulator runs a kernel.
type mode struct {
	seed       uint64
	completion emu.Completion
}

// modes returns the modes in which kernels run: two seeds and both completions. FOREIGN=full adds
// every combination, and completions at random. Each must leave the same results.
func modes() []mode {
	list := []mode{{1, emu.Late}, {2, emu.Eager}}
	if os.Getenv("FOREIGN") == "full" {
		list = append(list, mode{1, emu.Eager}, mode{2, emu.Late}, mode{3, emu.Random},
			mode{4, emu.Random})
	}
	return list
}

// TestKernels runs every kernel in every mode and compares its results with those of NumPy.
func TestKernels(t *testing.T) {
	a := archive(t)
	for i := range a.Cases {
		c := &a.Cases[i]
		t.Run(c.Title(), func(t *testing.T) {
			t.Parallel()
			for _, m := range modes() {
				r, err := a.Run(t.Context(), c,
					emu.Options{Seed: m.seed, Completion: m.completion, Workers: 1})
				if err != nil {
					t.Fatalf("seed %d, completion %v: %v", m.seed, m.completion, err)
				}
				if r.Elements == 0 || r.Instructions == 0 {
					t.Fatalf("seed %d: nothing was compared: %+v", m.seed, r)
				}
			}
		})
	}
}

// TestWrongResults checks that the comparison finds results that are wrong in one element.
func TestWrongResults(t *testing.T) {
	a := archive(t)
	checked := 0
	for i := range a.Cases {
		c := &a.Cases[i]
		for j := range c.Args {
			arg := &c.Args[j]
			if arg.Role != "out" || arg.Want == "" || arg.Type != "f32" || arg.Abs+arg.Rel == 0 {
				continue
			}
			got := bytes.Clone(a.files["data/"+arg.Want])
			if err := a.compare(arg, got, new(Result)); err != nil {
				t.Fatalf("%s: the expected result is refused: %v", c.Title(), err)
			}
			checked++
			v := decode("f32", got[:4])
			binary.LittleEndian.PutUint32(got,
				uint32(encode("f32", v+2*(arg.Abs+arg.Rel*math.Abs(v))+1e-30)))
			if a.compare(arg, got, new(Result)) == nil {
				t.Errorf("%s: a wrong element passes", c.Title())
			}
		}
	}
	if checked == 0 {
		t.Error("nothing was checked")
	}
}

// page lists the kernels.
const page = "../../../docs/reference/foreign.md"

// TestPage checks that the page has a row for each kernel, and that some rows are up to date. With
// -update it runs all kernels and writes the page.
func TestPage(t *testing.T) {
	a := archive(t)
	old, err := os.ReadFile(page)
	if err != nil && !golden.Updating() {
		t.Fatal(err)
	}
	lines := strings.Split(string(old), "\n")
	var text strings.Builder
	distinct := make(map[string]bool)
	for i := range a.Cases {
		distinct[a.Cases[i].Source+a.Cases[i].Kernel] = true
	}
	head := fmt.Sprintf(pageHead, len(distinct), len(a.Cases), a.Compilers["nvcc"],
		a.Compilers["triton"])
	text.WriteString(head)
	if !strings.HasPrefix(string(old), head) && !golden.Updating() {
		t.Errorf("%s is out of date: go test ./internal/oracle/foreign -run TestPage -update", page)
	}
	for i := range a.Cases {
		c := &a.Cases[i]
		if !golden.Updating() && i%40 != 0 {
			prefix := fmt.Sprintf("| %s | %s | %s |", c.Title(), c.Kernel, c.Compiler)
			if !slices.ContainsFunc(lines,
				func(s string) bool { return strings.HasPrefix(s, prefix) }) {
				t.Errorf("%s has no row for %s: go test ./internal/oracle/foreign -run TestPage -update", page, c.Title())
			}
			continue
		}
		row := a.row(t, c)
		text.WriteString(row + "\n")
		if !golden.Updating() && !slices.Contains(lines, row) {
			t.Errorf("%s has an old row for %s; now it is\n%s", page, c.Title(), row)
		}
	}
	if golden.Updating() && !t.Failed() {
		if err := os.WriteFile(page, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// row runs a case and returns its row of the page.
func (a *Archive) row(t *testing.T, c *Case) string {
	r, err := a.Run(t.Context(), c, emu.Options{Seed: 1, Workers: 1})
	if err != nil {
		t.Errorf("%s: %v", c.Title(), err)
	}
	reached := "0"
	if r.Error > 0 {
		reached = fmt.Sprintf("%.2g of %.2g", r.Error, r.Allowed)
	}
	var tolerances []string
	for i := range c.Args {
		arg := &c.Args[i]
		if arg.Role != "out" {
			continue
		}
		text := "exact"
		switch {
		case arg.Abs > 0 && arg.Rel > 0:
			text = fmt.Sprintf("%.2g + %.2g·want: %s", arg.Abs, arg.Rel, arg.Why)
		case arg.Abs > 0:
			text = fmt.Sprintf("%.2g: %s", arg.Abs, arg.Why)
		case arg.Rel > 0:
			text = fmt.Sprintf("%.2g·want: %s", arg.Rel, arg.Why)
		}
		if !slices.Contains(tolerances, text) {
			tolerances = append(tolerances, text)
		}
	}
	return fmt.Sprintf("| %s | %s | %s | %v × %v | %d | %d | %s | %s |", c.Title(), c.Kernel,
		c.Compiler,
		c.Grid, c.Block, r.Instructions, r.Elements, reached, strings.Join(tolerances, "; "))
}

const pageHead = `<!-- Generated by go test ./internal/oracle/foreign -run TestPage -update. Do not edit. -->
# Kernels of nvcc and Triton in the emulator

This page shows what the emulator computes from PTX that other compilers generated: %d kernels, in %d cases
that differ in target or arguments. The compilers are nvcc %s and Triton %s. The sources are in
internal/oracle/foreign, beside NumPy functions that compute the same. The test needs neither a compiler
nor Python. It runs each kernel with two seeds, and with asynchronous operations that complete early and
late.

If the tolerance is *exact*, all elements are equal in every bit. Otherwise *largest error* gives the
error and the tolerance of the element that comes closest to its tolerance, as in 5.7e-14 of 2.8e-11.
*Elements* counts the elements that were compared. *Instructions* counts the instructions of all threads,
for the first seed.

| source, kernel and target | entry | compiler | grid × block | instructions | elements | largest error | tolerance |
|---|---|---|---|---|---|---|---|
`
