// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package unset

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/walk"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// A use is an instruction that uses an undefined value on a path, for an address, a stored value
// or a branch.
type use struct {
	in      *ir.Instr
	thread  int
	choices []walk.Choice
}

// from returns the origin of the choices of the path. known is set if there are none.
func (u *use) from() (from walk.Origin, known bool) {
	for _, c := range u.choices {
		from = max(from, c.From)
	}
	return from, len(u.choices) == 0
}

// A search finds uses of registers that only other paths write.
type search struct {
	*verify.Pass
	walk *walk.Walk
	uses map[*ir.Reg]*use // the use with the fewest assumptions
	// derived is not 0 for the registers, by number, that may be computed from a register that is
	// not written on all paths.
	derived []uint8
}

// checkPaths reports registers that are written on some paths to a read and not on others, and
// whose value is used on one of the others. starts holds the state at the start of each block.
func checkPaths(p *verify.Pass, starts []*state, reported map[*ir.Reg]bool) {
	doubtful := partlyWritten(p, starts)
	if len(doubtful) == 0 {
		return
	}
	s := &search{Pass: p, uses: make(map[*ir.Reg]*use), derived: make([]uint8, len(p.Func.Regs))}
	for _, r := range doubtful {
		s.derived[r.Number] = 1
	}
	walk.Derive(p.Func, s.derived, func(*ir.Instr) uint8 { return 0 })
	s.walk = walk.New(p.Flow, p.BlockSize(), walk.Visitor{Wants: s.wants, Visit: s.visit})
	if s.walk.IsEmpty() {
		return
	}
	for _, thread := range walk.Threads(p.Flow.Func, s.walk.Block()) {
		s.walk.Thread(thread)
	}
	for _, r := range doubtful {
		if u := s.uses[r]; u != nil && !reported[r] {
			reported[r] = true
			s.report(r, u)
		}
	}
	if list := s.walk.Unreached(); len(list) > 0 {
		s.Missed("whether the registers that line %d uses are written on all paths: the kernel has too many paths (R7)",
			s.line(list[0]))
	}
}

// wants reports whether an instruction may use a register that is not written on all paths for an
// access or a branch.
func (s *search) wants(in *ir.Instr, need func(*ir.Reg)) (found bool) {
	switch in.Kind().Head() {
	case isa.HeadLd, isa.HeadSt, isa.HeadAtom, isa.HeadRed:
		if in.Space().Base() == isa.Param {
			return false
		}
	default:
		if !in.Ends() {
			return false
		}
	}
	in.Registers(func(r *ir.Reg, a isa.Access) {
		if n, own := number(s.Func, r); own && a == isa.Read && s.derived[n] != 0 {
			need(r)
			found = true
		}
	})
	return found
}

// visit records a use of an undefined value.
func (s *search) visit(path *walk.Path, in *ir.Instr) bool {
	r := undefinedUse(path, in)
	if r == nil {
		return true
	}
	u := &use{in, path.Thread, slices.Clone(path.Choices)}
	if old := s.uses[r]; old == nil || u.isCloser(old) {
		s.uses[r] = u
	}
	return false
}

// isCloser reports whether u needs fewer or weaker assumptions than o.
func (u *use) isCloser(o *use) bool {
	a, known := u.from()
	b, too := o.from()
	switch {
	case known != too:
		return known
	case a != b:
		return a < b
	}
	return len(u.choices) < len(o.choices)
}

// undefinedUse returns the undefined register on which an address, a stored value, or the guard of
// a branch or an access depends, or nil.
func undefinedUse(path *walk.Path, in *ir.Instr) (found *ir.Reg) {
	in.Registers(func(r *ir.Reg, a isa.Access) {
		if v := path.Reg(r); a == isa.Read && v.Kind == walk.Undefined && found == nil {
			found = v.Reg
		}
	})
	return found
}

