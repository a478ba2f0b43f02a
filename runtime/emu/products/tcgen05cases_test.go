// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package products

import "math/rand/v2"

// A tensorKind is a kind of tcgen05.mma with the types of its operands.
type tensorKind struct {
	kind, d        string
	types          [][2]string
	depth          int
	vectors, scale string
	vector         int
	target         string
}

// tensorKindList returns all kinds. Types of eight bits and fewer can be mixed.
func tensorKindList() []tensorKind {
	small := []string{"e4m3", "e5m2", "e2m3", "e3m2", "e2m1"}
	var mixed [][2]string
	for i, a := range small {
		for j := range 3 {
			mixed = append(mixed, [2]string{a, small[(i+2*j)%5]})
		}
	}
	bytes := [][2]string{{"s8", "s8"}, {"u8", "u8"}, {"s8", "u8"}, {"u8", "s8"}}
	four := [][2]string{{"e2m1", "e2m1"}}
	return []tensorKind{
		{kind: "f16", d: "f32", types: [][2]string{{"f16", "f16"}, {"bf16", "bf16"}}, depth: 16},
		{kind: "f16", d: "f16", types: [][2]string{{"f16", "f16"}}, depth: 16},
		{kind: "tf32", d: "f32", types: [][2]string{{"tf32", "tf32"}}, depth: 8},
		{kind: "f8f6f4", d: "f32", types: mixed, depth: 32},
		{kind: "f8f6f4", d: "f16", types: mixed, depth: 32},
		{kind: "i8", d: "s32", types: bytes, depth: 32},
		{kind: "ti16", d: "s32", types: [][2]string{{"s1z4m11", "s1z4m11"}}, depth: 16,
			target: "sm_107a"},
		{kind: "mxf8f6f4", d: "f32", types: mixed, depth: 32, vector: 32, scale: "ue8m0"},
		{kind: "mxf8f6f4", d: "f32", types: mixed, depth: 32, vector: 32, scale: "ue8m0",
			vectors: ".block32"},
		{kind: "mxf8f6f4", d: "f32", types: mixed, depth: 32, vector: 32, scale: "ue8m0",
			vectors: ".scale_vec::1X"},
		{kind: "mxf4", d: "f32", types: four, depth: 64, vector: 32, scale: "ue8m0"},
		{kind: "mxf4", d: "f32", types: four, depth: 64, vector: 32, scale: "ue8m0",
			vectors: ".scale_vec::2X"},
		{kind: "mxf4", d: "f32", types: four, depth: 64, vector: 32, scale: "ue8m0",
			vectors: ".block32"},
		{kind: "mxf4nvf4", d: "f32", types: four, depth: 64, vector: 32, scale: "ue8m0",
			vectors: ".scale_vec::2X"},
		{kind: "mxf4nvf4", d: "f32", types: four, depth: 64, vector: 32, scale: "ue8m0",
			vectors: ".block32"},
		{kind: "mxf4nvf4", d: "f32", types: four, depth: 64, vector: 16, scale: "ue8m0",
			vectors: ".block16"},
		{kind: "mxf4nvf4", d: "f32", types: four, depth: 64, vector: 16, scale: "ue4m3",
			vectors: ".scale_vec::4X"},
		{kind: "mxf4nvf4", d: "f32", types: four, depth: 64, vector: 16, scale: "ue4m3",
			vectors: ".block16"},
		{kind: "mxf4nvf4", d: "f32", types: four, depth: 96, vector: 16, scale: "ue4m3",
			vectors: ".block16", target: "sm_103a"},
		{kind: "mxf4", d: "f32", types: four, depth: 96, vector: 32, scale: "ue8m0",
			vectors: ".block32", target: "sm_103a"},
	}
}

// tensorNumbers maps type names to types.
var tensorNumbers = map[string]number{
	"f16": f16, "bf16": bf16, "tf32": tf32, "e4m3": e4m3, "e5m2": e5m2, "e2m3": e2m3, "e3m2": e3m2,
	"e2m1": e2m1, "s8": s8, "u8": u8,
	"s1z4m11": ti16,
}

// tensorShape describes how a matrix product is split over blocks.
type tensorShape struct {
	m        int
	pair, ws bool
}

// tensorCases returns products of every kind in every organization, with the other properties
// chosen at random.
func tensorCases(r *rand.Rand) (all []tensorCase) {
	shapes := []tensorShape{{64, false, false}, {128, false, false}, {128, true, false},
		{256, true, false}, {32, false, true}, {64, false, true}, {128, false, true}}
	for _, kind := range tensorKindList() {
		for _, s := range shapes {
			for variant := range 4 {
				c, ok := kind.draw(r, s, variant)
				if ok {
					all = append(all, c)
				}
			}
		}
	}
	return all
}

