// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package op_test

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/dsl/op"
	"github.com/ptxdsl/ptxdsl/form"
	"github.com/ptxdsl/ptxdsl/internal/gen"
	"github.com/ptxdsl/ptxdsl/internal/oracle/agree"
	"github.com/ptxdsl/ptxdsl/internal/ptxas"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/lift"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// unwritten is the rule for reading a result before the call; these modules have no calls.
const unwritten = "F635"

// A place is the PTX version and target of a module.
type place struct {
	version isa.Version
	target  isa.Target
}

// TestEveryForm emits an instruction of every form of the table, with every modifier of each form,
// through the generated methods. Parsing the printed module must give the same forms, and ptxas
// must accept it for the form's first version and target.
func TestEveryForm(t *testing.T) {
	tool, err := ptxas.Find()
	if err != nil {
		t.Fatal(err)
	}
	places, forms, unseen := samples(t)
	called := map[string]bool{}
	var texts []string
	order := slices.SortedFunc(maps.Keys(places), func(a, b place) int {
		return cmp.Or(cmp.Compare(a.version, b.version), cmp.Compare(a.target, b.target))
	})
	instructions := 0
	for _, p := range order {
		instructions += len(places[p])
		texts = append(texts, emit(t, p, places[p], called))
	}
	texts = append(texts, calls(t), jumps(t), samplers(t))
	verdicts, err := tool.JudgeModules(t.Context(), texts, ptxas.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range verdicts {
		if v.OK() {
			continue
		}
		lines := strings.Split(texts[i], "\n")
		for n, m := range v.Messages {
			if n == 5 {
				break
			}
			t.Errorf("%s: ptxas: %s: %s", lines[:2],
				strings.TrimSpace(lines[max(0, m.Line-1)]), m.Text)
		}
	}
	for _, u := range unseen {
		if !narrow(u) && !strings.HasPrefix(u, "txq.force_unnormalized_coords.b32:") {
			t.Errorf("no legal instruction: %s", u)
		}
	}
	methods := everyMethod()
	for _, m := range methods {
		if !called[m] &&
			!slices.Contains([]string{"Cvta.U32", "CvtaTo.U32", "BrxIdx", "BrxIdx.Uni", "BrxIdx.Do",
				"Txq.ForceUnnormalizedCoords"}, m) {
			t.Errorf("%s was not called: no form needs it", m)
		}
	}
	t.Logf("%d forms, %d instructions, %d methods, %d modules", forms, instructions, len(methods),
		len(places))
}

// narrow reports whether an opcode requires 32-bit addresses. The builder's modules have 64-bit
// addresses, for which these opcodes are rejected.
func narrow(op string) bool {
	return strings.HasPrefix(op, "cvta") && strings.HasSuffix(op, ".u32")
}

// samples returns legal instructions of all forms, by version and target.
func samples(t *testing.T) (places map[place][]agree.Sample, forms int, unseen []string) {
	set := isa.Standard()
	places = map[place][]agree.Sample{}
	for ins := range set.All() {
		for j := range ins.Forms {
			forms++
			list, missing, err := agree.Samples(set, ins, &ins.Forms[j],
				func(op string) bool { return !narrow(op) })
			if err != nil {
				// their operand lists come from calls and jumps
				if ins.Name != "call" && ins.Name != "brx.idx" {
					t.Error(err)
				}
			}
			unseen = append(unseen, missing...)
			for _, s := range list {
				p := place{s.Version, s.Target}
				if ins.Family == "texture" {
					// the builder declares textures as variables of .texref
					p.version = max(p.version, isa.MakeVersion(1, 5))
				}
				places[p] = append(places[p], s)
			}
		}
	}
	return places, forms, unseen
}

// emit builds a module with a kernel for each sample, and compares the parsed output with the
// samples.
func emit(t *testing.T, p place, list []agree.Sample, called map[string]bool) string {
	t.Helper()
	m := dsl.New("forms", p.target.String(), dsl.Version(p.version.String()),
		dsl.SkipHazards()) // instructions in arbitrary order have hazards
	b := &bench{m: m, f: m.Func("fn")}
	b.f.Return()
	name := func(i int) string { return fmt.Sprintf("k%d", i) }
	for i := range list {
		b.k = m.Kernel(name(i))
		write(b, &list[i], i, called)
	}
	text, err := m.Text()
	if err != nil {
		t.Errorf("PTX %s, %s: %v", p.version, p.target, err)
		return text
	}
	file, faults := ptx.Parse("forms.ptx", text)
	faults = append(faults, form.Check(file, form.Options{})...)
	back, more := lift.Module(file)
	for _, d := range append(faults, more...) {
		if d.Severity == diag.Error && d.Rule != unwritten {
			t.Errorf("PTX %s, %s: read back: %s: %s", p.version, p.target,
				strings.Split(text, "\n")[d.Place.Line-1], d.Message)
		}
	}
	if back == nil {
		return text
	}
	found := map[string]*ir.Func{}
	for _, f := range back.Funcs() {
		found[f.Name] = f
	}
	for i := range list {
		s := &list[i]
		f := found[name(i)]
		if f == nil || len(f.Blocks) == 0 || len(f.Blocks[0].Instrs) == 0 {
			t.Errorf("%s: nothing comes back", s.Op)
			continue
		}
		in := f.Blocks[0].Instrs[0]
		switch {
		case in.Op != s.Op:
			t.Errorf("%s comes back as %s", s.Op, in.Op)
		case in.Form == nil || !in.Form.Form.Is(s.Form):
			t.Errorf("%s of the form %s comes back in another", s.Op, s.Form.Template)
		}
	}
	return text
}

// write appends a sample through the generated methods. Every other sample omits the modifiers that
// all forms of the instruction have.
func write(b *bench, s *agree.Sample, number int, called map[string]bool) {
	set := isa.Standard()
	kind := gen.GoName(s.Instruction.Name)
	v := reflect.ValueOf(op.On(b.k)).MethodByName(kind).Call(nil)[0]
	called[kind] = true
	fixed := gen.Fixed(set, s.Instruction.Name)
	for _, mod := range s.Slots {
		if mod == isa.NoMod || number%2 == 1 && slices.Contains(fixed, mod) &&
			called[kind+"."+gen.GoName(set.Mods[mod])] {
			continue
		}
		word := gen.GoName(set.Mods[mod])
		var args []reflect.Value
		if f := v.MethodByName(word); !f.IsValid() {
			word = "MNK"
			var m, n, k int
			fmt.Sscanf(set.Mods[mod], ".m%dn%dk%d", &m, &n, &k)
			args = []reflect.Value{reflect.ValueOf(m), reflect.ValueOf(n), reflect.ValueOf(k)}
		}
		v = v.MethodByName(word).Call(args)[0]
		called[kind+"."+word] = true
	}
	do := v.MethodByName("Do")
	args := make([]reflect.Value, len(s.Args))
	for i := range s.Args {
		args[i] = reflect.ValueOf(b.operand(&s.Args[i]))
	}
	do.Call(args)
	called[kind+".Do"] = true
}

// everyMethod lists the generated methods: those that start an instruction, the modifiers and Do.
func everyMethod() []string {
	var out []string
	p := reflect.TypeFor[op.PTX]()
	for i := range p.NumMethod() {
		begin := p.Method(i)
		out = append(out, begin.Name)
		kind := begin.Type.Out(0)
		for j := range kind.NumMethod() {
			if name := kind.Method(j).Name; name != "Mod" {
				out = append(out, begin.Name+"."+name)
			}
		}
	}
	return out
}
