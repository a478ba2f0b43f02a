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

// A header holds the contents of the directives at the start of a module.
type header struct {
	version    isa.Version
	target     isa.Target
	hasVersion bool // whether version is a known version
	hasTarget  bool // whether target is a known target
	targetWord ptx.Operand
	address    int64       // address size in bits, 32 or 64
	addressAt  ptx.Operand // operand of .address_size
	mode       string      // the texture mode, such as texmode_unified, or ""
	debug      *ptx.Operand
}

// isKnown reports whether both the version and the target of the module are known, so that
// requirements can be checked.
func (h *header) isKnown() bool { return h.hasVersion && h.hasTarget }

// isIndependent reports whether textures and samplers are declared separately.
func (h *header) isIndependent() bool { return h.mode == "texmode_independent" }

// supportsVersion reports whether the module may use a feature of a PTX version. If the version
// is not known, it returns true.
func (h *header) supportsVersion(major, minor int) bool {
	return !h.hasVersion || h.version >= isa.MakeVersion(major, minor)
}

// supportsTarget reports whether the target of the module has the features of architecture
// sm_number. If the target is not known, it returns true.
func (h *header) supportsTarget(number int) bool {
	return !h.hasTarget || h.target.Info().Number >= number
}

// readHeader checks .version, .target and .address_size, with which a module begins in this
// order, and returns the declarations that follow them.
func (c *checker) readHeader(list []ptx.Node) []ptx.Node {
	c.header.address = 64
	list = c.headInOrder(list)
	next := func(name string) *ptx.Directive {
		for len(list) > 0 && isBad(list[0]) { // reported already
			list = list[1:]
		}
		if len(list) == 0 {
			return nil
		}
		d, ok := list[0].(*ptx.Directive)
		if !ok || !strings.EqualFold(d.Name.Text, name) || d.Label.Text != "" {
			return nil
		}
		if d.Name.Text != name {
			c.fault(&ruleUnknownDirective, d.Name, "%s is not a directive that is allowed here; "+
				"did you mean %s?", clip(d.Name.Text), name).
				withFix(d.Name, name, "write %s", name)
		}
		list = list[1:]
		return d
	}
	at := ptx.Span{}
	if len(list) > 0 {
		at = ptx.Span{At: list[0].Pos(), To: list[0].End()}
	}
	version := next(".version")
	if version != nil {
		c.readVersion(version)
	}
	behind := at
	if len(list) > 0 {
		behind = ptx.Span{At: list[0].Pos(), To: list[0].End()}
	}
	d := next(".target")
	switch headed := version != nil || c.lostNames().badVersion; {
	case !headed && d == nil:
		c.fault(&ruleNoVersion, at, "the module does not start with .version and .target")
	case !headed:
		c.fault(&ruleNoVersion, at, "the module does not start with .version").
			withFixAt(at.At, at.At, ".version "+isa.Newest().String()+"\n",
				"start with .version %s",
				isa.Newest()).asGuess()
	case d == nil:
		at = behind
		c.fault(&ruleNoTarget, at, ".target is missing after .version")
	}
	for first := true; d != nil; d, first = next(".target"), false {
		c.readTarget(d, first)
	}
	if d := next(".address_size"); d != nil {
		c.readAddressSize(d)
	}
	return list
}

// headInOrder moves the directives at the start of a module into the required order, and reports
// the first directive that is out of order.
func (c *checker) headInOrder(list []ptx.Node) []ptx.Node {
	names := [...]string{".version", ".target", ".address_size"}
	var head [len(names)][]ptx.Node
	last, n := 0, 0
	var late, before *ptx.Directive
	for ; n < len(list); n++ {
		d, ok := list[n].(*ptx.Directive)
		if !ok || d.Label.Text != "" {
			break
		}
		rank := slices.IndexFunc(names[:], func(name string) bool {
			return strings.EqualFold(name, d.Name.Text)
		})
		if rank < 0 || names[rank] != ".target" && len(head[rank]) > 0 {
			break
		}
		if rank < last && late == nil {
			late = d
		}
		if late == nil {
			before = d
		}
		last = max(last, rank)
		head[rank] = append(head[rank], d)
	}
	switch {
	case late == nil:
		return list
	case strings.EqualFold(late.Name.Text, names[0]):
		c.fault(&ruleNoVersion, late.Name, ".version comes after %s; it must be the first "+
			"directive of the module", clip(before.Name.Text))
	default:
		c.fault(&ruleNoTarget, late.Name, ".target comes after %s; it must directly follow "+
			".version", clip(before.Name.Text))
	}
	return slices.Concat(head[0], head[1], head[2], list[n:])
}

