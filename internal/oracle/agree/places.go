// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package agree

import (
	"fmt"
	"strings"

	"github.com/ptxdsl/ptxdsl/isa"
)

// A place is a PTX version and a target that exists in it.
type place struct {
	version isa.Version
	target  isa.Target
}

func (p place) String() string { return fmt.Sprintf("%s %s", p.version, p.target) }

// admits reports whether gates are open at p.
func (p place) admits(open, gone []isa.Gate) bool {
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

// A border describes which places a set of gates allows. For each target, it has the first legal
// version and the last illegal one.
type border struct {
	first  place   // the earliest legal place, on the lowest target
	newest place   // a legal place at the newest version
	legal  []place // per target: the first legal version
	early  []place // per target: the version before the first legal one, if the target exists in it
	never  []place // targets where the newest version is not legal
}

// borders computes the border of gates. It returns ok = false if no version and target passes all
// of them.
func borders(open, gone []isa.Gate) (b border, ok bool) {
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
			if p.admits(open, gone) {
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
		if last.admits(open, gone) {
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

// signature returns text that differs for different gates.
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

// declarable reports whether the registers of x can be declared at p: .f16x2 needs sm_53, .b128
// needs sm_70 and PTX 8.3. If the declarations of a probe are rejected, the verdict says nothing
// about the instruction.
func declarable(p place, x instance) bool {
	number := p.target.Info().Number
	old := p.version < 803
	for _, a := range x.args {
		for _, n := range a.needs {
			if number < 53 && strings.Contains(n.text, ".f16x2") || (number < 70 || old) &&
				strings.Contains(n.text, ".b128") {
				return false
			}
		}
	}
	return true
}
