// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/internal/agree"
	"github.com/ptxdsl/ptxdsl/isa"
)

// TestForms decodes samples of every form of the instruction set, which show each value of each slot at
// least once, and compares with what Emulates reports.
func TestForms(t *testing.T) {
	set := isa.Standard()
	total, emulated := 0, 0
	for ins := range set.All() {
		for i := range ins.Forms {
			f := &ins.Forms[i]
			list, _, err := agree.Samples(set, ins, f, func(string) bool { return true })
			if err != nil { // the lists of call, which cannot be made up
				continue
			}
			says := Emulates(ins, f)
			bad := 0
			for _, s := range list {
				m, problems := parse("sample", s.Module())
				if m == nil {
					t.Errorf("%s: %v\n%s", f.Template, problems, s.Module())
					break
				}
				if err := m.place(newMemory(1<<20, 0)); err != nil {
					t.Errorf("%s: %v", f.Template, err)
				}
				if _, err := m.image("k"); err != nil {
					bad++
					if says {
						t.Errorf("%s %s: %v", f.Kind, f.Template, err)
						break
					}
				}
			}
			total++
			if bad == 0 {
				emulated++
			}
			if bad == 0 && !says {
				t.Errorf("%s is emulated, and Emulates denies it", f.Template)
			}
		}
	}
	t.Logf("%d of %d forms", emulated, total)
}
