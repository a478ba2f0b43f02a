// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package broken

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/passes/verify/mutants"
)

var full = flag.Bool("full", false, "build kernels with edits of their Go code, and judge them")

// kernelsToEdit are the kernels that edits break, and the program that builds them.
var kernelsToEdit = []string{"reduce", "scan", "histogram", "clusters", "splitk", "topk",
	"multistage", "hopper", "hopper_cluster", "blackwell"}

const builderMain = `package main

import (
	"fmt"
	"os"

	"github.com/ptxdsl/ptxdsl/dsl"
	reduce "github.com/ptxdsl/ptxdsl/examples/04_reduce"
	scan "github.com/ptxdsl/ptxdsl/examples/05_scan"
	histogram "github.com/ptxdsl/ptxdsl/examples/06_histogram"
	clusters "github.com/ptxdsl/ptxdsl/examples/11_clusters"
	splitk "github.com/ptxdsl/ptxdsl/examples/12_matmul_splitk"
	multistage "github.com/ptxdsl/ptxdsl/examples/13_matmul_multistage"
	hopper "github.com/ptxdsl/ptxdsl/examples/15_matmul_hopper"
	blackwell "github.com/ptxdsl/ptxdsl/examples/16_matmul_blackwell"
	topk "github.com/ptxdsl/ptxdsl/examples/25_topk"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/lower"
)

func main() {
	target := "sm_90a"
	if os.Args[1] == "blackwell" {
		target = "sm_100a"
	}
	m := dsl.New(os.Args[1]+"."+target, target)
	switch os.Args[1] {
	case "reduce":
		reduce.Build(m)
	case "scan":
		scan.Build(m)
	case "histogram":
		histogram.Build(m)
	case "clusters":
		clusters.Build(m)
	case "splitk":
		splitk.Build(m, splitk.Default)
	case "topk":
		topk.Build(m, isa.F32, 50)
	case "multistage":
		multistage.Build(m, isa.F16, multistage.Default(isa.F16))
	case "hopper":
		hopper.Build(m, hopper.Default)
	case "hopper_cluster":
		t := hopper.Default
		t.Cluster = 2
		hopper.Build(m, t)
	case "blackwell":
		blackwell.Build(m, blackwell.DefaultOf(isa.Bf16, false))
	default:
		os.Exit(3)
	}
	built, list := m.Build() // Text would refuse most edits, because the builder verifies kernels
	if built == nil {
		fmt.Fprintln(os.Stderr, list)
		os.Exit(1)
	}
	fmt.Print(lower.Text(built))
}
`

// TestSwitches checks which calls get a switch, and that edited code is still Go.
func TestSwitches(t *testing.T) {
	const source = `package p

func f(k *Kernel) {
	k.Sync()
	k.WaitMMA(1)
	b := k.Barrier("full", 128)
	b.arriveAt(0, ".release")
	k.ins("fence.proxy.async.shared::cta")
	k.ins("add.u32", b)
	x := k.Load()
	_ = x
}
`
	out, edits, err := Switches("p.go", []byte(source), 7)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range edits {
		got = append(got, fmt.Sprintf("%d %s", e.Line, e.What))
	}
	want := []string{"4 leave out Sync", "5 leave out WaitMMA", "5 add one to a count of WaitMMA",
		"6 add one to a count of Barrier", "7 leave out arriveAt", `7 weaken ".release"`,
		"8 leave out ins"}
	if !slices.Equal(got, want) {
		t.Errorf("edits %q, want %q", got, want)
	}
	for _, s := range []string{"if edit.Keeps(7) { k.Sync() }",
		"if edit.Keeps(8) { k.WaitMMA(edit.Count(9, 1)) }",
		`b.arriveAt(0, edit.Order(12, ".release"))`} {
		if !strings.Contains(string(out), s) {
			t.Errorf("no %s in\n%s", s, out)
		}
	}
	if _, _, err := Switches("p.go", out, 0); err != nil {
		t.Errorf("not Go: %v", err)
	}
}

// TestEdits builds kernels with edits of the Go code of the builder and of the examples, and judges
// them like other mutants. It runs with -full only: it compiles the builder and takes long.
func TestEdits(t *testing.T) {
	if !*full {
		return // TestSwitches covers the edits, and TestMutants how mutants are judged
	}
	b, err := NewBuilder("../../..", t.TempDir(), builderMain,
		[]string{"dsl/*.go", "examples/*/*.go"})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d edits", len(b.Edits))
	skipped := withError(t)
	counts, n := make(map[string]int), 0
	for _, name := range kernelsToEdit {
		if !chosen(name) {
			continue
		}
		text, err := b.Build(name, -1)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		s := &subject{Kernel: mutants.Kernel{Name: name, Text: text}}
		seen := map[string]bool{text: true}
		for i, e := range b.Edits {
			edited, err := b.Build(name, i)
			if err != nil || seen[edited] {
				continue // the builder refuses it, or the kernel does not have the call
			}
			seen[edited] = true
			label := fmt.Sprintf("%s: %s:%d %s", name, e.File, e.Line, e.What)
			if n++; (n-1)%*each != *first || skipped[label] {
				continue
			}
			j, err := s.judge(edited)
			if errors.Is(err, errOriginal) {
				t.Errorf("%s: %v", name, err)
				break
			}
			if err != nil {
				continue
			}
			key := j.key()
			counts[key]++
			write(t, fmt.Sprintf("%s: %s, %s %v\n", label, key, j.differs, j.rules))
			if j.broken() && j.run == "clean" && j.static == "clean" {
				t.Errorf("broken, but clean in both: %s", label)
			}
		}
	}
	for key, n := range counts {
		t.Logf("%4d %s", n, key)
	}
}
