// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package value

import "math/bits"

// MaxThreads is the largest number of threads in a block.
const MaxThreads = 1024

// A Set is a set of threads of one block, by linear thread index.
type Set [MaxThreads / 64]uint64

// First returns the set of the first n threads.
func First(n int) Set {
	var s Set
	for i := range min(n, MaxThreads) {
		s[i/64] |= 1 << (i % 64)
	}
	return s
}

// Has reports whether thread t is in s.
func (s *Set) Has(t int) bool { return s[t/64]>>(t%64)&1 != 0 }

// Add puts thread t into s.
func (s *Set) Add(t int) { s[t/64] |= 1 << (t % 64) }

// Empty reports whether s has no threads.
func (s *Set) Empty() bool { return *s == Set{} }

// Len returns the number of threads in s.
func (s *Set) Len() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// And returns the threads that are in both s and o.
func (s Set) And(o Set) Set {
	for i := range s {
		s[i] &= o[i]
	}
	return s
}

// Or returns the threads that are in s or in o.
func (s Set) Or(o Set) Set {
	for i := range s {
		s[i] |= o[i]
	}
	return s
}

// Minus returns the threads of s that are not in o.
func (s Set) Minus(o Set) Set {
	for i := range s {
		s[i] &^= o[i]
	}
	return s
}

// Least returns the lowest thread of s, or -1 if s is empty.
func (s *Set) Least() int {
	for i, w := range s {
		if w != 0 {
			return i*64 + bits.TrailingZeros64(w)
		}
	}
	return -1
}

// Most returns the highest thread of s, or -1 if s is empty.
func (s *Set) Most() int {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] != 0 {
			return i*64 + 63 - bits.LeadingZeros64(s[i])
		}
	}
	return -1
}

// Lanes returns the lanes of warp w that are in s, as a bit mask.
func (s *Set) Lanes(w int) uint32 { return uint32(s[w/2] >> (w % 2 * 32)) }

// Warps returns the number of warps with a lane in s.
func (s *Set) Warps() int {
	n := 0
	for w := range MaxThreads / 32 {
		if s.Lanes(w) != 0 {
			n++
		}
	}
	return n
}

// Warp returns s extended to whole warps, restricted to the threads in all.
func (s Set) Warp(all Set) Set {
	for w := range MaxThreads / 32 {
		if s.Lanes(w) != 0 {
			s[w/2] |= 0xffffffff << (w % 2 * 32)
		}
	}
	return s.And(all)
}

// Each calls visit for every thread of s in ascending order.
func (s *Set) Each(visit func(t int)) {
	for i, w := range s {
		for w != 0 {
			visit(i*64 + bits.TrailingZeros64(w))
			w &= w - 1
		}
	}
}
