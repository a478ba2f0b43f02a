// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa_test

import (
	"sync"
	"testing"

	"github.com/ptxdsl/ptxdsl/isa"
)

// TestShared uses matchers in several goroutines. Matchers of one version and target share their
// cache; others do not.
func TestShared(t *testing.T) {
	new80, old, new90 := matcher(t, "9.0", "sm_80"), matcher(t, "8.0", "sm_80"),
		matcher(t, "9.0", "sm_90")
	ask := func(m *isa.Matcher, op string) *isa.Candidate {
		list, problems := m.Candidates(op)
		if len(list) == 0 {
			t.Fatalf("%s: %v", op, problems)
		}
		return &list[0]
	}
	const op = "fma.rn.ftz.f32"
	want := ask(new80(), op)
	if ask(old(), op) == want || ask(new90(), op) == want {
		t.Error("matchers for another version or target share a form")
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			m := new80()
			if got := ask(m, op); got != want {
				t.Errorf("%s has two forms for one version and target", op)
			}
			for _, op := range []string{"ld.global.v4.f32", "bar.sync", "add.cc.u32", "mul.lo.u32",
				"add.u32.u32"} {
				if c, _ := m.Candidates(op); len(c) > 0 && c[0].Opcode != op {
					t.Errorf("%s is spelled %s", op, c[0].Opcode)
				}
			}
		})
	}
	group.Wait()
	if c := ask(new80(), "ld.v4.global.f32"); c.Opcode != "ld.global.v4.f32" {
		t.Errorf("ld.v4.global.f32 is spelled %s", c.Opcode)
	}
}

// matcher returns a function that creates matchers for a version and target.
func matcher(t *testing.T, version, target string) func() *isa.Matcher {
	v, err := isa.ParseVersion(version)
	if err != nil {
		t.Fatal(err)
	}
	at, ok := isa.ParseTarget(target)
	if !ok {
		t.Fatal(target)
	}
	return func() *isa.Matcher { return isa.NewMatcher(v, at) }
}
