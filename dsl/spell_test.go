// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"math/rand/v2"
	"testing"

	"github.com/ptxdsl/ptxdsl/isa"
)

// TestSpelled requests opcodes with an empty cache and with a full one, with more opcodes than hash
// values, and compares the results.
func TestSpelled(t *testing.T) {
	types := []isa.Type{isa.U16, isa.U32, isa.U64, isa.S32, isa.S64, isa.B32, isa.F32, isa.F64,
		isa.F16, isa.Bf16, isa.F16x2, isa.Predicate}
	type question struct {
		verb  verb
		typ   isa.Type
		mods  []Mod
		value bool
		want  string
	}
	ask := func(k *Kernel, q *question) string {
		if q.value {
			return k.opcodeFor(q.verb, q.typ, q.mods).text
		}
		return k.op(verbs[q.verb], q.typ, q.mods...)
	}
	var all []question
	alone := New("alone", "sm_90a")
	for v := range verbs {
		for _, typ := range types {
			for _, mods := range [][]Mod{nil, {RZ}, {Approx}, {FTZ}, {RN, FTZ}} {
				for _, value := range []bool{true, false} {
					alone.spellings = spellings{}
					q := question{verb: verb(v), typ: typ, mods: mods, value: value}
					q.want = ask(&Kernel{m: alone}, &q)
					all = append(all, q)
				}
			}
		}
	}
	if hashes := len(alone.spellings.others); len(all) < 10*hashes {
		t.Errorf("%d opcodes for %d hashes", len(all), hashes)
	}
	k := New("together", "sm_90a").Kernel("k")
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		// spelling an opcode for the first time requests other opcodes
		k.m.spellings = spellings{}
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for i := range 100 {
			for j := max(0, i-24); j <= i; j++ {
				if q := &all[j]; ask(k, q) != q.want {
					t.Fatalf("%s of %s with %v, on values: %t, is %q, and %q where nothing else was asked for", verbs[q.verb], q.typ, q.mods, q.value, ask(k, q), q.want)
				}
			}
		}
	}
}
