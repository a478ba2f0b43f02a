// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// enter adds a function to the module scope. If the function was declared before, it compares the
// two declarations.
func (c *checker) enter(n *ptx.Func, f *function) {
	if f.name == "" {
		return
	}
	c.specialName(n.Name, f.name)
	if f.defined && f.linkage == ".extern" {
		c.fault(&ruleRedefined, n.Name, "%s is .extern but has a body, expected .visible",
			clip(f.name)).
			withFix(n.Linkage[0], ".visible", "write .visible")
	}
	if target := c.aliased[f.name]; target != "" && f.defined {
		c.fault(&ruleAlias, n.Name, "%s is an alias for %s, so it cannot have a body", clip(f.name),
			clip(target))
	}
	old := c.module.findHere(f.name)
	if old == nil {
		sym := c.symbol()
		*sym = symbol{kind: routine, name: f.name, at: f.at, fn: f, linkage: f.linkage,
			arg: isa.Arg{Kind: isa.ArgFunc}}
		c.module.put(f.name, sym)
		c.order = append(c.order, f)
		return
	}
	if old.kind != routine {
		c.fault(&ruleTwice, n.Name, "%s is declared twice: as a function and as a variable",
			clip(f.name)).
			withRelated(old.at, "the first declaration is here")
		return
	}
	c.redeclare(n, f, old)
}

// redeclare compares a function with its earlier declaration and merges the two.
func (c *checker) redeclare(n *ptx.Func, f *function, sym *symbol) {
	old := sym.fn
	bad := func(format string, args ...any) {
		c.fault(&ruleRedefined, n.Name, format, args...).withRelated(old.at,
			"the first declaration is here")
	}
	switch {
	case old.entry != f.entry:
		bad("%s is declared both as an .entry and as a .func", clip(f.name))
	case old.defined && f.defined:
		bad("%s is defined twice", clip(f.name))
	case old.defined:
		bad("%s is declared after its definition", clip(f.name))
	case f.defined && old.linkage == ".extern":
		bad("%s is declared .extern but defined in this module; declare it .visible", clip(f.name))
	case old.linkage != f.linkage &&
		!(f.linkage == "" && (old.linkage == ".visible" || old.linkage == ".weak")):
		bad("%s is %s here but %s in the other declaration", clip(f.name), linkageWord(f.linkage),
			linkageWord(old.linkage))
	case old.noreturn != f.noreturn:
		bad("%s has .noreturn in only one of its declarations", clip(f.name))
	case old.preserve != f.preserve:
		bad("%s has different .abi_preserve directives than in the other declaration", clip(f.name))
	case f.labeled && old.labeled && f.unified != old.unified:
		bad("%s has a different .unified identifier than in the other declaration", clip(f.name))
	default:
		if what := describeDifference(old, f); what != "" {
			c.fault(&ruleMismatch, n.Name, "%s differs from its declaration: %s", clip(f.name),
				what).
				withRelated(old.at, "the first declaration is here")
		}
	}
	if f.defined && !old.defined {
		if f.linkage == "" {
			f.linkage = old.linkage
		}
		f.called, f.taken = old.called, old.taken
		sym.fn, sym.at = f, f.at
		c.order = append(c.order, f)
	}
}

func linkageWord(word string) string {
	if word == "" {
		return "private"
	}
	return word
}

// recordAddressTaken records that the address of a function is taken at a position.
func (s *symbol) recordAddressTaken(at ptx.Span) {
	if s.kind == routine && s.fn != nil && s.fn.taken.At == ptx.NoPos {
		s.fn.taken = at
	}
}

// reportUnresolved reports functions without a body that must have one: those that are not
// .extern and, in a module that is not linked with others, those that are called or whose address
// is taken. A module with a function that returns several values cannot be linked, because the
// calling convention does not cover such functions.
func (c *checker) reportUnresolved() {
	several := slices.ContainsFunc(c.src.Decls, func(n ptx.Node) bool {
		f, ok := n.(*ptx.Func)
		return ok && len(f.Returns) > 1
	})
	for _, f := range c.order {
		sym := c.module.names[f.name]
		if sym == nil || sym.fn != f || f.defined || c.aliased[f.name] != "" {
			continue
		}
		if f.linkage != ".extern" {
			c.fault(&ruleUnresolved, f.at, "%s is declared but never defined; declare it .extern "+
				"if another module defines it", clip(f.name))
			continue
		}
		if !c.opt.Whole && !several {
			continue
		}
		if f.taken.At != ptx.NoPos {
			c.fault(&ruleUnresolved, f.taken, "address of %s is taken, but this module does not "+
				"define the function", clip(f.name)).
				withRelated(f.at, "the declaration is here")
			continue
		}
		if f.called.At == ptx.NoPos {
			continue
		}
		switch f.name {
		case "vprintf", "malloc", "free", "__assertfail": // the driver provides these functions
			continue
		}
		c.fault(&ruleUnresolved, f.called, "%s is called but not defined in this module",
			clip(f.name)).
			withRelated(f.at, "the declaration is here")
	}
}
