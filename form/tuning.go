// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// A directiveRule describes the valid uses of a directive between the header and the body of a
// function.
type directiveRule struct {
	entry, routine   bool // allowed for an .entry, for a .func
	minArgs, maxArgs int  // limits for the number of arguments
	isPositive       bool // the arguments must be positive
	once             bool
	major, minor     int
	target           int
}

// directiveRuleOf returns the rule for a function directive. The versions and targets are those
// that ptxas requires (PTX ISA 9.4, "Directives").
func directiveRuleOf(name string) (t directiveRule, ok bool) {
	switch name {
	case ".maxntid":
		return directiveRule{entry: true, minArgs: 1, maxArgs: 3, isPositive: true, major: 1,
			minor: 3}, true
	case ".reqntid":
		return directiveRule{entry: true, minArgs: 1, maxArgs: 3, isPositive: true, major: 2,
			minor: 1}, true
	case ".maxnreg":
		return directiveRule{entry: true, minArgs: 1, maxArgs: 1, isPositive: true, major: 1,
			minor: 3}, true
	case ".minnctapersm":
		return directiveRule{entry: true, minArgs: 1, maxArgs: 1, isPositive: true, major: 2}, true
	case ".maxnctapersm":
		return directiveRule{entry: true, minArgs: 1, maxArgs: 1, isPositive: true, major: 1,
			minor: 3}, true
	case ".maxclusterrank":
		return directiveRule{entry: true, minArgs: 1, maxArgs: 1, major: 7, minor: 8, target: 90},
			true
	case ".reqnctapercluster":
		return directiveRule{entry: true, minArgs: 1, maxArgs: 3, major: 7, minor: 8, target: 90},
			true
	case ".explicitcluster":
		return directiveRule{entry: true, major: 7, minor: 8, target: 90}, true
	case ".blocksareclusters":
		return directiveRule{entry: true, major: 9, target: 90}, true
	case ".minperctamemory":
		return directiveRule{entry: true, minArgs: 1, maxArgs: 1, major: 9, minor: 4}, true
	case ".language":
		return directiveRule{entry: true, routine: true, minArgs: 1, maxArgs: 64, major: 9,
			minor: 2}, true
	case ".noreturn":
		return directiveRule{routine: true, once: true, major: 6, minor: 4, target: 30}, true
	case ".abi_preserve", ".abi_preserve_control":
		return directiveRule{routine: true, minArgs: 1, maxArgs: 1, once: true, major: 9,
			target: 80}, true
	}
	return directiveRule{}, false
}

// tuning checks the directives of a function.
func (c *checker) tuning(n *ptx.Func, f *function) {
	if len(n.Attrs) == 0 {
		return
	}
	c.heading = f
	defer func() { c.heading = nil }()
	first := make(map[string]*ptx.Directive, len(n.Attrs))
	for i, d := range n.Attrs {
		name := d.Name.Text
		switch name {
		case ".pragma":
			c.pragma(d, false)
			if ends := n.Body == nil && i == len(n.Attrs)-1; !f.entry && !ends {
				c.fault(&ruleTuningPlace, d, ".pragma is not allowed before the body of a .func; "+
					"write it inside")
			}
			continue
		case ".attribute":
			c.functionAttribute(d, f)
			continue
		case ".local_maxnreg":
			continue // the directive is undocumented
		}
		t, ok := directiveRuleOf(name)
		if !ok {
			c.fault(&ruleUnknownDirective, d.Name, "%s is not a function directive", clip(name)).
				suggestName(d.Name, diag.Nearest(name, directiveNames(f.entry)))
			continue
		}
		c.checkDirective(d, f, &t)
		if v, ok := int64(0), len(d.Args) == 1; ok && strings.HasPrefix(name, ".abi_preserve") {
			v, _ = c.plainInteger(&d.Args[0])
			if name == ".abi_preserve" {
				f.preserve[0] = v + 1
			} else {
				f.preserve[1] = v + 1
			}
		}
		if first[name] == nil {
			first[name] = d
		} else if t.once {
			c.fault(&ruleTuningTwice, d, "%s is given twice", name).
				withRelated(first[name], "first given here")
		}
	}
	f.memory = first[".minperctamemory"] != nil
	f.noreturn = first[".noreturn"] != nil
	if f.noreturn && len(f.returns) > 0 {
		c.fault(&ruleNoReturn, first[".noreturn"], "%s returns a value, but a .noreturn function "+
			"cannot", clip(f.name))
	}
	c.checkCombinations(first)
}

func directiveNames(entry bool) []string {
	if entry {
		return []string{".maxntid", ".reqntid", ".maxnreg", ".minnctapersm", ".maxclusterrank",
			".reqnctapercluster",
			".explicitcluster", ".blocksareclusters", ".minperctamemory", ".language", ".pragma"}
	}
	return []string{".noreturn", ".abi_preserve", ".abi_preserve_control", ".language"}
}

