// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package slab_test

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/internal/slab"
)

// TestReset allocates values of many sizes, frees them and allocates them again. They must be zero
// and must not overlap.
func TestReset(t *testing.T) {
	var s slab.Of[int]
	for round := range 4 {
		seen := map[*int]bool{}
		for n := range 200 {
			list := slab.Many(&s, n*n/(round+1))
			if n%7 == 0 {
				list = append(list, *slab.One(&s))
			}
			for i := range list {
				if list[i] != 0 || seen[&list[i]] {
					t.Fatalf("round %d: a value is %d, or was handed out before", round, list[i])
				}
				seen[&list[i]] = true
				list[i] = n + 1
			}
		}
		slab.Reset(&s)
	}
}

// TestRoom checks that Many returns the values written through Room, and no others.
func TestRoom(t *testing.T) {
	var s slab.Of[string]
	room := slab.Room(&s, 3)
	room[0], room[1] = "a", "b"
	if got := slab.Many(&s, 1); got[0] != "a" || cap(got) != 1 {
		t.Errorf("got %q of capacity %d", got, cap(got))
	}
	if got := slab.Room(&s, 1); got[0] != "b" {
		t.Errorf("what was left is %q", got)
	}
	if got := slab.Copy(&s, []string{"c"}); got[0] != "c" {
		t.Errorf("a copy is %q", got)
	}
}

// TestAppend extends several lists alternately, with other allocations in between, and checks the
// contents of each list.
func TestAppend(t *testing.T) {
	var s slab.Of[int]
	lists := make([][]int, 5)
	for n := range 20_000 {
		which := n / 7 % len(lists)
		if n > 15_000 {
			which = 2 // only this list
		}
		lists[which] = slab.Append(&s, lists[which], n*len(lists)+which)
		if n%11 == 0 {
			slab.Many(&s, n%3+1)[0] = -1
		}
	}
	total := 0
	for which, list := range lists {
		total += len(list)
		for i, v := range list {
			if v%len(lists) != which || i > 0 && v <= list[i-1] {
				t.Fatalf("list %d has %d behind %v", which, v, list[:i])
			}
		}
		if grown := append(list, 7); len(lists[(which+1)%5]) > 0 && lists[(which+1)%5][0] == 7 {
			t.Errorf("appending to %v touches its neighbor", grown)
		}
	}
	if total != 20_000 {
		t.Errorf("%d values", total)
	}
}

// TestAll checks that every allocated value is visited once.
func TestAll(t *testing.T) {
	var s slab.Of[int]
	for n := range 3000 {
		*slab.One(&s) = n + 1
	}
	next := 1
	for v := range slab.All(&s) {
		if *v == 0 {
			continue
		}
		if *v != next {
			t.Fatalf("%d, after %d", *v, next-1)
		}
		next++
	}
	if next != 3001 {
		t.Errorf("%d values", next-1)
	}
}
