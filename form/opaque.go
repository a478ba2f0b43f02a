// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import (
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// checkOpaquePlace checks that a texture, sampler or surface is declared where that is allowed.
func (c *checker) checkOpaquePlace(v *ptx.Var, s *shape, at level) bool {
	c.samplerMode(v, s)
	switch {
	case at != atModule:
		c.fault(&ruleOpaque, v, "%s must be declared at module scope or as a parameter of an "+
			".entry, not in a body", s.typ)
	case s.space != isa.Global:
		c.fault(&ruleOpaque, v.Space, "%s must be declared in .global, not in %s", s.typ, s.space).
			withFix(v.Space, ".global", "declare it in .global")
	default:
		return true
	}
	return false
}

// checkTextureMode checks fetches and queries. In texmode_independent every fetch has a texture
// and a sampler operand, and a query of a sampler attribute has the sampler as its operand.
// Otherwise a fetch has no sampler operand.
func (c *checker) checkTextureMode(in *ptx.Instr, op *opcode) {
	apart := c.header.isIndependent()
	for i := range c.args {
		a := &c.args[i]
		switch {
		case a.Kind != isa.ArgAddress || len(a.Elems) == 0:
		case op.head == "txq" && (op.sampler && apart || op.samplerOnly) &&
			a.Elems[0].Kind == isa.ArgSym &&
			a.Elems[0].Type.String() == ".texref":
			c.fault(&ruleTextureMode, &in.Args[i], "%s is a texture, expected a sampler",
				clip(c.text(&in.Args[i].Args[0])))
		case op.head == "txq":
		case apart &&
			(len(a.Elems) < 3 || a.Elems[1].Kind == isa.ArgSym &&
				a.Elems[1].Type.String() == ".texref"):
			c.fault(&ruleTextureMode, &in.Args[i], "%s has no sampler; with texmode_independent, "+
				"the sampler follows the texture", clip(c.text(&in.Args[i])))
		case !apart && len(a.Elems) == 3:
			b, level := &in.Args[i].Args[1], diag.Error
			if readsSamplerAsCoordinates(in.Op.Text, &a.Elems[2], c.args[i+1:]) {
				level = diag.Warning
			}
			c.add(ruleTextureMode.ID, level, b.Pos(), b.End(),
				"without texmode_independent in .target, "+clip(c.text(b))+
					" is read as the coordinates instead of a sampler, and the next operand as an "+
					"offset")
		}
	}
}

// readsSamplerAsCoordinates reports whether the assembler accepts a fetch with a sampler although
// textures include their samplers. ptxas then uses the sampler as the coordinates, and the
// coordinates as the next operand. It does not do so for layered or multisample textures.
func readsSamplerAsCoordinates(opcode string, coordinates *isa.Arg, rest []isa.Arg) bool {
	words := strings.Split(opcode, ".")
	size := map[string]int{"1d": 1, "2d": 2, "3d": 4, "cube": 4}
	at := slices.IndexFunc(words, func(w string) bool { return size[w] > 0 })
	if at < 0 {
		return false
	}
	geometry, vector := words[at], coordinates.Kind == isa.ArgVector
	offset := geometry != "cube" // an offset, or a depth to compare with, which 3d does not have
	depth := len(rest) > 0 && rest[len(rest)-1].Kind != isa.ArgVector &&
		rest[len(rest)-1].Kind != isa.ArgInt
	switch {
	case slices.Contains(words, "grad"):
		return vector && offset && len(coordinates.Elems) == size[geometry]
	case slices.Contains(words, "level"):
		return geometry != "3d" && (depth || len(rest) == 1)
	case depth:
		return !vector || offset
	case len(rest) > 0:
		return vector && offset
	}
	return vector && offset || !vector && geometry != "3d"
}

func (c *checker) samplerMode(v *ptx.Var, s *shape) {
	if s.typ.String() == ".samplerref" && !c.header.isIndependent() {
		c.fault(&ruleTextureMode, v.Type, ".samplerref requires texmode_independent in .target; "+
			"otherwise textures include their samplers")
	}
}

// opaqueFields returns the names of the fields that can initialize a variable of an opaque type.
func opaqueFields(typ string) []string {
	common := []string{"width", "height", "depth", "channel_data_type", "channel_order",
		"array_size",
		"num_mipmap_levels", "num_samples"}
	sampler := []string{"filter_mode", "addr_mode_0", "addr_mode_1", "addr_mode_2"}
	switch typ {
	case ".samplerref":
		return append(sampler, "force_unnormalized_coords")
	case ".surfref":
		return append(common, "memory_layout")
	}
	return append(append(common, "normalized_coords"), sampler...)
}

func opaqueWords() []string {
	return []string{"nearest", "linear", "wrap", "mirror", "clamp_ogl", "clamp_to_edge",
		"clamp_to_border"}
}

// opaqueValue checks an initial value of the form { field = value, ... }, or a list of such
// values for an array.
func (c *checker) opaqueValue(o *ptx.Operand, s *shape, dims []int64) {
	if o.Kind != ptx.Vector {
		c.fault(&ruleField, o, "initial value of %s must be a list of fields in braces", s.typ)
		return
	}
	if len(dims) > 0 {
		if dims[0] > 0 && int64(len(o.Args)) > dims[0] {
			c.fault(&ruleValueCount, o.Args[dims[0]],
				"the array takes %s, but the list has %d elements",
				plural(int(dims[0]), "value"), len(o.Args))
			return
		}
		for i := range o.Args {
			c.opaqueValue(&o.Args[i], s, dims[1:])
		}
		return
	}
	fields := opaqueFields(s.typ.String())
	for i := range o.Args {
		f := &o.Args[i]
		name, val, ok := fieldOf(f)
		if !ok {
			c.fault(&ruleField, f, "%s has no field name, expected name = value", clip(c.text(f)))
			continue
		}
		if !slices.Contains(fields, name.Text) {
			c.fault(&ruleField, name, "%s has no field %s", s.typ,
				clip(name.Text)).suggestName(name, diag.Nearest(name.Text, fields))
			continue
		}
		if val.Kind == ptx.Name && !slices.Contains(opaqueWords(), val.Text) &&
			val.Text != "WARP_SZ" {
			c.fault(&ruleField, val, "%s is not a valid value of %s", clip(val.Text), name.Text).
				suggestName(val, diag.Nearest(val.Text, opaqueWords()))
		}
	}
}

// fieldOf returns the two sides of name = value. ok is false for another expression.
func fieldOf(o *ptx.Operand) (name, val *ptx.Operand, ok bool) {
	if o.Kind == ptx.Binary && o.Text == "=" && len(o.Args) == 2 && o.Args[0].Kind == ptx.Name {
		return &o.Args[0], &o.Args[1], true
	}
	return nil, nil, false
}
