// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package slab_test

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/internal/slab"
)

// TestReset hands out values of many sizes, takes them back and hands them out again: always zero, never twice.
func TestReset(t *testing.T) {
	var s slab.Of[int]
	for round := range 4 {
		seen := map[*int]bool{}
		for n := range 200 {
			list := s.Many(n * n / (round + 1))
			if n%7 == 0 {
				list = append(list, *s.One())
			}
			for i := range list {
				if list[i] != 0 || seen[&list[i]] {
					t.Fatalf("round %d: a value is %d, or was handed out before", round, list[i])
				}
				seen[&list[i]] = true
				list[i] = n + 1
			}
		}
		s.Reset()
	}
}

// TestRoom: what Room lends, Many hands out as it was left, and no more of it.
func TestRoom(t *testing.T) {
	var s slab.Of[string]
	room := s.Room(3)
	room[0], room[1] = "a", "b"
	if got := s.Many(1); got[0] != "a" || cap(got) != 1 {
		t.Errorf("got %q of capacity %d", got, cap(got))
	}
	if got := s.Room(1); got[0] != "b" {
		t.Errorf("what was left is %q", got)
	}
	if got := s.Copy([]string{"c"}); got[0] != "c" {
		t.Errorf("a copy is %q", got)
	}
}
