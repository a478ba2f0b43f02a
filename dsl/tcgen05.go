// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A tensorKind is a .kind of tcgen05.mma, with the codes of the element types of A and B in the
// instruction descriptor (PTX 9.1, 9.7.16.4.2).
type tensorKind struct {
	name  string
	a     uint32
	b     uint32
	depth int // elements along K per instruction
}

// kinds8 holds the codes of the small floating-point types in the instruction descriptor.
var kinds8 = map[isa.Type]uint32{isa.E4m3: 0, isa.E5m2: 1, isa.E2m3: 3, isa.E3m2: 4, isa.E2m1: 5}

// denseKind returns the kind of MMA for element types a and b without scale factors. ok is false
// if tcgen05.mma does not support the types.
func denseKind(a, b isa.Type) (tensorKind, bool) {
	x, ok1 := kinds8[a]
	y, ok2 := kinds8[b]
	switch {
	case a == isa.F16 && b == isa.F16:
		return tensorKind{"f16", 0, 0, 16}, true
	case a == isa.Bf16 && b == isa.Bf16:
		return tensorKind{"f16", 1, 1, 16}, true
	case a == isa.Tf32 && b == isa.Tf32:
		return tensorKind{"tf32", 2, 2, 8}, true
	case ok1 && ok2:
		return tensorKind{"f8f6f4", x, y, 32}, true
	case (a == isa.U8 || a == isa.S8) && (b == isa.U8 || b == isa.S8):
		return tensorKind{"i8", sign(a), sign(b), 32}, true
	}
	return tensorKind{}, false
}

func sign(t isa.Type) uint32 {
	if t == isa.S8 {
		return 1
	}
	return 0
}

// tensorDescriptor returns the shared-memory descriptor of a tile for tcgen05 (PTX 9.1,
// 9.7.16.4.1). It differs from a wgmma descriptor in one constant field and in the codes of
// swizzles.
func (k *Kernel) tensorDescriptor(t SharedTile) Reg[U64] {
	var mode uint64
	switch t.Swizzle {
	case Swizzle128:
		mode = 2
	case Swizzle64:
		mode = 4
	case Swizzle32:
		mode = 6
	default:
		k.fault(&ruleShape,
			"%s is used as an operand of tcgen05.mma, expected a swizzle of 32, 64 or 128 bytes",
			t.Tile)
	}
	return k.descriptor(t.at, mode<<61|1<<46|t.strides())
}

// Descriptor returns the shared-memory descriptor of the tile, for instructions written with Ins:
// for wgmma on sm_90a, and for tcgen05 on other targets. To advance along a row, add
// DescriptorOffset of the column divided by 16.
func (t SharedTile) Descriptor() Reg[U64] {
	k := t.at.k
	switch {
	case k == nil:
		return Reg[U64]{}
	case k.m.Is("sm_90a"):
		return k.wgmmaDescriptor(t)
	}
	return k.tensorDescriptor(t)
}

// MMA adds the product of x and the transpose of y. The rows of x are the rows of the accumulator,
// the rows of y its columns. In a CTA pair each block holds half of the rows of both; see
// [Kernel.CTAPair]. Tiles of 8 and 16 bits may be Transposed. If scale factors or indices are
// attached to the tensor maps of the tiles (see [TensorMap.Scaled]), it multiplies with them.
func (a *AccumulatorStage) MMA(x, y SharedTile) {
	p := tensorProduct{x: x, y: y, sparsity: x.attachedIndices()}
	scale, scalesX, scaled := x.attachedScales()
	if !scaled {
		a.issueDense(p)
		return
	}
	_, scalesY, _ := y.attachedScales()
	p.scales = &scales{BlockScale: scale, x: scalesX, y: scalesY}
	a.issueScaled(p)
}

// SparseMMA adds a product as MMA does, for a sparse A operand x, which stores two of each four
// adjacent elements in a row (of TF32 one of two). sparsity is a tile of a SparsityMap. The tiles
// of y have twice as many columns as x.
func (a *AccumulatorStage) SparseMMA(x, sparsity, y SharedTile) {
	a.issueDense(tensorProduct{x: x, sparsity: &sparsity, y: y})
}

