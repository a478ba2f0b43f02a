// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package walk_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ptxdsl/ptxdsl"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/walk"
)

// TestStores checks which stores a thread reaches, after how many choices, and the value that it
// stores if that is known.
func TestStores(t *testing.T) {
	const load = "ld.global.u32 %r2, [%d1]; setp.eq.u32 %p1, %r2, 0; "
	const store = "st.global.u32 [%d1], %r3; "
	tests := []struct {
		name, body string
		thread     int
		want       []string
	}{
		{"a branch on the thread",
			"mov.u32 %r3, 5; setp.lt.u32 %p1, %r1, 16; @%p1 bra e; " + store +
				"e: ret;", 20, []string{"5 after 0"}},
		{"another thread branches", "mov.u32 %r3, 5; setp.lt.u32 %p1, %r1, 16; @%p1 bra e; " +
			store + "e: ret;", 3, nil},
		{"a branch on data", load + "mov.u32 %r3, 5; @%p1 bra e; " + store + "e: ret;", 0,
			[]string{"5 after 1"}},
		{"each outcome has its own registers", "mov.u32 %r3, 5; " + load +
			"@%p1 bra e; mov.u32 %r3, 6; e: " + store + "ret;", 0,
			[]string{"6 after 1", "5 after 1"}},
		{"a guard on data", "mov.u32 %r3, 5; " + load + "@%p1 mov.u32 %r3, 6; " + store + "ret;", 0,
			[]string{"unknown after 0"}},
		{"a branch that decides nothing", "mov.u32 %r3, 5; " + load +
			"@%p1 bra e; add.u32 %r2, %r2, 1; e: " + store + "ret;", 0, []string{"5 after 0"}},
		{"a loop that decides nothing", "mov.u32 %r3, 5; mov.u32 %r4, 0; " + load +
			"l: add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, %r2; @%p2 bra l; " + store + "ret;", 0,
			[]string{"5 after 0"}},
		{"a loop that counts", "mov.u32 %r3, 0; l: add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 4; " +
			"@%p1 bra l; " + store + "ret;", 0, []string{"4 after 0"}},
		{"a register that nothing wrote", store + "ret;", 0, []string{"undefined after 0"}},
		{"a guard on the thread", "mov.u32 %r3, 5; setp.eq.u32 %p1, %r1, 0; @%p1 " + store + "ret;",
			1,
			nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			w := walk.New(flow(t, test.body), [3]int{32, 1, 1}, walk.Visitor{
				Wants: func(in *ir.Instr, need func(*ir.Reg)) bool {
					if in.Kind() != isa.KindSt {
						return false
					}
					need(in.Args[1].Reg)
					return true
				},
				Visit: func(p *walk.Path, in *ir.Instr) bool {
					v := p.Reg(in.Args[1].Reg)
					text := "unknown"
					switch v.Kind {
					case walk.Known:
						text = fmt.Sprint(v.N)
					case walk.Undefined:
						text = "undefined"
					}
					got = append(got, fmt.Sprintf("%s after %d", text, len(p.Choices)))
					return true
				},
			})
			w.Thread(test.thread)
			if !slices.Equal(got, test.want) || w.Unreached() != nil {
				t.Errorf("stores %v, want %v; not reached: %v", got, test.want, w.Unreached())
			}
		})
	}
}

// TestLimit checks that the instructions are named that a walk does not reach because of its
// limits.
func TestLimit(t *testing.T) {
	g := flow(t, "mov.u32 %r3, 0; l: add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 1000000; "+
		"@%p1 bra l; st.global.u32 [%d1], %r3; ret;")
	w := walk.New(g, [3]int{32, 1, 1}, walk.Visitor{
		Wants: func(in *ir.Instr, need func(*ir.Reg)) bool {
			if in.Kind() == isa.KindSt {
				need(in.Args[1].Reg)
			}
			return in.Kind() == isa.KindSt
		},
		Visit: func(*walk.Path, *ir.Instr) bool { return true },
	})
	w.Thread(0)
	if list := w.Unreached(); len(list) != 1 || list[0].Kind() != isa.KindSt {
		t.Errorf("not reached: %v, want the store", list)
	}
}

// flow returns the control flow of a kernel with a body.
func flow(t *testing.T, body string) *ir.Flow {
	t.Helper()
	m, list := ptxdsl.Load("k.ptx", `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
	.reg .b32 %r<5>; .reg .b64 %d<2>; .reg .pred %p<3>;
	ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x;
	`+body+`
}
`)
	if m == nil || list.Err() != nil {
		t.Fatal(list)
	}
	f := m.Funcs()[0]
	f.Number()
	return ir.FlowOf(f)
}
