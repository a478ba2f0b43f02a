// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"slices"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/internal/oracle/agree"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/lift"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// leastEmulated is the share of the forms outside of textures, surfaces and the fabric that must be
// emulated. The remaining forms have no documented meaning. TestForms lists them.
const leastEmulated = 0.98

// TestForms decodes samples of every form of the instruction set and compares the result with
// Emulates. The samples of a form show each value of each slot at least once.
func TestForms(t *testing.T) {
	set := isa.Standard()
	total, emulated := 0, 0
	for ins := range set.All() {
		for i := range ins.Forms {
			f := &ins.Forms[i]
			says := Emulates(f)
			checkSamples(t, set, ins, f, says)
			if excludedFamilies[ins.Family] != "" || ofTextures(f) {
				continue
			}
			total++
			if says {
				emulated++
				continue
			}
			why := Excluded(f)
			t.Logf("not emulated: %s: %s", f.Template, why)
			if why == "" {
				t.Errorf("%s is neither emulated nor excluded", f.Template)
			}
		}
	}
	t.Logf("%d of %d forms outside of textures, surfaces and the fabric", emulated, total)
	if float64(emulated) < leastEmulated*float64(total) {
		t.Errorf("%d of %d forms are emulated, want %v", emulated, total, leastEmulated)
	}
}

// checkSamples decodes samples of a form. If the form is emulated, all samples must decode, except
// those with a modifier that the table of kinds excludes.
func checkSamples(t *testing.T, set *isa.Set, ins *isa.Instruction, f *isa.Form, emulated bool) {
	list, _, err := agree.Samples(set, ins, f, func(string) bool { return true })
	if err != nil || len(list) == 0 { // calls cannot be generated; see TestControl
		if emulated && f.Kind != isa.KindCall && f.Kind != isa.KindBrxIdx {
			t.Errorf("%s has no sample: %v", f.Template, err)
		}
		return
	}
	decoded := 0
	for _, s := range list {
		// Not checked: samples read uninitialized registers.
		file, list := ptx.Parse("sample", s.Module())
		lifted, problems := lift.Module(file)
		if list = append(list, problems...); list.Errors() > 0 {
			t.Fatalf("%s: %v\n%s", f.Template, list, s.Module())
		}
		m := newModule(NewProgram(lifted))
		if err := m.place(newMemory(1<<20, 0)); err != nil {
			t.Fatalf("%s: %v", f.Template, err)
		}
		_, err := m.image("k")
		without := slices.ContainsFunc(s.Slots, func(mod isa.Mod) bool {
			return mod != isa.NoMod && slices.Contains(m.entries[f.Kind].without, mod)
		})
		switch {
		case err == nil && without:
			t.Errorf("%s is decoded, but the table of kinds excludes it", s.Op)
		case err == nil, strings.Contains(err.Error(), "function fn0 is declared but not defined"):
			decoded++
		case emulated && !without:
			t.Errorf("%s: %v", f.Template, err)
		case !strings.Contains(err.Error(), "not emulated") &&
			!strings.Contains(err.Error(), "not in the instruction set") &&
			!strings.Contains(err.Error(), "does not list it") &&
			!strings.Contains(err.Error(), "not defined"):
			t.Errorf("%s: %v; want an error that names what is not emulated", f.Template, err)
		}
	}
	if decoded == len(list) && !emulated {
		t.Errorf("%s is decoded, and Emulates denies it", f.Template)
	}
}