// MMAFromTMEM adds a product as MMA does, with an A operand in tensor memory.
func (a *AccumulatorStage) MMAFromTMEM(x *TMEMOperandStage, y SharedTile) {
	if a.checkTMEMOperand("MMAFromTMEM", x, y) {
		a.issueDense(tensorProduct{x: SharedTile{Tile: x.t.tile, at: y.at}, left: x, y: y})
	}
}

// ScaledMMAFromTMEM adds a product as ScaledMMA does, with an A operand of .e4m3 or .e5m2 in
// tensor memory.
func (a *AccumulatorStage) ScaledMMAFromTMEM(b BlockScale, x *TMEMOperandStage,
	y, scaleX, scaleY SharedTile) {
	if a.checkTMEMOperand("ScaledMMAFromTMEM", x, y) {
		a.issueScaled(tensorProduct{x: SharedTile{Tile: x.t.tile, at: y.at}, left: x, y: y,
			scales: &scales{BlockScale: b, x: scaleX, y: scaleY}})
	}
}

// checkTMEMOperand reports whether an operand in tensor memory can be multiplied, and records the
// reason if not. what is the name of the call.
func (a *AccumulatorStage) checkTMEMOperand(what string, x *TMEMOperandStage, y SharedTile) bool {
	k := a.kernel()
	if k != nil {
		a.multiplied = true
	}
	switch {
	case !checkCreated(k, what+" of sums", x.kernel(), y.at.k):
	case x.kernel() == nil:
		k.fault(&ruleValue, "operand of %s is a zero value, not created by a builder call", what)
	case x.fills:
		k.fault(&ruleProtocol,
			"%s reads TMEMOperand %s while it is written; read the one that its Drain provides",
			what, x.t.name)
	default:
		return true
	}
	return false
}

// issueDense checks and issues an MMA without scale factors.
func (a *AccumulatorStage) issueDense(p tensorProduct) {
	k := a.kernel()
	if !checkCreated(k, "accumulator in MMA", p.x.at.k, p.y.at.k) {
		return
	}
	a.multiplied = true
	defer p.readStages()
	kind, ok := denseKind(p.x.Type, p.y.Type)
	switch {
	case !ok:
		k.fault(&ruleShape,
			"operands of MMA, %s and %s, have types for which tcgen05.mma has no kind", p.x.Tile,
			p.y.Tile)
		return
	case kind.name == "f8f6f4" && (p.x.elementBits() != 8 || p.y.elementBits() != 8):
		k.fault(&ruleShape,
			"operands of MMA, %s and %s, are packed, but tcgen05.mma needs padded 4-bit elements (Box.Padded)",
			p.x.Tile, p.y.Tile)
		return
	}
	p.kind = kind
	if !a.checkFits(p) {
		return
	}
	sums := uint32(1)
	switch half := kind.name == "f8f6f4" || p.x.Type == isa.F16; {
	case kind.name == "i8" && !a.t.half:
		sums = 2
	case a.t.half && !half:
		k.fault(&ruleShape,
			"operands of MMA, %s and %s, do not fit an accumulator of .f16 (F16Accumulators), expected operands of .f16, or of 8, 6 or 4 bits",
			p.x.Tile, p.y.Tile)
		return
	case a.t.half:
		sums = 0
	}
	id := p.operandBits() | sums<<4 | uint32(a.t.cols>>3)<<17 | uint32(a.t.rows>>4)<<24
	p.op, p.id = "", func(step int) uint32 { return id | uint32(p.selector(step)) }
	a.issue(p)
}

// A tensorProduct holds the operands of an MMA of two tiles into an accumulator in tensor memory,
// which is issued one step along K at a time.
type tensorProduct struct {
	kind tensorKind
	x, y SharedTile
	// left is set if x is in tensor memory; x then only specifies the shape
	left     *TMEMOperandStage
	sparsity *SharedTile // sparsity metadata of a sparse x, or nil
	scales   *scales     // scale factors of block-scaled types, or nil
	op       string      // modifier of the opcode for the scale factors, or ""
	id       func(step int) uint32
}

// ratio returns the number of elements of y along K for each stored element of x: 2 for a sparse x,
// else 1.
func (p *tensorProduct) ratio() int {
	if p.sparsity != nil {
		return 2
	}
	return 1
}

