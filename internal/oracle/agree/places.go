// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package agree

import (
	"fmt"
	"strings"

	"github.com/ptxdsl/ptxdsl/isa"
)

// A place is a PTX version and a target that this version supports.
type place struct {
	version isa.Version
	target  isa.Target
}

func (p place) String() string { return fmt.Sprintf("%s %s", p.version, p.target) }

// isAllowed reports whether all gates in open, and no gates in gone, are open at p.
func (p place) isAllowed(open, gone []isa.Gate) bool {
	for _, g := range open {
		if !g.Open(p.version, p.target) {
			return false
		}
	}
	for _, g := range gone {
		if g.Open(p.version, p.target) {
			return false
		}
	}
	return true
}

// A boundary describes the versions and targets that a set of gates allows: for each target, the
// first legal version and the last illegal one.
type boundary struct {
	first  place   // the earliest legal version, and its lowest target
	newest place   // the newest version, and a target that is legal in it
	legal  []place // for each target, the first legal version
	early  []place // for each target that exists in it, the version before the first legal one
	never  []place // targets that are not legal in the newest version
}

// boundaryOf computes the boundary of gates. ok is false if no version and target passes all of
// them.
func boundaryOf(open, gone []isa.Gate) (b boundary, ok bool) {
	newest := isa.Newest()
	for i, info := range isa.Targets {
		t := isa.Target(i)
		var before place
		found := false
		for _, v := range isa.Versions {
			if v.Version < info.Since {
				continue
			}
			p := place{v.Version, t}
			if p.isAllowed(open, gone) {
				if !found {
					b.legal = append(b.legal, p)
					if before.version != 0 {
						b.early = append(b.early, before)
					}
					if !ok || p.version < b.first.version {
						b.first, ok = p, true
					}
				}
				found = true
			}
			before = p
		}
		last := place{newest, t}
		if last.isAllowed(open, gone) {
			if b.newest.version == 0 {
				b.newest = last
			}
		} else {
			b.never = append(b.never, last)
		}
	}
	if b.newest.version == 0 {
		b.newest = b.first
	}
	return b, ok
}

// signature returns a text that identifies a set of gates.
func signature(open, gone []isa.Gate) string {
	var s strings.Builder
	for _, g := range open {
		s.WriteString(g.String())
		s.WriteByte(';')
	}
	for _, g := range gone {
		s.WriteString("!" + g.String())
	}
	return s.String()
}

// canDeclare reports whether the registers of x can be declared at p: .f16x2 needs sm_53, .b128
// needs sm_70 and PTX 8.3. If ptxas rejects the declarations of a probe, its verdict does not
// concern the instruction.
func canDeclare(p place, x instance) bool {
	number := p.target.Info().Number
	old := p.version < 803
	for _, a := range x.args {
		for _, n := range a.declarations {
			if number < 53 && strings.Contains(n.text, ".f16x2") || (number < 70 || old) &&
				strings.Contains(n.text, ".b128") {
				return false
			}
		}
	}
	return true
}
