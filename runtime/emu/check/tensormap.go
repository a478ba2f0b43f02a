// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/device"
	"github.com/ptxdsl/ptxdsl/runtime/emu/race"
)

// mapBytes is the memory size of a derived tensor. Elements past it are outside the tensor.
const mapBytes = 1 << 20

// boxBytes returns the size of a box. A comment "ptxdsl:bytes N" after the parameter gives it, or
// the bytes that the kernel expects on the mbarrier of its copies. If these copies are unknown, the
// largest number of expected bytes is divided among the tensor maps.
func (k *kernel) boxBytes(p *param) int {
	if n := p.noted().Bytes; n > 0 {
		return int(n)
	}
	if p.box > 0 {
		return int(p.box)
	}
	maps, announced := 0, 0
	for _, q := range k.leaves {
		if q.kind == paramMap {
			maps++
		}
	}
	k.instructions(func(in *ir.Instr) {
		switch in.Form.Form.Kind {
		case isa.KindMbarrierArriveExpectTx, isa.KindMbarrierExpectTx:
			if o := &in.Args[len(in.Args)-1]; o.Kind == ir.Int {
				announced = max(announced, int(o.Value))
			}
		}
	})
	return max(128, announced/max(1, maps))
}

// An expectation is an instruction that makes an mbarrier expect bytes, with the copies that it is
// for.
type expectation struct {
	mbarrier *ir.Reg
	bytes    *param // the number, if it is a parameter
	constant int64  // the number, if it is a constant
	copies   []mapCopy
}

// A mapCopy is a copy from a tensor to shared memory.
type mapCopy struct {
	from   *param
	stride int64 // distance between the stages of a ring to which it copies, or 0 if unknown
}

// findTransactions finds the numbers of bytes that a kernel passes to mbarriers as the number to
// expect. They must agree with the boxes that check derives. A copy belongs to the expectation at
// the same address register, or else to the last one before it.
func (k *kernel) findTransactions() {
	copies, writes := k.copies(), k.singleWrites()
	var all []*expectation
	k.instructions(func(in *ir.Instr) {
		if !expectsBytes(in) {
			return
		}
		o := &in.Args[len(in.Args)-1]
		e := &expectation{mbarrier: addressRegister(in)}
		e.constant, _ = writes.constant(o)
		if f, ok := copies[o.Reg]; ok {
			e.bytes = k.leaf(f)
		}
		all = append(all, e)
	})
	before := 0 // number of expectations before an instruction
	k.instructions(func(in *ir.Instr) {
		if expectsBytes(in) {
			before++
		}
		if in.Kind() != isa.KindCpAsyncBulkTensor || in.Space().Base() != isa.Shared ||
			len(in.Args) < 3 || len(all) == 0 {
			return
		}
		e := all[max(0, before-1)]
		for _, other := range all {
			if parts := in.Args[2].Args(); len(parts) > 0 && parts[0].Reg == other.mbarrier {
				e = other
			}
		}
		if f, ok := k.fieldAt(&in.Args[1]); ok {
			if p := k.leaf(f); p != nil && p.kind == paramMap {
				e.copies = append(e.copies,
					mapCopy{p, writes.largestFactor(addressRegister(in), maxSteps)})
			}
		}
	})
	for _, e := range all {
		e.chooseBoxes()
	}
}

// chooseBoxes chooses boxes for the tensor maps of an expectation. If its bytes are the sum of the
// distances between stages, a box fills its part of a stage; otherwise the boxes have equal sizes.
func (e *expectation) chooseBoxes() {
	sum := int64(0)
	for _, c := range e.copies {
		sum += c.stride
		if e.bytes != nil && e.bytes.kind == paramCount {
			e.bytes.boxes = append(e.bytes.boxes, c.from)
		}
	}
	for _, c := range e.copies {
		switch n := int64(len(e.copies)); {
		case c.from.box != 0 || e.constant == 0:
		case sum == e.constant:
			c.from.box = c.stride
		case e.constant%n == 0:
			c.from.box = e.constant / n
		}
	}
}

// singleWrites maps each register that one instruction writes to this instruction, and registers
// that several write to nil.
type singleWrites map[*ir.Reg]*ir.Instr

func (k *kernel) singleWrites() singleWrites {
	all := make(singleWrites)
	k.instructions(func(in *ir.Instr) {
		in.Registers(func(r *ir.Reg, a isa.Access) {
			if a == isa.Read {
				return
			}
			if other, several := all[r]; several && other != in {
				all[r] = nil
				return
			}
			all[r] = in
		})
	})
	return all
}

// constant returns the value of an operand that is a constant, or a register with one.
func (w singleWrites) constant(o *ir.Operand) (int64, bool) {
	if in := w[o.Reg]; o.Reg != nil && in != nil && in.Kind() == isa.KindMov && len(in.Args) > 1 {
		o = &in.Args[1]
	}
	return o.Value, o.Kind == ir.Int
}