// operandBits returns the fields of the instruction descriptor that describe the operands.
func (p *tensorProduct) operandBits() uint32 {
	id := p.kind.a<<7 | p.kind.b<<10
	if p.sparsity != nil {
		id |= 1 << 2
	}
	if p.x.isTransposed {
		id |= 1 << 15
	}
	if p.y.isTransposed {
		id |= 1 << 16
	}
	return id
}

// selector returns 0 or 1: which column of a pair holds the metadata of a step. The instruction
// specifies an even column, and elements of 16 and 32 bits need one column per step.
func (p *tensorProduct) selector(step int) int {
	if p.sparsity != nil && p.x.elementBits() > 8 {
		return step % 2
	}
	return 0
}

// issue issues the MMAs from one thread. The same thread copies scale factors and metadata to
// tensor memory before them, because the hardware executes operations of one thread in order.
func (a *AccumulatorStage) issue(p tensorProduct) {
	k, t := a.t.k, a.t
	k.annotateWarpOperation("MMA")
	base := Reg[U32]{k: k, r: k.tmem.base}
	var left func(step int) ir.Operand
	op, sparse := "tcgen05.mma.", p.sparsity != nil
	if p.left != nil {
		at := p.left.address()
		// 32 bytes of a row are eight columns.
		left = func(step int) ir.Operand { return tensorAddress(k, at.AddI(int64(8*step))) }
	} else {
		at := k.stepDescriptors(p.x, p.kind.depth)
		left = func(step int) ir.Operand { return k.arg(at(step)) }
	}
	right := k.stepDescriptors(p.y, p.kind.depth*p.ratio())
	if sparse {
		op += "sp."
	}
	op += k.tmem.ctaGroup() + ".kind::" + p.kind.name + p.op
	to, zeros := a.address(), base.AddI(int64(t.sparsity))
	a.orderAfterWrites(&p)
	_, depth := p.x.operandShape()
	steps := depth / p.kind.depth
	ids := make([]Reg[U32], steps)
	for step := range ids {
		ids[step] = k.constant(p.id(step))
	}
	k.When(k.Leader(), func() {
		if sparse {
			k.copyMetadata(*p.sparsity, zeros)
		}
		if p.scales != nil {
			p.scales.copy(t)
		}
		for step := range steps {
			args := []ir.Operand{tensorAddress(k, to), left(step), k.arg(right(step))}
			if sparse {
				args = append(args, tensorAddress(k, zeros.AddI(int64(p.metadataColumn(step)))))
			}
			args = append(args, k.arg(ids[step]))
			if p.scales != nil {
				args = append(args, p.scales.at(t, step)...)
			}
			k.ins(op, append(args, k.arg(a.used))...)
			if step == 0 {
				a.markUsed()
			}
		}
	})
}

// stepDescriptors returns a function that returns the descriptor of a tile that starts at element
// step*depth along K. For a depth of 96, a step that begins in one slab and ends in the next has
// the address of the next slab in place of the leading offset (PTX 9.1, 9.7.16.5.4).
func (k *Kernel) stepDescriptors(t SharedTile, depth int) func(step int) Reg[U64] {
	d := k.tensorDescriptor(t)
	if depth != 96 {
		return func(step int) Reg[U64] { return d.AddI(int64(t.descriptorStep(step*depth) >> 4)) }
	}
	const bytes = 48
	start := To[U64](t.at.Value().ShrI(4).AndI(0x3fff))
	crossing := d.SubI(1 << 16).Or(k.U64(1 << 52)).Add(start.ShlI(16))
	return func(step int) Reg[U64] {
		slab, in := step*bytes/128, step*bytes%128
		at := slab*t.SlabBytes() + in
		if in+bytes <= 128 {
			return d.AddI(int64(at >> 4))
		}
		return crossing.AddI(int64((slab+1)*t.SlabBytes()>>4<<16 + at>>4))
	}
}

// readStages records that the tensor cores read the stages of the operands. It is also called if
// the MMA is rejected, to avoid further findings.
func (p *tensorProduct) readStages() {
	list := []SharedTile{p.x, p.y}
	if p.sparsity != nil {
		list = append(list, *p.sparsity)
	}
	if p.scales != nil {
		list = append(list, p.scales.x, p.scales.y)
	}
	for _, t := range list {
		t.stage.markRead(tcgen05)
	}
}

