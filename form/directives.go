// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import (
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// moduleDirective checks a directive at module scope that follows the header.
func (c *checker) moduleDirective(d *ptx.Directive) {
	switch name := d.Name.Text; name {
	case ".version", ".target", ".address_size":
		c.fault(&ruleLateHeader, d, "%s must precede all declarations of the module", name)
	case ".pragma":
		c.pragma(d, false)
	case ".alias":
		c.alias(d)
	case ".file":
		c.sourceFile(d)
	case "@@DWARF":
		c.checkRemoved(d, "@@DWARF", 2, 0)
	case ".loc", ".loc_intermediate", ".branchtargets", ".calltargets":
		c.fault(&ruleDirectivePlace, d, "%s is not allowed at module scope; move it into a "+
			"function", name)
	default:
		if _, ok := directiveRuleOf(name); ok {
			c.fault(&ruleDirectivePlace, d, "%s must be between the header of a function and its "+
				"body", name)
			return
		}
		c.unknownDirective(d,
			[]string{".pragma", ".alias", ".file", ".global", ".shared", ".const", ".extern",
				".visible",
				".weak", ".common", ".entry", ".func", ".section"})
	}
}

// bodyDirective checks a directive inside a function.
func (c *checker) bodyDirective(d *ptx.Directive) {
	switch name := d.Name.Text; name {
	case ".pragma":
		c.pragma(d, true)
	case ".loc":
		c.location(d)
	case ".loc_intermediate":
		c.need(d.Name, name, 9, 4, 0)
		if _, ok := c.locationNumbers(d); ok && d.Semi {
			c.faultAt(&ruleLocation, d.To-1, d.To, "%s must not be followed by a semicolon", name)
		}
	case ".branchtargets":
		c.branchList(d)
	case ".calltargets":
		c.callList(d)
	case ".alias":
		c.alias(d)
	case ".target":
		c.readTarget(d, true)
	case ".version", ".address_size", ".file":
		c.fault(&ruleDirectivePlace, d, "%s is not allowed in a function; move it to module scope",
			name)
	case "@@DWARF":
		c.checkRemoved(d, "@@DWARF", 2, 0)
	default:
		if _, ok := directiveRuleOf(name); ok {
			c.fault(&ruleDirectivePlace, d, "%s must be before the { of the function body", name)
			return
		}
		c.unknownDirective(d,
			[]string{".pragma", ".loc", ".reg", ".local", ".shared", ".param", ".global", ".const",
				".branchtargets", ".calltargets", ".callprototype"})
	}
}

func (c *checker) unknownDirective(d *ptx.Directive, known []string) {
	c.fault(&ruleUnknownDirective, d.Name, "%s is not a directive that is allowed here",
		clip(d.Name.Text)).
		suggestName(d.Name, diag.Nearest(d.Name.Text, known))
}

// alias checks a directive of the form .alias name, function.
func (c *checker) alias(d *ptx.Directive) {
	c.need(d.Name, ".alias", 6, 3, 30)
	if len(d.Args) != 2 {
		c.fault(&ruleAlias, d, ".alias takes two names: the alias and the function it refers to")
		return
	}
	name, target := &d.Args[0], &d.Args[1]
	a, b := c.aliasPart(name), c.aliasPart(target)
	if a == nil || b == nil {
		return
	}
	switch {
	case a == b:
		c.fault(&ruleAlias, target, "%s cannot be an alias for itself", clip(name.Text))
	case c.aliased[a.name] != "":
		c.fault(&ruleAlias, name, "%s is already an alias for %s", clip(a.name),
			clip(c.aliased[a.name]))
	case a.defined:
		c.fault(&ruleAlias, name, "%s has a body, but an alias must be a .func declaration "+
			"without a body", clip(a.name)).withRelated(a.at, "the body is here")
	case b.linkage == ".weak" || b.linkage == ".extern":
		c.fault(&ruleAlias, target, "%s is %s, expected a function that this module defines and "+
			"that is not .weak", clip(b.name), b.linkage)
	case a.noreturn != b.noreturn:
		c.fault(&ruleAlias, name, "%s and %s differ in .noreturn", clip(a.name), clip(b.name))
	default:
		if what := describeDifference(b, a); what != "" {
			c.fault(&ruleAlias, name, "%s differs from %s: %s", clip(a.name), clip(b.name),
				what).withRelated(b.at, "%s is here", clip(b.name))
		}
	}
	if c.aliased[a.name] == "" {
		c.aliased[a.name] = b.name
	}
}

// aliasPart returns one of the two functions of an .alias directive. It reports a name that is
// not a function and returns nil.
func (c *checker) aliasPart(o *ptx.Operand) *function {
	sym := c.module.findHere(o.Text)
	switch {
	case sym == nil:
		c.reportUnknown(o, o.Text, func(s *symbol) bool { return s.kind == routine })
	case sym.kind != routine:
		c.fault(&ruleAlias, o, "%s is %s, expected a function", clip(o.Text), kindWords[sym.kind])
	case sym.fn.entry:
		c.fault(&ruleAlias, o, "%s is an .entry, expected a .func", clip(o.Text))
	default:
		return sym.fn
	}
	return nil
}
