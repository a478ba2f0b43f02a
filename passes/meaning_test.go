// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package passes_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl/lower"
	"github.com/ptxdsl/ptxdsl/passes"
)

// FuzzPasses generates kernels, and compares what they do before and after each pass, and after all
// passes: every store and every other visible event must be equal.
func FuzzPasses(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(dice(seed))
	}
	f.Fuzz(func(t *testing.T, dice []byte) { sameMeaning(t, kernel(dice), nil) })
}

// TestMeaning does the same for a number of kernels.
func TestMeaning(t *testing.T) {
	n := uint64(400)
	if testing.Short() {
		n = 40
	}
	changes := make(map[string]int) // edits by each pass alone
	for seed := range n {
		if sameMeaning(t, kernel(dice(seed)), changes); t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	for _, p := range passes.List() {
		if p.Edits && changes[p.Name] == 0 {
			t.Errorf("%s changes none of the %d kernels, so they do not test it", p.Name, n)
		}
	}
}

// dice returns a sequence of random bytes.
func dice(seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 5))
	list := make([]byte, 100+r.IntN(300))
	for i := range list {
		list[i] = byte(r.Uint32())
	}
	return list
}

// sameMeaning runs a kernel before and after the passes, on several inputs. It adds the edits of
// each pass that runs alone to changes, unless that is nil.
func sameMeaning(t *testing.T, text string, changes map[string]int) {
	t.Helper()
	const limit, inputs = 3000, 3
	original := module(t, "before.ptx", text).Funcs()[0]
	var want [inputs][]string
	var ended [inputs]bool
	for seed := range want {
		var err error
		if want[seed], ended[seed], err = run(original, uint64(seed), limit); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	lists := [][]*passes.Pass{passes.List()}
	for _, p := range passes.List() {
		lists = append(lists, []*passes.Pass{p})
	}
	for _, list := range lists {
		m := module(t, "before.ptx", text)
		steps := passes.Run(m, list, nil)
		if changes != nil && len(list) == 1 {
			changes[list[0].Name] += steps[0].Changes
		}
		left := lower.Text(m)
		// Parsed again, so that the text is tested.
		after := module(t, "after.ptx", left).Funcs()[0]
		for seed := range want {
			got, end, err := run(after, uint64(seed), limit)
			if err != nil {
				t.Fatalf("%s: %v\n%s", names(list), err, left)
			}
			a, b := want[seed], got
			if n := min(len(a), len(b)); !end || !ended[seed] {
				// Both runs may have reached the limit; the optimized kernel has then executed more
				// events.
				a, b = a[:n], b[:n]
			}
			if !slices.Equal(a, b) {
				t.Fatalf("after %s the kernel does something else (-before +after):\n%s\nbefore:\n%s\nafter:\n%s", names(list), cmp.Diff(a, b), text, left)
			}
		}
	}
}

func names(list []*passes.Pass) string {
	if len(list) == 1 {
		return list[0].Name
	}
	return fmt.Sprintf("all %d passes", len(list))
}