// maxSteps limits the additions and multiplications that largestFactor follows.
const maxSteps = 8

// largestFactor returns the largest constant by which an index is multiplied in the sum in a
// register, or 0.
func (w singleWrites) largestFactor(r *ir.Reg, steps int) (n int64) {
	in := w[r]
	if r == nil || in == nil || steps == 0 || len(in.Args) < 2 {
		return 0
	}
	switch in.Kind() {
	case isa.KindShl:
		if by, ok := w.constant(&in.Args[2]); ok && by >= 0 && by < 24 {
			return 1 << by
		}
	case isa.KindMulLo, isa.KindMulWide, isa.KindMadLo, isa.KindMadWide:
		for i := 1; i <= 2; i++ {
			if by, ok := w.constant(&in.Args[i]); ok {
				n = max(n, by)
			}
		}
		if len(in.Args) > 3 {
			n = max(n, w.largestFactor(in.Args[3].Reg, steps-1))
		}
	case isa.KindMov, isa.KindCvt, isa.KindAdd, isa.KindSub, isa.KindCvtaTo, isa.KindCvta:
		for i := range in.Args[1:] {
			n = max(n, w.largestFactor(in.Args[1+i].Reg, steps-1))
		}
	}
	return n
}

// expectsBytes reports whether an instruction makes an mbarrier expect bytes.
func expectsBytes(in *ir.Instr) bool {
	return in.Kind() == isa.KindMbarrierArriveExpectTx || in.Kind() == isa.KindMbarrierExpectTx
}

// addressRegister returns the register of the first address of an instruction, or nil.
func addressRegister(in *ir.Instr) *ir.Reg {
	for i := range in.Args {
		if o := &in.Args[i]; o.Kind == ir.Address && len(o.Args()) > 0 {
			return o.Args()[0].Reg
		}
	}
	return nil
}

// leaf returns the parameter at a field, or nil.
func (k *kernel) leaf(f field) *param {
	for _, p := range k.leaves {
		if p.v == f.v && p.field.at == f.at {
			return p
		}
	}
	return nil
}

// expectedBytes returns the size of all boxes of p.
func (k *kernel) expectedBytes(p *param) (n uint64) {
	for _, q := range p.boxes {
		bytes := uint64(max(1, q.noted().Element))
		for _, x := range k.box(q) {
			bytes *= uint64(x)
		}
		n += bytes
	}
	return n
}

// noted returns what comments state of the box of a tensor map. The zero value means nothing.
func (p *param) noted() ir.Box {
	if p.kind != paramMap || p.v.Box == nil || p.field.v != nil {
		return ir.Box{}
	}
	return *p.v.Box
}

// mapCopies returns the copies with a tensor map, or all copies with tensor maps if none of them
// certainly uses it.
func (k *kernel) mapCopies(p *param) (list []*ir.Instr) {
	var all []*ir.Instr
	k.instructions(func(in *ir.Instr) {
		switch in.Kind() {
		case isa.KindCpAsyncBulkTensor, isa.KindCpReduceAsyncBulkTensor:
		default:
			return
		}
		all = append(all, in)
		for i := range in.Args {
			if f, ok := k.fieldAt(&in.Args[i]); ok && k.leaf(f) == p {
				list = append(list, in)
			}
		}
	})
	if len(list) == 0 {
		return all
	}
	return list
}

// copyMode returns the number of dimensions of the copies with a tensor map, or 2 if there are
// none, and whether they are in im2col mode.
func (k *kernel) copyMode(p *param) (rank int, im2col bool) {
	rank = 2
	for _, in := range k.mapCopies(p) {
		for i := range in.Args {
			// a tensor map with coordinates
			if parts := in.Args[i].Args(); in.Args[i].Kind == ir.Address && len(parts) > 1 &&
				parts[1].Kind == ir.Vector {
				rank = len(parts[1].Args())
			}
		}
		switch {
		case in.HasMod(isa.ModIm2col, isa.ModIm2colNoOffs, isa.ModIm2colW, isa.ModIm2colNoOffsW):
			im2col = true
		case in.HasMod(isa.ModTileGather4, isa.ModTileScatter4):
			rank = 2 // the coordinates are those of four rows
		}
	}
	return rank, im2col
}

