// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import (
	"math"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/ptx"
	"github.com/ptxdsl/ptxdsl/ptx/constant"
)

// A location is the file, line and column of a .loc directive.
type location [3]uint32

// sourceFile checks a directive of the form .file index "name", time, size.
func (c *checker) sourceFile(d *ptx.Directive) {
	if len(d.Args) < 2 || len(d.Args) > 4 {
		c.fault(&ruleFile, d, ".file takes an index and a quoted file name, optionally followed "+
			"by time and size")
		return
	}
	var index uint32
	for i := range d.Args {
		if i == 1 {
			if d.Args[i].Kind != ptx.String {
				c.fault(&ruleFile, d.Args[i], "%s is not a quoted file name",
					clip(c.text(&d.Args[i])))
			}
			continue
		}
		v, ok := c.plainInteger(&d.Args[i])
		if c.tooLarge(&d.Args[i]) {
			return
		}
		if !ok {
			c.fault(&ruleFile, d.Args[i], "%s is not an integer", clip(c.text(&d.Args[i])))
			return
		}
		if i > 0 {
			continue
		}
		if index, ok = word32(v); !ok {
			c.fault(&ruleFile, d.Args[i], "index %s does not fit into 32 bits",
				clip(c.text(&d.Args[i])))
			return
		}
	}
	if old, ok := c.files[index]; ok {
		c.fault(&ruleFileTwice, d.Args[0], "file index %d is declared twice", index).
			withRelated(old, "first declared here")
		return
	}
	c.files[index] = d.Span
}

// locationNumbers checks the three numbers of a .loc directive and returns them.
func (c *checker) locationNumbers(d *ptx.Directive) (at location, ok bool) {
	n := 0
	for i := range d.Args {
		if d.Args[i].Kind == ptx.Tuple {
			continue
		}
		v, good := c.plainInteger(&d.Args[i])
		if c.tooLarge(&d.Args[i]) {
			return at, false
		}
		if !good {
			c.fault(&ruleLocation, d.Args[i],
				"%s is not an integer; %s takes file, line and column", clip(c.text(&d.Args[i])),
				d.Name.Text)
			return at, false
		}
		short, fits := word32(v)
		if !fits {
			c.fault(&ruleLocation, d.Args[i], "%s does not fit into 32 bits",
				clip(c.text(&d.Args[i])))
			return at, false
		}
		if n < 3 {
			at[n] = short
		}
		n++
	}
	if n != 3 {
		c.fault(&ruleLocation, d, "%s takes three numbers (file, line and column), but %d are "+
			"given", d.Name.Text, n)
		return at, false
	}
	return at, true
}

// location checks a .loc directive and its inlined_at attribute.
func (c *checker) location(d *ptx.Directive) {
	at, ok := c.locationNumbers(d)
	if !ok {
		return
	}
	if c.locs == nil {
		c.locs = make(map[location]bool)
	}
	for i := range d.Args {
		t := &d.Args[i]
		if t.Kind == ptx.Tuple && t.Text == "function_name" && len(t.Args) > 0 {
			name := t.Args[0]
			for name.Kind == ptx.Binary {
				name = name.Args[0]
			}
			c.inlined = append(c.inlined, name)
		}
		if t.Kind != ptx.Tuple || t.Text != "inlined_at" {
			continue
		}
		var from location
		good, reported := len(t.Args) == 3, false
		for j := range t.Args {
			reported = reported || c.tooLarge(&t.Args[j])
			v, isInteger := c.plainInteger(&t.Args[j])
			short, fits := word32(v)
			if good = good && isInteger && fits; good {
				from[j] = short
			}
		}
		if reported {
			continue
		}
		if !good {
			c.fault(&ruleLocation, t, "inlined_at takes three 32-bit numbers: file, line and "+
				"column")
		} else if !c.locs[from] {
			c.fault(&ruleInlined, t,
				"inlined_at names location %d %d %d, but no preceding .loc of this function has it",
				from[0], from[1], from[2])
		}
	}
	c.locs[at] = true
}