// checkDirective checks the position, the required version and target, and the arguments of one
// directive.
func (c *checker) checkDirective(d *ptx.Directive, f *function, t *directiveRule) {
	name := d.Name.Text
	if f.entry && !t.entry || !f.entry && !t.routine {
		kind := map[bool]string{true: "an .entry", false: "a .func"}
		c.fault(&ruleTuningPlace, d, "%s is allowed only on %s, but %s is %s", name, kind[!f.entry],
			clip(f.name), kind[f.entry])
		return
	}
	c.need(d.Name, name, max(1, t.major), t.minor, t.target)
	if name == ".maxnctapersm" {
		c.checkRemoved(d.Name, name, 2, 1)
	}
	if name == ".language" {
		c.language(d)
		return
	}
	if len(d.Args) < t.minArgs || len(d.Args) > t.maxArgs {
		want := plural(t.maxArgs, "number")
		if t.minArgs != t.maxArgs {
			want = "one to three numbers"
		}
		if t.maxArgs == 0 {
			want = "nothing"
		}
		c.fault(&ruleTuningValue, d, "%s takes %s, but %d are given", name, want, len(d.Args))
		return
	}
	for i := range d.Args {
		v, ok := c.plainInteger(&d.Args[i])
		n, fits := word32(v)
		switch {
		case c.tooLarge(&d.Args[i]):
		case !ok:
			c.fault(&ruleTuningValue, d.Args[i], "%s takes an integer, but %s is not one", name,
				clip(c.text(&d.Args[i])))
		case !fits:
			c.fault(&ruleTuningValue, d.Args[i], "%s does not fit into 32 bits",
				clip(c.text(&d.Args[i])))
		case n == 0 && t.isPositive:
			c.fault(&ruleTuningValue, d.Args[i], "%s takes a number greater than zero", name)
		case n >= 256 && strings.HasPrefix(name, ".abi_preserve"):
			c.fault(&ruleTuningValue, d.Args[i], "%s is %d, expected at most 255 registers per "+
				"thread", name, n)
		}
	}
}

// language checks the arguments of .language (PTX ISA 9.4, section 11.8.2).
func (c *checker) language(d *ptx.Directive) {
	if len(d.Args) == 0 {
		c.fault(&ruleLanguage, d, ".language has no language")
		return
	}
	names := []string{"unknown", "ptx", "nvvm", "cuda c++", "cuda c++ tile", "tile ir",
		"python-cutile", "fortran", "optix"}
	for i := range d.Args {
		a := &d.Args[i]
		if i > 0 && !strings.Contains(c.src.Text[d.Args[i-1].To:a.At], ",") {
			c.fault(&ruleLanguage, a, "languages of .language must be separated by commas").
				withFixAt(d.Args[i-1].To, d.Args[i-1].To, ",", "add a comma")
			return
		}
		if a.Kind == ptx.String {
			name := strings.ToLower(strings.Trim(a.Text, `"`))
			if !slices.Contains(names, name) {
				f := c.fault(&ruleLanguage, a, "%s is not a known language of .language",
					clip(a.Text))
				if near := diag.Nearest(name, names); near != "" {
					f.suggestName(a, strconv.Quote(near))
				}
			}
			continue
		}
		v, ok := c.plainInteger(a)
		if n, fits := word32(v); !c.tooLarge(a) && (!ok || !fits || n > 10) {
			c.fault(&ruleLanguage, a, ".language takes a number from 0 to 10, but %s is not one",
				clip(c.text(a)))
		}
	}
}

// checkCombinations checks directives that exclude or require each other. first has the first
// directive of each name.
func (c *checker) checkCombinations(first map[string]*ptx.Directive) {
	conflict := func(a, b string) {
		x, y := first[a], first[b]
		if x == nil || y == nil {
			return
		}
		if x.At > y.At {
			x, y = y, x
		}
		c.fault(&ruleTuningConflict, y, "%s and %s cannot be used together", a, b).
			withRelated(x, "%s is here", x.Name.Text)
	}
	conflict(".maxntid", ".reqntid")
	conflict(".maxclusterrank", ".reqnctapercluster")
	if d := first[".blocksareclusters"]; d != nil &&
		(first[".reqntid"] == nil || first[".reqnctapercluster"] == nil) {
		c.fault(&ruleTuningNeeds, d, ".blocksareclusters requires .reqntid and .reqnctapercluster")
	}
	if d := first[".minnctapersm"]; d != nil && first[".maxntid"] == nil &&
		first[".reqntid"] == nil {
		c.fault(&ruleTuningIdle, d, ".minnctapersm has no effect without .maxntid or .reqntid")
	}
}

// functionAttribute checks .attribute(.unified(a, b)) of a function.
func (c *checker) functionAttribute(d *ptx.Directive, f *function) {
	if f.entry {
		c.fault(&ruleTuningPlace, d,
			".attribute is allowed only on a .func and on variables, but %s is an .entry",
			clip(f.name))
		return
	}
	c.need(d.Name, ".attribute", 4, 0, 0)
	for i := range d.Args {
		a := &d.Args[i]
		if a.Text != ".unified" {
			c.fault(&ruleAttribute, a, "%s is not a function attribute, expected .unified",
				clip(c.text(a)))
			continue
		}
		f.unified, f.labeled = c.parseUnified(a)
	}
}

// specialUse checks the version and target that a special register requires, and the directive
// .minperctamemory that some special registers require.
func (c *checker) specialUse(at ptx.Node, s *isa.Special) {
	c.gate(at, s.Name, s.Gate, isa.Gate{})
	if strings.HasPrefix(s.Name, "%perctamemory") && c.body != nil && c.body.fn.entry &&
		!c.body.fn.memory {
		c.fault(&ruleTuningNeeds, at,
			"%s is read in %s, which is declared without .minperctamemory", s.Name,
			clip(c.body.fn.name))
	}
}
