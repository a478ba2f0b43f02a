// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package cleanups

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl/internal/oracle/roundtrip"
	"github.com/ptxdsl/ptxdsl/internal/ptxas"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/lower"
	"github.com/ptxdsl/ptxdsl/passes"
)

const text = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p) {
	.reg .b64 %rd<2>;
	.reg .b32 %r<4>;
	ld.param.u64 %rd1, [p];
	ld.global.b32 %r1, [%rd1];
	add.s32 %r2, %r1, 1;
	st.global.b32 [%rd1], %r2;
	add.s32 %r3, %r2, 1;
	ret;
}
`

// edit returns a pass that applies f to every function.
func edit(f func(*ir.Func) int) *passes.Pass {
	return &passes.Pass{Name: "edit", Edits: true, Run: func(s *passes.Step) {
		for _, fn := range s.Module.Funcs() {
			s.Changes += f(fn)
		}
	}}
}

// drop removes the first instruction whose opcode begins with a word.
func drop(word string) func(*ir.Func) int {
	return func(f *ir.Func) int {
		for _, b := range f.Blocks {
			if i := slices.IndexFunc(b.Instrs, func(in *ir.Instr) bool {
				return strings.HasPrefix(in.Op, word)
			}); i >= 0 {
				b.Instrs = slices.Delete(b.Instrs, i, i+1)
				return 1
			}
		}
		return 0
	}
}

// TestTry runs passes that each make one kind of mistake.
func TestTry(t *testing.T) {
	tool, err := ptxas.Find()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		pass *passes.Pass
		want string // substring of the first problem; "" for none
	}{
		{"right", passes.List()[slices.IndexFunc(passes.List(), func(p *passes.Pass) bool {
			return p.Name == "drop-dead"
		})], ""},
		{"faulty", edit(func(f *ir.Func) int {
			n := drop("ret")(f)
			f.Blocks[0].Instrs[0].Args = f.Blocks[0].Instrs[0].Args[:1]
			return n
		}), "what is left is faulty"},
		{"never done", edit(func(f *ir.Func) int { return 1 }), "a second run makes 1 changes"},
		{"counts nothing", edit(func(f *ir.Func) int { return drop("add")(f) - 1 }),
			"no change is counted"},
	} {
		t.Run(test.name, func(t *testing.T) {
			j := Judge{Tool: tool, Passes: []*passes.Pass{test.pass}}
			r, err := j.Try(t.Context(), roundtrip.Source{Name: "k.ptx", Text: text})
			if err != nil {
				t.Fatal(err)
			}
			got := r.Refused
			for _, trial := range r.Tries {
				got += strings.Join(trial.Problems, "\n")
			}
			if test.want == "" && got != "" || !strings.Contains(got, test.want) {
				t.Errorf("report %q, want %q", got, test.want)
			}
		})
	}
}

// TestNotDeterministic has a disassembler whose output varies. Such functions are reported as not
// deterministic only.
func TestNotDeterministic(t *testing.T) {
	tool, err := ptxas.Find()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no shell to write a lister in: ", err)
	}
	for _, test := range []struct {
		// shell condition on the number of the listing: whether its code differs
		odd  string
		want string
	}{
		{"false", "same"},
		{"[ $n = 2 ]", notDeterministic},
		{"[ $((n % 2)) = 0 ]", notDeterministic},
		// the output of the passes has different code each time
		{"[ $n -gt 1 ] && [ $n -lt 3 -o $n -gt 7 ]", "other"},
	} {
		folder := t.TempDir()
		script := "#!/bin/sh\nn=$(($(cat " + folder + "/n) + 1)); echo $n > " + folder + "/n\n" +
			"if " + test.odd + "; then sed s/STG/LDG/ " + folder + "/listing; else cat " + folder +
			"/listing; fi\n"
		path := filepath.Join(folder, "lister")
		if err := errors.Join(os.WriteFile(path, []byte(script), 0o700),
			os.WriteFile(filepath.Join(folder, "n"), []byte("0"), 0o600),
			os.WriteFile(filepath.Join(folder, "listing"), []byte(listing), 0o600)); err != nil {
			t.Fatal(err)
		}
		dead := passes.List()[slices.IndexFunc(passes.List(), func(p *passes.Pass) bool {
			return p.Name == "drop-dead"
		})]
		j := Judge{Tool: tool, Lister: path, Passes: []*passes.Pass{dead}}
		m, _ := module("k.ptx", text)
		was := lower.Text(m)
		code, o, _, err := j.original(t.Context(), was)
		if err != nil {
			t.Fatal(err)
		}
		var trial Trial
		if err := j.compare(t.Context(), &trial, was, code, was, o); err != nil {
			t.Fatal(err)
		}
		if trial.Alike[test.want] != 1 || len(trial.Alike) != 1 {
			t.Errorf("%s: %v, want %s", test.odd, trial.Alike, test.want)
		}
	}
}

// TestRefused reads a file that is not PTX.
func TestRefused(t *testing.T) {
	j := Judge{Passes: passes.List()}
	r, err := j.Try(t.Context(),
		roundtrip.Source{Name: "k.ptx", Text: strings.Replace(text, "%r1, 1", "%r1", 1)})
	if err != nil || !strings.Contains(r.Refused, "k.ptx:9") {
		t.Errorf("reason %q, error %v", r.Refused, err)
	}
}

// listing is an excerpt of nvdisasm output.
const listing = `
	.section	.text.k,"ax",@progbits