// finishDebug checks that the names of inlined functions are labels in debug sections.
func (c *checker) finishDebug() {
	for i := range c.inlined {
		if o := &c.inlined[i]; !c.marks[o.Text] {
			c.fault(&ruleFunctionName, o, "%s is not a label of a .section of this module, "+
				"expected one after function_name", clip(o.Text))
		}
	}
}

// sources checks a section that contains source text in an intermediate language.
func (c *checker) sources(n *ptx.Sources) {
	c.need(n.Name, n.Name.Text, 9, 4, 0)
	for _, b := range n.Blocks {
		s, ok := b.(*ptx.Source)
		if !ok {
			continue
		}
		if c.tooLarge(&s.File) {
			continue
		}
		v, _ := c.plainInteger(&s.File)
		index, fits := word32(v)
		if _, given := c.files[index]; !fits || !given {
			c.fault(&ruleFile, s.File, "file index %s has no preceding .file directive",
				clip(s.File.Text))
		}
	}
}

// section checks a DWARF section and its data.
func (c *checker) section(n *ptx.Section) {
	c.need(n, ".section", 2, 0, 0)
	c.debug = true
	if _, ok := isa.ParseType(n.Name.Text); ok {
		c.fault(&ruleSectionData, n.Name, "%s is a type, expected the name of a section",
			n.Name.Text)
	}
	labels := make(map[string]*ptx.Label)
	for _, line := range n.Lines {
		switch line := line.(type) {
		case *ptx.Label:
			c.need(line, "a label in a section", 7, 0, 0)
			if old := labels[line.Name.Text]; old != nil {
				c.fault(&ruleTwice, line.Name, "label %s is declared twice in this section",
					clip(line.Name.Text)).
					withRelated(old.Name, "the first declaration is here")
				continue
			}
			labels[line.Name.Text] = line
			c.marks[line.Name.Text] = true
		case *ptx.Data:
			c.sectionData(line)
		}
	}
}

// sectionData checks a line of data, such as .b8 1, 2 or .b32 label.
func (c *checker) sectionData(line *ptx.Data) {
	width := uint(0)
	switch line.Type.Text {
	case ".b8":
		width = 8
	case ".b16":
		width = 16
	case ".b32":
		width = 32
	case ".b64":
		width = 64
	default:
		c.fault(&ruleSectionData, line.Type, "%s is not a debug data type, expected .b8, .b16, "+
			".b32 or .b64", clip(line.Type.Text))
		return
	}
	for i := range line.Args {
		o := &line.Args[i]
		switch {
		case o.Kind == ptx.Unary:
			c.need(o, "a negative number in a section", 7, 5, 0)
		case o.Kind == ptx.Binary && o.Text == "-":
			c.need(o, "a difference of labels in a section", 7, 5, 0)
		}
		if !constant.Is(o) {
			if len(line.Args) > 1 {
				c.fault(&ruleSectionData, o,
					"%s is an address and must be the only value on its line",
					clip(c.text(o)))
				return
			}
			if o.Kind == ptx.Binary && len(o.Args) == 2 && c.tooLarge(&o.Args[1]) {
				continue
			}
			if width < 32 && o.Kind != ptx.Binary {
				c.fault(&ruleSectionData, o, "%s is an address, which does not fit into %s; "+
					"expected .b32 or .b64", clip(c.text(o)), line.Type.Text)
			}
			continue
		}
		if v := c.evaluate(o); v.OK() && !(v.Integer() && fitsDatum(o, v.Bits, width)) {
			c.fault(&ruleSectionData, o, "%s does not fit into %s", clip(c.text(o)), line.Type.Text)
		}
	}
}

// fitsDatum reports whether a number fits into debug data of width bits. ptxas keeps the low 32
// bits of an unsigned number, but all bits of a number with a sign, which is then negative.
func fitsDatum(o *ptx.Operand, bits uint64, width uint) bool {
	if o.Kind != ptx.Unary {
		return width >= 32 || bits&math.MaxUint32 < 1<<width
	}
	size := -bits
	if width == 64 {
		return size <= math.MaxInt64
	}
	return size > 0 && size <= 1<<(width-1)
}