// draw returns a random product. The result ok is false if the kind does not support the shape.
func (t *tensorKind) draw(r *rand.Rand, s tensorShape, variant int) (c tensorCase, ok bool) {
	flip := func() bool { return r.IntN(2) == 0 }
	c = tensorCase{
		kind: t.kind, d: t.d, m: s.m, k: t.depth, pair: s.pair, ws: s.ws, vectors: t.vectors,
		scale: t.scale, vector: t.vector,
		accumulates: flip(), exactly: variant%2 == 0, inTensor: r.IntN(3) == 0, target: t.target,
	}
	if c.target == "" {
		c.target = "sm_100a"
	}
	types := t.types[r.IntN(len(t.types))]
	c.a, c.b = types[0], types[1]
	c.a2, c.b2 = tensorNumbers[c.a], tensorNumbers[c.b]
	c.sparse = variant > 1
	if c.vector > 0 && (s.m < 128 || s.ws || c.sparse && s.m == 128 && s.pair) ||
		c.k == 96 && c.sparse {
		return c, false
	}
	if c.sparse {
		c.k *= 2
		c.vector *= 2
		if c.a2.bits > 8 {
			c.selector = r.IntN(2)
		}
	}
	t.columns(&c, r)
	t.memory(&c, r)
	if c.kind != "i8" {
		c.negateA, c.negateB = flip(), flip()
	} else {
		c.saturates = flip()
	}
	if c.kind == "f16" || c.kind == "tf32" {
		if c.divide = max(0, r.IntN(8)-3); s.ws {
			c.divide = 0
		}
	}
	if c.vector == 0 && !s.ws && flip() {
		c.masked = true
		for i := range 4 * c.blocks() {
			c.off[i] = r.Uint32() & r.Uint32()
		}
	}
	if half := s.m == 64 && !s.ws || s.m == 128 && s.pair && c.sparse; half && flip() {
		c.base = 16
	}
	if c.vector > 0 {
		each := c.k / c.vector
		if c.k == 96 {
			each = 1 + bit(c.vector == 16)
		}
		c.idA, c.idB = r.IntN(4/each)*each, r.IntN(4/each)*each
	}
	if !s.ws {
		c.collector = []string{"", ".collector::a::fill", ".collector::a::discard"}[r.IntN(3)]
	} else {
		c.collector = []string{"", ".collector::b0::fill", ".collector::b3::discard"}[r.IntN(3)]
	}
	return c, true
}

// columns chooses N.
func (t *tensorKind) columns(c *tensorCase, r *rand.Rand) {
	step := 8
	switch {
	case c.ws:
		sizes := []int{64, 128, 256}
		c.n = sizes[r.IntN(3-bit(c.sparse))]
		return
	case (c.kind == "i8" || c.kind == "ti16") && c.pair:
		step = 32
	case c.kind == "i8", c.pair, c.m == 128 && c.vector == 0:
		step = 16
	}
	c.n = step * (1 + r.IntN(256/step))
}

// memory chooses the memory layout of the operands.
func (t *tensorKind) memory(c *tensorCase, r *rand.Rand) {
	swizzles := []int{0, 32, 64, 128}
	c.swizzleA, c.swizzleB = swizzles[r.IntN(4)], swizzles[r.IntN(4)]
	wide := func(n number, depth int) int { return depth * 16 / packing(n, c.padded()) }
	kept := c.k
	if c.sparse {
		kept /= 2
	}
	for c.swizzleA > 0 && c.swizzleA < wide(c.a2, kept) {
		c.swizzleA *= 2
	}
	for c.swizzleB > 0 && c.swizzleB < wide(c.b2, c.k) {
		c.swizzleB *= 2
	}
	// Contiguous along M or N, in whole units.
	if c.packed() || c.kind == "ti16" {
		return
	}
	rows, columns := c.m/c.blocks(), c.n/c.blocks()
	c.acrossA = c.a2.bits >= 8 && !c.inTensor && r.IntN(2) == 0
	c.acrossB = c.b2.bits >= 8 && r.IntN(2) == 0 && columns*c.b2.bits%128 == 0
	if c.a == "tf32" {
		if c.acrossA {
			c.swizzleA = 128
		}
		if c.acrossB {
			c.swizzleB = 128
		}
	}
	if c.acrossA && c.swizzleA > 0 && rows*c.a2.bits/8%c.swizzleA != 0 {
		c.acrossA = false
	}
	if c.acrossB && c.swizzleB > 0 && columns*c.b2.bits/8%c.swizzleB != 0 {
		c.acrossB = false
	}
}