// orderAfterWrites emits the fence that orders the MMAs after the writes of their tiles, once per
// stage. Outside stages it is emitted for each MMA.
func (a *AccumulatorStage) orderAfterWrites(p *tensorProduct) {
	ordered := p.y.stage != nil && p.y.stage.by == tcgen05 &&
		(p.left != nil || p.x.stage != nil && p.x.stage.by == tcgen05)
	if !ordered {
		a.t.k.ins("tcgen05.fence::after_thread_sync")
	}
}

// constant returns a register that holds n. In a role the register is set once, at the head.
func (k *Kernel) constant(n uint32) Reg[U32] {
	if k.role == nil {
		return k.U32(int(n)).Var()
	}
	if k.role.constants == nil {
		k.role.constants = make(map[uint32]Reg[U32])
	}
	x, ok := k.role.constants[n]
	if !ok {
		k.atHead(func() {
			x = fresh[U32](k)
			k.ins("mov.b32", k.arg(x), number(int64(n)))
		})
		k.role.constants[n] = x
	}
	return x
}

// markUsed sets the predicate used, so that the next MMA adds to the accumulator. The instruction
// is emitted without the current guard, because it applies to all lanes of the warp.
func (a *AccumulatorStage) markUsed() {
	k := a.t.k
	guard := k.guard
	k.guard = ir.Guard{}
	k.ins("setp.eq.b32", k.arg(a.used), number(0), number(0))
	k.guard = guard
}

// checkFits reports whether an MMA can accumulate into a, and records the reason if not.
func (a *AccumulatorStage) checkFits(p tensorProduct) bool {
	k, t, x, y := a.t.k, a.t, p.x, p.y
	share := 1
	if t.pair {
		share = 2
	}
	rows, deep := x.operandShape()
	cols, deepY := y.operandShape()
	depth := p.kind.depth
	switch {
	case !a.fills:
		k.fault(&ruleProtocol,
			"MMA writes an accumulator that is being read; write the one that Fill provides")
	case x.at.k == nil || y.at.k == nil:
		k.fault(&ruleValue, "tile in MMA is a zero value, not created by a builder call")
	case x.stage == nil && y.stage == nil && p.left == nil:
		k.fault(&ruleProtocol,
			"MMA reads tiles that belong to no pipeline stage: nothing waits for the MMA before they are overwritten")
	case rows != t.rows/share || cols != t.cols/share:
		k.fault(&ruleShape,
			"operands of MMA, %s and %s, do not fit an accumulator of %dx%d, expected tiles of %d and %d rows",
			x, y, t.rows, t.cols, t.rows/share, t.cols/share)
	case p.sparsity != nil && (deep*2 != deepY || deep%depth != 0):
		k.fault(&ruleShape,
			"operands of SparseMMA, %s and %s, have the wrong widths: A must have half as many columns as B, and a multiple of %d",
			x, y, depth)
	case p.sparsity == nil && (deep != deepY || deep%depth != 0):
		k.fault(&ruleShape,
			"operands of MMA, %s and %s, have the wrong widths: their rows must have the same length, a multiple of %d elements",
			x, y, depth)
	case !x.canTranspose(p.kind) || !y.canTranspose(p.kind):
	case p.kind.name == "i8" && t.cols > 32 && t.cols%16 != 0 ||
		share == 2 && p.kind.name == "i8" && t.cols%32 != 0:
		k.fault(&ruleShape,
			"integer MMA writes %d columns, expected a multiple of 16 (of 32 in a CTA pair), if there are more than 32",
			t.cols)
	case y.isTransposed && y.Type.Bits() == 8 && t.cols%(16*share) != 0:
		k.fault(&ruleShape,
			"MMA of %s writes %d columns, expected a multiple of %d for transposed tiles of 8-bit elements",
			y, t.cols, 16*share)
	case p.sparsity != nil:
		return a.checkMetadata(x, *p.sparsity)
	default:
		return true
	}
	return false
}

// canTranspose reports whether tcgen05.mma of the given kind accepts a transposed tile (PTX 9.1,
// 9.7.16.10.1).
func (t SharedTile) canTranspose(kind tensorKind) bool {
	packed := kind.name == "mxf4" || kind.name == "mxf4nvf4"
	if t.isTransposed && (packed || t.Type.Bits() != 8 && t.Type.Bits() != 16) {
		t.at.k.fault(&ruleShape, "%s cannot be transposed, expected elements of 8 or 16 bits", t)
		return false
	}
	return true
}
