// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import (
	"strings"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// resources records the resources that a function uses, so that limits of the kernels that call
// it can be checked.
type resources struct {
	calls  []*function
	shared []*symbol
	groups [2]ptx.Span // first tcgen05 instruction with .cta_group::1 and ::2
	has    [2]bool
}

// useShared records the use of a variable in shared memory.
func (u *resources) useShared(sym *symbol) {
	if n := len(u.shared); n > 0 && u.shared[n-1] == sym {
		return
	}
	u.shared = append(u.shared, sym)
}

// useGroup records the CTA group of a tcgen05 instruction.
func (u *resources) useGroup(op ptx.Word) {
	for i, word := range [...]string{".cta_group::1", ".cta_group::2"} {
		if !u.has[i] && strings.Contains(op.Text, word) {
			u.has[i], u.groups[i] = true, op.Span
		}
	}
}

// finishKernels checks the resources of each kernel together with those of all functions that it
// calls. ptxas checks them during code generation.
func (c *checker) finishKernels() {
	most := c.sharedLimit()
	whole := &resourceSum{module: c.module, functions: map[*function]bool{},
		symbols: map[*symbol]bool{}}
	for _, f := range c.order {
		whole.add(f)
	}
	if whole.bytes <= most && !(whole.has[0] && whole.has[1]) {
		return // no kernel exceeds the limit if all functions together do not
	}
	for _, f := range c.order {
		if !f.entry || !f.defined {
			continue
		}
		total := &resourceSum{module: c.module, functions: map[*function]bool{},
			symbols: map[*symbol]bool{}}
		total.add(f)
		if total.has[0] && total.has[1] {
			later, earlier := total.groups[1], total.groups[0]
			if later.At < earlier.At {
				later, earlier = earlier, later
			}
			c.fault(&ruleGroups, later, "kernel %s uses both .cta_group::1 and .cta_group::2; "+
				"all its tcgen05 instructions must use the same one", clip(f.name)).
				withRelated(earlier, "the other group is used here")
		}
		if total.bytes > most {
			c.fault(&ruleShared, f.at, "kernel %s uses %d bytes of static shared memory, but %s "+
				"has %d", clip(f.name), total.bytes, c.header.target, most)
		}
	}
}

// sharedLimit returns the maximum size in bytes of static shared memory per kernel: 48 KB if the
// code must also run on later targets, and the full capacity if it only runs on this one.
func (c *checker) sharedLimit() int64 {
	if !c.header.hasTarget {
		return 1 << 62
	}
	t := c.header.target.Info()
	switch {
	case t.Suffix != 'a':
		return 48 << 10
	case t.Number >= 120:
		return 99 << 10
	}
	return 227 << 10
}

// A resourceSum adds the resources of several functions, each only once.
type resourceSum struct {
	resources
	module    *scope
	functions map[*function]bool
	symbols   map[*symbol]bool
	bytes     int64
}

func (s *resourceSum) add(f *function) {
	if sym := s.module.names[f.name]; sym != nil && sym.fn != nil {
		f = sym.fn // the definition, if f is a declaration
	}
	if s.functions[f] {
		return
	}
	s.functions[f] = true
	for i := range s.has {
		if f.uses.has[i] && !s.has[i] {
			s.has[i], s.groups[i] = true, f.uses.groups[i]
		}
	}
	for _, sym := range f.uses.shared {
		if !s.symbols[sym] {
			s.symbols[sym] = true
			s.bytes = min(s.bytes+sym.shape.size(), 1<<62)
		}
	}
	for _, g := range f.uses.calls {
		s.add(g)
	}
}

// fraction checks the constant of createpolicy.fractional, rounded to single precision.
func (c *checker) fraction(in *ptx.Instr) {
	if len(in.Args) != 2 || c.args[1].Kind != isa.ArgFloat {
		return
	}
	if v := float32(c.evaluate(&in.Args[1]).Float()); v <= 0 || v > 1 {
		c.fault(&ruleFraction, in.Args[1],
			"fraction %s is out of range, expected more than 0 and at most 1",
			clip(c.text(&in.Args[1])))
	}
}