// partlyWritten returns the registers that some instruction reads where they are written on some
// paths from the start and not on others.
func partlyWritten(p *verify.Pass, may []*state) (list []*ir.Reg) {
	f, always := p.Func, alwaysWritten(p)
	seen := make(map[*ir.Reg]bool)
	for _, v := range f.Params {
		seen[v.Reg] = true
	}
	for _, block := range f.Blocks {
		for _, in := range block.Instrs {
			// an instruction that reads what it writes has an accumulator
			if in.Guard.Reg == nil && !in.Directive() {
				in.Registers(func(r *ir.Reg, a isa.Access) {
					seen[r] = seen[r] || a == isa.ReadWrite
				})
			}
		}
	}
	for b, block := range f.Blocks {
		if may[b] == nil {
			continue
		}
		s, t := may[b].clone(), &state{written: slices.Clone(always[b])}
		for _, in := range block.Instrs {
			in.Registers(func(r *ir.Reg, a isa.Access) {
				if n, own := number(f, r); own && a == isa.Read && s.has(n) && !t.has(n) &&
					!seen[r] {
					seen[r] = true
					list = append(list, r)
				}
			})
			s.step(f, in)
			t.stepAlways(f, in)
		}
	}
	return list
}

// alwaysWritten returns, for the start of each block, the registers that all paths to it write.
func alwaysWritten(p *verify.Pass) [][]uint64 {
	f, words := p.Func, (len(p.Func.Regs)+63)/64
	own := make([]state, len(f.Blocks)) // what each block writes
	for b, block := range f.Blocks {
		own[b].written = make([]uint64, words)
		for _, in := range block.Instrs {
			own[b].stepAlways(f, in)
		}
	}
	starts := make([][]uint64, len(f.Blocks))
	starts[0] = make([]uint64, words)
	order, after := p.Flow.Order(), make([]uint64, words)
	for changed := true; changed; {
		changed = false
		for _, b := range order {
			for i := range after {
				after[i] = starts[b][i] | own[b].written[i]
			}
			for _, next := range p.Flow.Succs[b] {
				if starts[next] == nil {
					starts[next] = slices.Clone(after)
					changed = true
				} else if intersect(starts[next], after) {
					changed = true
				}
			}
		}
	}
	return starts
}

// intersect removes from a set what another set does not have, and reports whether that changes it.
func intersect(to, from []uint64) (changed bool) {
	for i, w := range from {
		changed = changed || to[i]&^w != 0
		to[i] &= w
	}
	return changed
}

// stepAlways adds the registers that an instruction certainly writes.
func (s *state) stepAlways(f *ir.Func, in *ir.Instr) {
	if in.Guard.Reg != nil || in.Directive() {
		return
	}
	in.Registers(func(r *ir.Reg, a isa.Access) {
		if n, own := number(f, r); own && a != isa.Read {
			s.written[n/64] |= 1 << (n % 64)
		}
	})
}

// report reports that a path uses register r without having written it.
func (s *search) report(r *ir.Reg, u *use) {
	from, known := u.from()
	if !known && from == walk.Data {
		c := u.choices[len(u.choices)-1]
		for _, x := range u.choices {
			if x.From == walk.Data {
				c = x
			}
		}
		s.Missed("whether %s, used in line %d, is written on all paths: the branch in line %d depends on data (R7)",
			verify.Register(r), s.line(u.in), s.line(c.In))
		return
	}
	f := s.Report(&ruleUnset, u.in,
		"uninitialized register: %s is used, but on the path of thread %d no instruction writes it",
		verify.Register(r), u.thread)
	for _, c := range u.choices {
		word := "false"
		if c.Taken {
			word = "true"
		}
		f.Also(c.In, "if the guard is %s here", word)
	}
	if !known {
		f.As(diag.Review).Message += ", for some arguments of the kernel"
	} else if u.thread > 0 && s.walk.Block() == 0 {
		f.As(diag.Review).Message += ", if the block has that many threads"
	}
}

// line returns the line of an instruction.
func (s *search) line(in *ir.Instr) int {
	at, _ := s.Module.At(in.Pos)
	return at.Line
}