// box returns the sizes of the box of a tensor map, innermost dimension first: in elements if a
// comment states them, or else in bytes.
func (k *kernel) box(p *param) []uint32 {
	if b := p.noted(); b.Sizes != nil && b.Element > 0 {
		var box []uint32
		for _, n := range slices.Backward(b.Sizes) {
			box = append(box, uint32(n))
		}
		return box
	}
	n, inner := k.boxBytes(p), 128
	rank, _ := k.copyMode(p)
	if rank == 1 {
		inner = 256
	}
	for inner > 16 && n%inner != 0 {
		inner /= 2
	}
	box := make([]uint32, rank)
	for i := range box {
		box[i] = 1
	}
	box[0] = uint32(min(inner, n))
	rest := n / int(box[0])
	for i := 1; i < len(box) && rest > 1; i++ {
		x := min(rest, 256)
		for rest%x != 0 {
			x--
		}
		box[i] = uint32(x)
		rest /= x
	}
	return box
}

// mapText describes a tensor map, for messages.
func (k *kernel) mapText(p *param) string {
	unit := "bytes"
	if n := p.noted(); n.Sizes != nil && n.Element > 0 {
		unit = "elements of " + counted(int(n.Element), "byte")
	}
	text := fmt.Sprintf("a tensor map of boxes of %v %s", k.box(p), unit)
	if unit == "bytes" && k.element > 1 {
		text += fmt.Sprintf(" in elements of %d", k.element)
	}
	return text
}

// elements lists the types of the elements of tensor maps. If a comment does not state the size of
// an element, one byte is tried first, then two and four.
var elements = []struct {
	bytes int
	kind  device.TensorType
}{{2, device.U16}, {4, device.U32}, {8, device.U64}}

// chooseElement launches the kernel with larger elements if boxes that it stores overlap.
// Coordinates count elements, whose size is part of the tensor map and not of the PTX. It returns
// the first run without an overlap.
func (k *kernel) chooseElement(s seeding, x *run) *run {
	if !k.guessedBox || k.element != 0 || !overlap(x) || k.storesBytes() {
		return x
	}
	for _, e := range elements[:2] {
		k.element = e.bytes
		if y := k.recorded(s, x.count, x.filled); y.err == nil && !overlap(y) {
			return y
		}
	}
	k.element = 1
	return x
}

// storesBytes reports whether the kernel converts its results to elements of one byte only, so that
// boxes that overlap with such elements do overlap.
func (k *kernel) storesBytes() bool {
	narrow, wide := false, false
	k.instructions(func(in *ir.Instr) {
		op := in.Form.Operation()
		if op.Kind != isa.KindCvt && op.Kind != isa.KindCvtPack || len(op.Types) == 0 {
			return
		}
		switch op.Types[0] {
		case isa.F16, isa.Bf16, isa.F16x2, isa.Bf16x2:
			wide = true
		case isa.U8, isa.S8, isa.E4m3x2, isa.E5m2x2, isa.E4m3x4, isa.E5m2x4:
			narrow = true
		}
	})
	return narrow && !wide
}

// overlap reports whether two tensor copies of a run write the same bytes of global memory.
func overlap(x *run) bool {
	return slices.ContainsFunc(x.races, func(y *race.Race) bool {
		return y.Rule == race.RuleFlight && y.Space == isa.Global && boxed(y.First.Opcode) &&
			boxed(y.Second.Opcode)
	})
}

// boxed reports whether an instruction with this opcode copies a box of a tensor.
func boxed(op string) bool {
	kind := isa.KindOf(op)
	return kind == isa.KindCpAsyncBulkTensor || kind == isa.KindCpReduceAsyncBulkTensor
}

// tensorMap encodes a tensor map.
func (k *kernel) tensorMap(d device.Device, p *param, at device.Address) ([]byte, error) {
	box, bytes := k.box(p), uint64(1)
	m := &device.TensorMap{Type: device.U8, Address: at}
	noted := p.noted().Element
	if p.noted().Sizes == nil {
		noted = max(noted, int64(k.element))
	}
	for _, e := range elements {
		switch {
		case noted != int64(e.bytes):
		case p.noted().Sizes != nil:
			bytes, m.Type = uint64(e.bytes), e.kind
		case int(box[0])%e.bytes == 0:
			bytes, m.Type = uint64(e.bytes), e.kind
			box[0] /= uint32(e.bytes)
		}
	}
	rank, im2col := k.copyMode(p)
	stride := 1024 * bytes
	for i := range rank {
		size := uint64(1024)
		if i > 0 {
			size = max(1, mapBytes/stride)
			m.Strides = append(m.Strides, stride)
			if rank > 2 {
				size = min(size, 16)
			}
			stride *= size
		}
		m.Sizes = append(m.Sizes, size)
		m.Steps = append(m.Steps, 1)
	}
	if m.Im2col = im2col; im2col {
		m.Channels, m.Pixels = box[0], 1
		for _, n := range box[1:] {
			m.Pixels *= n
		}
		m.Lower, m.Upper = make([]int32, rank-2), make([]int32, rank-2)
	} else {
		m.Box = box
	}
	var b [128]byte
	err := d.Encode(&b, m)
	return b[:], err
}
