// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package op_test

import (
	"slices"
	"testing"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/dsl/op"
	"github.com/ptxdsl/ptxdsl/form"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/lift"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// back returns the text of m, after checking that reading it back gives the forms of the
// instructions.
func back(t *testing.T, m *dsl.Module, want ...*isa.Form) string {
	t.Helper()
	text, err := m.Text()
	if err != nil {
		t.Error(err)
		return text
	}
	file, faults := ptx.Parse(m.Name(), text)
	faults = append(faults, form.Check(file, form.Options{})...)
	lifted, more := lift.Module(file)
	for _, d := range append(faults, more...) {
		if d.Severity == diag.Error {
			t.Errorf("read back: line %d: %s\n%s", d.Place.Line, d.Message, text)
		}
	}
	if lifted == nil {
		return text
	}
	var found []*isa.Form
	for _, f := range lifted.Funcs() {
		for _, b := range f.Blocks {
			for _, in := range b.Instrs {
				if in.Form != nil {
					found = append(found, in.Form.Form)
				}
			}
		}
	}
	for _, f := range want {
		if !slices.ContainsFunc(found, f.Is) {
			t.Errorf("no %s comes back:\n%s", f.Template, text)
		}
	}
	return text
}

// formsOf returns the forms of an instruction name.
func formsOf(name string) (list []*isa.Form) {
	for _, ins := range isa.Standard().Named(name) {
		for i := range ins.Forms {
			list = append(list, &ins.Forms[i])
		}
	}
	return list
}

// calls builds a module with every form of call.
func calls(t *testing.T) string {
	t.Helper()
	m := dsl.New("calls", "sm_90", dsl.SkipHazards())
	plain := m.Func("plain")
	plain.Return()
	takes := m.Func("takes")
	dsl.Arg[dsl.U32](takes, "x")
	takes.Return()
	gives := m.Func("gives")
	dsl.ReturnValue(gives, dsl.Arg[dsl.U32](gives, "x").AddI(1))

	k := m.Kernel("k")
	p := op.On(k)
	in, out := dsl.CallParam[dsl.U32](k, "in"), dsl.CallParam[dsl.U32](k, "out")
	p.St().Param().U32().Do(in, 7)
	p.Call().Uni().Do(plain)
	p.Call().Uni().Do(takes, dsl.Group(in))
	p.Call().Uni().Do(dsl.Group(out), gives, dsl.Group(in))
	to := dsl.NewReg[dsl.U64](k)
	p.Mov().U64().Do(to, plain)
	p.Call().Do(to, k.CallTargets(plain))
	p.Mov().U64().Do(to, takes)
	p.Call().Do(to, dsl.Group(in), k.Prototype(0, isa.U32))
	p.Mov().U64().Do(to, gives)
	p.Call().Do(dsl.Group(out), to, dsl.Group(in), k.Prototype(isa.U32, isa.U32))
	p.Ld().Param().U32().Do(dsl.NewReg[dsl.U32](k), out)
	return back(t, m, formsOf("call")...)
}

// jumps builds a module with brx.idx.
func jumps(t *testing.T) string {
	t.Helper()
	m := dsl.New("jumps", "sm_90", dsl.SkipHazards())
	k := m.Kernel("k")
	a, b := k.NewLabel("a"), k.NewLabel("b")
	op.On(k).BrxIdx().Uni().Do(dsl.Param[dsl.U32](k, "i").Var(), k.BranchTargets(a, b))
	k.PlaceLabel(a)
	k.Exit()
	k.PlaceLabel(b)
	k.Return()
	return back(t, m, formsOf("brx.idx")...)
}

// samplers builds a module that queries a sampler by name; a register is not allowed there.
func samplers(t *testing.T) string {
	t.Helper()
	m := dsl.New("samplers", "sm_90", dsl.IndependentSamplers())
	sampler := m.Sampler("nearest")
	k := m.Kernel("k")
	op.On(k).Txq().ForceUnnormalizedCoords().B32().Do(dsl.NewReg[dsl.B32](k), dsl.Bracket(sampler))
	var want []*isa.Form
	for _, f := range formsOf("txq") {
		if f.Template == "txq.force_unnormalized_coords.b32" {
			want = append(want, f)
		}
	}
	return back(t, m, want...)
}