func isBad(n ptx.Node) bool {
	_, bad := n.(*ptx.Bad)
	return bad
}

func (c *checker) readVersion(d *ptx.Directive) {
	if len(d.Args) == 0 {
		c.fault(&ruleVersion, d, ".version has no version number")
		return
	}
	arg := d.Args[0]
	major, minor, ok := strings.Cut(arg.Text, ".")
	a, err1 := strconv.Atoi(major)
	b, err2 := strconv.Atoi(minor)
	if len(d.Args) != 1 || !ok || err1 != nil || err2 != nil || a > 99 || b > 99 ||
		arg.Kind != ptx.Literal {
		c.fault(&ruleVersion, arg, "%s is not a version, expected two numbers, such as %s",
			clip(arg.Text), isa.Newest())
		return
	}
	// ptxas reads 8.10 as 8 plus ten tenths, which is 9.0.
	tenths := a*10 + b
	v := isa.MakeVersion(tenths/10, tenths%10)
	if !v.Known() {
		f := c.fault(&ruleVersion, arg, "unknown PTX version %s", clip(arg.Text))
		if v > isa.Newest() {
			f.d.Message = "PTX version " + clip(arg.Text) + " is unknown; the newest is " +
				isa.Newest().String()
			f.withFix(arg, isa.Newest().String(), "write %s", isa.Newest())
		}
		return
	}
	c.header.version, c.header.hasVersion = v, true
}

// readTarget reads a .target directive. If the directive has several architectures, the last one
// applies.
func (c *checker) readTarget(d *ptx.Directive, first bool) {
	if len(d.Args) == 0 {
		c.fault(&ruleTarget, d, ".target has no architecture")
		return
	}
	for i, arg := range d.Args {
		switch word := arg.Text; {
		case strings.HasPrefix(word, "sm_") || strings.HasPrefix(word, "compute_"):
			c.readArchitecture(arg)
		case first && i == 0:
			c.fault(&ruleTarget, arg, "%s is not an architecture, expected one first after .target",
				clip(word)).
				suggestName(arg, diag.Nearest(strings.ToLower(word), targetNames()))
			return
		case word == "texmode_unified" || word == "texmode_independent":
			if c.header.mode != "" && c.header.mode != word {
				c.fault(&ruleTargetOption, arg, "%s conflicts with %s", word, c.header.mode)
			}
			c.header.mode = word
			c.need(arg, word, 1, 5, 0)
		case word == "debug":
			c.header.debug = &d.Args[i]
			c.need(arg, word, 3, 0, 0)
		case word == "map_f64_to_f32":
			if c.header.hasTarget && c.header.supportsTarget(13) {
				c.fault(&ruleTargetOption, arg,
					"map_f64_to_f32 is allowed only on targets before sm_13, but %s has .f64",
					c.header.target)
			}
		default:
			c.fault(&ruleTarget, arg, "%s is neither an architecture nor an option of .target",
				clip(word)).
				suggestName(arg,
					diag.Nearest(word,
						[]string{"texmode_unified", "texmode_independent", "debug",
							"map_f64_to_f32"}))
		}
	}
}

func (c *checker) readArchitecture(arg ptx.Operand) {
	t, ok := isa.ParseTarget(arg.Text)
	if !ok {
		c.fault(&ruleTarget, arg, "unknown target %s", clip(arg.Text)).
			suggestName(arg, diag.Nearest(arg.Text, targetNames()))
		return
	}
	h := &c.header
	if h.hasTarget && h.target.Info().Number == t.Info().Number && t.Info().Suffix == 0 {
		return // the suffix of the earlier architecture applies
	}
	h.target, h.hasTarget, h.targetWord = t, true, arg
}

