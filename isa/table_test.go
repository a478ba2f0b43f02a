// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa_test

import (
	"encoding/csv"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/isa"
)

// TestSections compares the table with the list of instruction sections of PTX ISA 9.1: each row is
// covered by a form that names its section.
func TestSections(t *testing.T) {
	f, err := os.Open("testdata/ptx91_ops.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	covered := map[string][]string{} // maps sections to opcode heads
	set := isa.Standard()
	for ins := range set.All() {
		for _, form := range ins.Forms {
			covered[form.Section] = append(covered[form.Section], ins.Name)
		}
	}
	count := 0
	for _, row := range rows[1:] {
		section, op := row[0], row[1]
		if notInstructions[op] {
			continue
		}
		count++
		for _, word := range strings.FieldsFunc(strings.TrimSuffix(op, "(deprecated)"),
			func(r rune) bool { return strings.ContainsRune(" ,/", r) }) {
			head, _, _ := strings.Cut(word, ".")
			ok := slices.ContainsFunc(covered[section], func(name string) bool {
				return name == head || strings.HasPrefix(name, head+".")
			})
			if !ok {
				t.Errorf("section %s (%s) has no form of %s; forms there: %v", section, op, head,
					covered[section])
			}
		}
	}
	t.Logf("%d sections covered", count)
}

// notInstructions are rows of the list that are syntax, which the parser handles.
var notInstructions = map[string]bool{"{ }": true, "{}": true, "@": true}

// TestHeads compares the table with all opcode heads of PTX ISA 9.4.
func TestHeads(t *testing.T) {
	text, err := os.ReadFile("testdata/heads94.txt")
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]bool{}
	set := isa.Standard()
	for ins := range set.All() {
		head, _, _ := strings.Cut(ins.Name, ".")
		have[head] = true
	}
	for head := range strings.FieldsSeq(string(text)) {
		if !have[head] {
			t.Errorf("no instruction begins with %s", head)
		}
	}
}

// TestGates checks which targets gates include.
func TestGates(t *testing.T) {
	for _, test := range []struct {
		word, in, out string
	}{
		{"90", "sm_90 sm_90a sm_100 sm_100a sm_100f sm_101 sm_120a", "sm_89 sm_80"},
		{"90a", "sm_90a", "sm_90 sm_100 sm_100a"},
		{"100f", "sm_100f sm_100a sm_103f sm_103a sm_107a", "sm_100 sm_103 sm_110f sm_120f sm_90a"},
		{"103f", "sm_103f sm_103a sm_107f", "sm_100f sm_100a sm_110a"},
		{"100a", "sm_100a", "sm_100f sm_103a"},
		{"110f", "sm_110f sm_110a sm_101f sm_101a", "sm_110 sm_100f sm_120f"},
		{"101a", "sm_101a", "sm_110a sm_101f"},
		{"120f", "sm_120f sm_120a sm_121f sm_121a", "sm_120 sm_110f"},
	} {
		set, err := isa.TargetsNamed(isa.Targets, test.word)
		if err != nil {
			t.Errorf("%s: %v", test.word, err)
			continue
		}
		for list, want := range map[string]bool{test.in: true, test.out: false} {
			for name := range strings.FieldsSeq(list) {
				target, ok := isa.ParseTarget(name)
				if !ok {
					t.Errorf("no target %s", name)
				} else if set.Has(target) != want {
					t.Errorf("%s holds %s: %v, want %v", test.word, name, !want, want)
				}
			}
		}
	}
}

// TestSharedLists checks that equal operand lists share memory between instructions, since the
// garbage collector scans the instructions that a program uses.
func TestSharedLists(t *testing.T) {
	first := map[string]*isa.Operand{}
	for ins := range isa.Standard().All() {
		for _, form := range ins.Forms {
			if len(form.Operands) == 0 {
				continue
			}
			is := fmt.Sprintf("%+v", form.Operands)
			if strings.Contains(is, "Pair:0x") {
				continue // depends on the position of the other half
			}
			at := &form.Operands[0]
			if there, ok := first[is]; ok && there != at {
				t.Fatalf("%s: the operands of %s are stored twice", ins.Name, form.Template)
			}
			first[is] = at
		}
	}
	if len(first) < 200 {
		t.Errorf("%d lists of operands", len(first))
	}
}
