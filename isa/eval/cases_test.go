// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"slices"
	"testing"

	"github.com/ptxdsl/ptxdsl/isa"
)

// notArithmetic are pure instructions whose results do not depend on operand values alone, with the
// reason.
var notArithmetic = map[string]string{
	"isspacep": "needs the address map", "cvta": "needs the address map",
	"cvta.to": "needs the address map", "mapa": "needs the cluster",
	"getctarank": "needs the cluster", "movmatrix": "exchanges lanes", "istypep": "texture",
	"txq": "texture", "suq": "surface", "createpolicy.range": "cache policy",
	"createpolicy.fractional": "cache policy", "createpolicy.cvt": "cache policy",
	"createpolicy.range.fabric": "cache policy", "spcompress": "sparse compression of PTX 9.4",
	"spdecompress": "sparse compression of PTX 9.4", "mbarrier.pending_count": "barrier state",
	"clusterlaunchcontrol.query_cancel": "launch state", "txq.level": "texture",
}

// A spelling is an opcode with all its modifiers, and its form.
type spelling struct {
	name, opcode string
	form         *isa.Form
	mods         []isa.Mod // the value of each slot
}

// spellings lists every opcode of the pure instructions, once for each form.
func spellings() (all []spelling) {
	set := isa.Standard()
	for ins := range set.All() {
		for i := range ins.Forms {
			form := &ins.Forms[i]
			if !slices.Contains(form.Effects, "pure") || notArithmetic[ins.Name] != "" {
				continue
			}
			slots := make([]isa.Mod, len(form.Slots))
			var fill func(at int)
			fill = func(at int) {
				if at == len(slots) {
					if form.Allows(slots) {
						all = append(all,
							spelling{ins.Name, set.Opcode(ins, slots), form, slices.Clone(slots)})
					}
					return
				}
				if !form.Slots[at].Required {
					slots[at] = isa.NoMod
					fill(at + 1)
				}
				for _, v := range form.Slots[at].Values {
					slots[at] = v.Mod
					fill(at + 1)
				}
			}
			fill(0)
		}
	}
	return all
}

func TestEverySpellingHasAnOperation(t *testing.T) {
	missing, seen := map[string]int{}, 0
	for _, s := range spellings() {
		seen++
		if _, err := Of(s.form.Kind, s.mods); err != nil {
			if missing[s.name]++; missing[s.name] <= 3 {
				t.Errorf("%s: %v", s.opcode, err)
			}
		}
	}
	t.Logf("%d opcodes; missing: %v", seen, missing)
}