func targetNames() []string {
	names := make([]string, len(isa.Targets))
	for i, t := range isa.Targets {
		names[i] = t.Name
	}
	return names
}

func (c *checker) readAddressSize(d *ptx.Directive) {
	c.need(d.Name, ".address_size", 2, 3, 0)
	if len(d.Args) == 1 {
		v, ok := c.plainInteger(&d.Args[0])
		if ok && (v == 32 || v == 64) {
			c.header.address, c.header.addressAt = v, d.Args[0]
			if v == 32 {
				c.fault(&ruleAddressSize, d.Args[0], "32-bit addresses are no longer supported "+
					"by the assembler, expected 64").
					withFix(d.Args[0], "64", "write 64")
			}
			return
		}
		if c.tooLarge(&d.Args[0]) {
			return
		}
		c.fault(&ruleAddressSize, d.Args[0], ".address_size is %s, expected 32 or 64",
			clip(c.text(&d.Args[0])))
		return
	}
	c.fault(&ruleAddressSize, d, ".address_size takes one number, 32 or 64")
}

// finishHeader makes the checks that depend on whether the module has declarations: the target of
// an empty module need not exist in its version.
func (c *checker) finishHeader() {
	h := &c.header
	if h.isKnown() && len(c.src.Decls) > 0 {
		info := h.target.Info()
		arg := h.targetWord
		switch {
		case !c.beyondHeader():
		case h.version < info.Since:
			c.fault(&ruleTargetSince, arg, "%s requires PTX %s or later, but the module is for "+
				"PTX %s", clip(arg.Text), info.Since, h.version)
		case info.Until != 0 && h.version > info.Until:
			c.fault(&ruleTargetSince, arg,
				"%s is supported only up to PTX %s, but the module is for PTX %s", clip(arg.Text),
				info.Until, h.version)
		}
	}
	if h.debug != nil && !c.debug {
		c.fault(&ruleDebug, *h.debug, ".target has the option debug, but the module has no "+
			".section with debug information")
	}
}

// beyondHeader reports whether the module has anything besides the header.
func (c *checker) beyondHeader() bool {
	for _, n := range c.src.Decls {
		d, ok := n.(*ptx.Directive)
		if !ok || d.Name.Text != ".version" && d.Name.Text != ".target" &&
			d.Name.Text != ".address_size" {
			return true
		}
	}
	return false
}

// need reports a feature that the PTX version or target of the module does not support: it
// requires version major.minor and architecture sm_number. A number of 0 means that every target
// supports the feature.
func (c *checker) need(at ptx.Node, feature string, major, minor, number int) {
	h := &c.header
	if v := isa.MakeVersion(major, minor); h.hasVersion && h.version < v {
		c.fault(&ruleFeature, at, "%s requires PTX %s or later, but the module is for PTX %s",
			clip(feature), v, h.version)
		return
	}
	if h.hasTarget && h.target.Info().Number < number {
		c.fault(&ruleFeature, at, "%s requires sm_%d or later, but the module is for %s",
			clip(feature), number, h.target)
	}
}

// gate reports a feature that the PTX version or target of the module does not support, as need
// does. The feature exists where open is satisfied and gone is not.
func (c *checker) gate(at ptx.Node, feature string, open, gone isa.Gate) {
	h := &c.header
	if !h.isKnown() {
		return
	}
	if !open.Open(h.version, h.target) {
		c.fault(&ruleFeature, at, "%s requires %s, but the module is for PTX %s and %s",
			clip(feature), open, h.version, h.target)
	} else if len(gone.Clauses) > 0 && gone.Open(h.version, h.target) {
		c.fault(&ruleGone, at, "%s was removed in %s, but the module is for PTX %s and %s",
			clip(feature), gone, h.version, h.target)
	}
}
