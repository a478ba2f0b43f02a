// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package value

// An answer is a cached result: yes, no, or not computed yet.
type answer uint8

const (
	unknownAnswer answer = iota
	yes
	no
)

// Alike reports whether v is the same in equal lanes of all warps: it may depend on the lane
// index but not on the warp index. Warp-wide operations on such values have the same result in
// all warps of a block.
func (p *Pool) Alike(v *Value) bool {
	for _, t := range v.Terms {
		if !p.isAlike(t.Atom) {
			return false
		}
	}
	return true
}

func (p *Pool) isAlike(a *Atom) bool {
	if a.Level <= Block || a.Repeats {
		return true
	}
	if a.alike == unknownAnswer {
		a.alike = no
		if p.repeatsInWarps(a) {
			a.alike = yes
		}
	}
	return a.alike == yes
}

// repeatsInWarps computes whether an atom that differs between lanes is the same in all warps.
func (p *Pool) repeatsInWarps(a *Atom) bool {
	if a.Tid {
		each := p.column(a)
		for t, n := range each {
			if n != each[t%32] {
				return false
			}
		}
		return true
	}
	switch {
	case len(a.Args) == 0 || a.Sources&Private != 0:
		return false
	case isEvaluated(a.Op), a.Op == OpExchange, a.Op == OpVote, a.Op == OpResult, a.Op == OpPart,
		a.Op == OpPack, a.Op == OpLoad:
		for _, v := range a.Args {
			if !p.Alike(v) {
				return false
			}
		}
		return true
	}
	return false
}
