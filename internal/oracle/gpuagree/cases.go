// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gpuagree

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
	"github.com/ptxdsl/ptxdsl/isa/eval/tensorcore"
)

// Rows is the number of inputs of a case, one for each thread of 32 warps.
const Rows = 1024

// A Case is one operation, which is applied to the inputs of 32 warps. Exactly one of Op, MMA and
// Group is set.
type Case struct {
	ID        string // the opcode, and whatever else distinguishes this case
	Opcode    string
	Family    string
	Immediate int // truth table of lop3, or sparsity selector
	Op        *eval.Op
	MMA       *tensorcore.MMA
	Group     *tensorcore.Product
}

// excluded lists pure instructions that are not arithmetic of a lane, or whose results depend on
// the implementation.
var excluded = []string{"mov", "isspacep", "cvta", "mapa", "getctarank", "movmatrix", "istypep",
	"txq", "suq", "createpolicy", "spcompress", "spdecompress", "mbarrier", "clusterlaunchcontrol"}

// tables lists the truth tables of lop3 that are tested.
var tables = []int{0x00, 0x1a, 0x3c, 0x40, 0x6a, 0x80, 0x96, 0xc9, 0xca, 0xd8, 0xe8, 0xf8, 0xfe,
	0xff}

// Cases returns the cases for a target and a PTX version, in a fixed order.
func Cases(version isa.Version, target isa.Target, sm int) ([]Case, error) {
	var all []Case
	seen := map[string]bool{}
	add := func(c Case) {
		if !seen[c.ID] {
			seen[c.ID] = true
			all = append(all, c)
		}
	}
	set := isa.Standard()
	for ins := range set.All() {
		head, _, _ := strings.Cut(ins.Name, ".")
		for i := range ins.Forms {
			form := &ins.Forms[i]
			pure := slices.Contains(form.Effects, "pure") && !slices.Contains(excluded, head)
			group := strings.HasPrefix(ins.Name, "wgmma.mma_async")
			if !pure && !group && ins.Name != "mma" {
				continue
			}
			for slots := range spellings(form) {
				if !isLegal(form, slots, version, target) {
					continue
				}
				opcode := set.Opcode(ins, slots)
				var err error
				switch {
				case pure:
					scalarCases(form.Kind, slots, opcode, ins.Family, add)
				case group:
					err = groupCases(slots, opcode, sm, add)
				default:
					err = productCases(form.Kind, slots, opcode, sm, add)
				}
				if err != nil {
					return nil, err
				}
			}
		}
	}
	return all, nil
}

// spellings returns the valid combinations of a form's modifiers.
func spellings(form *isa.Form) func(yield func([]isa.Mod) bool) {
	return func(yield func([]isa.Mod) bool) {
		slots := make([]isa.Mod, len(form.Slots))
		var fill func(at int) bool
		fill = func(at int) bool {
			if at == len(slots) {
				return !form.Allows(slots) || yield(slots)
			}
			if !form.Slots[at].Required {
				slots[at] = isa.NoMod
				if !fill(at + 1) {
					return false
				}
			}
			for _, v := range form.Slots[at].Values {
				slots[at] = v.Mod
				if !fill(at + 1) {
					return false
				}
			}
			return true
		}
		fill(0)
	}
}

// isLegal reports whether modifiers are legal for a version and target.
func isLegal(form *isa.Form, slots []isa.Mod, version isa.Version, target isa.Target) bool {
	opens, gone := form.Bounds(slots)
	for _, g := range opens {
		if !g.Open(version, target) {
			return false
		}
	}
	return !slices.ContainsFunc(gone, func(g isa.Gate) bool { return g.Open(version, target) })
}

func scalarCases(kind isa.Kind, mods []isa.Mod, opcode, family string, add func(Case)) {
	op, err := eval.Of(kind, mods)
	if err != nil {
		return // a test of package eval reports this
	}
	if !strings.HasPrefix(opcode, "lop3") {
		add(Case{ID: opcode, Opcode: opcode, Family: family, Op: op})
		return
	}
	for _, t := range tables {
		id := fmt.Sprintf("%s %#x", opcode, t)
		add(Case{ID: id, Opcode: opcode, Family: family, Immediate: t, Op: op})
	}
}

func productCases(kind isa.Kind, mods []isa.Mod, opcode string, sm int, add func(Case)) error {
	m, err := tensorcore.Of(kind, mods, tensorcore.ArchOf(sm))
	if err != nil {
		return err
	}
	if !m.Sparse {
		add(Case{ID: opcode, Opcode: opcode, Family: "mma", MMA: m})
		return nil
	}
	for s := range m.Selectors() {
		id := fmt.Sprintf("%s %d", opcode, s)
		add(Case{ID: id, Opcode: opcode, Family: "mma.sp", Immediate: s, MMA: m})
	}
	return nil
}