k:
.text.k:
        /*0000*/                   S2R R0, SR_TID.X ;
        /*0010*/              @!P0 LDG.E R5, desc[UR4][R2.64] ;
        /*0020*/                   IADD3 R5, R5, 0x1, RZ ;
        /*0030*/                   STG.E desc[UR4][R2.64], R5 ;
        /*0040*/               @P0 BRA ` + "`(.L_x_7) ;" + `
        /*0050*/                   EXIT ;
.L_x_7:
        /*0060*/                   NOP ;
`

func TestListing(t *testing.T) {
	want := Code{
		"k": {"S2R R0, SR_TID.X", "@!P0 LDG.E R5, desc[UR4][R2.64]", "IADD3 R5, R5, 0x1, RZ",
			"STG.E desc[UR4][R2.64], R5", "@P0 BRA L", "EXIT", "NOP"}}
	if d := cmp.Diff(want, Listing(listing)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestLiken compares a listing with copies that each have one kind of change.
func TestLiken(t *testing.T) {
	a := Listing(listing)["k"]
	for _, test := range []struct {
		name string
		from string
		to   string
		want Likeness
		more string
	}{
		{"nothing", "", "", Same, ""},
		{"a label", "L_x_7", "L_x_9", Same, ""},
		{"a register", "R5", "R9", Registers, ""},
		{"a predicate", "P0", "P3", Registers, ""},
		{"arithmetic", "IADD3 R5, R5, 0x1, RZ", "VIADD R5, R5, 0x1", Effects, "IADD3 -1, VIADD +1"},
		{"a number", "0x1", "0x2", Effects, ""},
		{"a width", "STG.E ", "STG.E.64 ", Other, "STG.E -1, STG.E.64 +1"},
		{"a barrier", "NOP", "BAR.SYNC", Other, "NOP -1, BAR.SYNC +1"},
		{"a branch", "@P0 BRA", "@P0 NOP", Other, "BRA -1, NOP +1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			like, more := Liken(a, Listing(strings.ReplaceAll(listing, test.from, test.to))["k"])
			if like != test.want || more != test.more {
				t.Errorf("%v %q, and not %v %q", like, more, test.want, test.more)
			}
		})
	}
	if like, _ := Liken([]string{"FADD R1, R2, R3", "MOV R5, R6"},
		[]string{"MOV R4, R6", "FADD R1, R2, R3"}); like != Order {
		t.Errorf("another order is %v", like)
	}
}
