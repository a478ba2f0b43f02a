// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/device"
	"github.com/ptxdsl/ptxdsl/runtime/emu/race"
)

// mapBytes is the memory size of a derived tensor. Elements past it are outside the tensor.
const mapBytes = 1 << 20

// boxBytes returns the size of a box. A comment "ptxdsl:bytes N" after the parameter gives it.
// Otherwise, the bytes that the kernel expects on an mbarrier are divided among the tensor maps.
func (k *kernel) boxBytes(p *param) int {
	if n, ok := notedBytes(p); ok {
		return n
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

// An expectation is an instruction that makes an mbarrier expect bytes.
type expectation struct {
	mbarrier *ir.Reg
	bytes    *param // nil if the number is no parameter
}

// findTransactions finds the integers that a kernel passes to mbarriers as the number of bytes to
// expect. They must agree with the boxes that check derives. A copy belongs to the expectation at
// the same address register, or else to the last one before it.
func (k *kernel) findTransactions() {
	copies := k.copies()
	var all []expectation
	k.instructions(func(in *ir.Instr) {
		if !expectsBytes(in) {
			return
		}
		e := expectation{mbarrier: addressRegister(in)}
		if f, ok := copies[in.Args[len(in.Args)-1].Reg]; ok {
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
		e := &all[max(0, before-1)]
		for i := range all {
			if parts := in.Args[2].Args(); len(parts) > 0 && parts[0].Reg == all[i].mbarrier {
				e = &all[i]
			}
		}
		if f, ok := k.fieldAt(&in.Args[1]); ok && e.bytes != nil {
			if p := k.leaf(f); p != nil && p.kind == paramMap {
				e.bytes.boxes = append(e.bytes.boxes, p)
			}
		}
	})
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
		bytes := uint64(1)
		for _, x := range k.box(q) {
			bytes *= uint64(x)
		}
		n += bytes
	}
	return n
}

// notedBytes returns the number of bytes that a comment "ptxdsl:bytes N" states.
func notedBytes(p *param) (n int, ok bool) {
	if p.kind != paramMap || isStructure(p.v) && p.field.v != nil {
		return 0, false
	}
	for _, text := range append([]string{p.v.Note}, p.v.Doc...) {
		if _, rest, found := strings.Cut(text, "ptxdsl:bytes"); found {
			word, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
			if n, err := strconv.Atoi(word); err == nil && n > 0 {
				return n, true
			}
		}
	}
	return 0, false
}

// rank returns the number of dimensions of the kernel's tensor copies, from the last .Nd modifier
// found, or 2 if there are none.
func (k *kernel) rank() int {
	n := 2
	k.instructions(func(in *ir.Instr) {
		switch in.Form.Form.Kind {
		case isa.KindCpAsyncBulkTensor, isa.KindCpReduceAsyncBulkTensor:
			for i := 1; i <= 5; i++ {
				if strings.Contains(in.Op, fmt.Sprintf(".%dd.", i)) {
					n = i
				}
			}
		}
	})
	return n
}

// box returns a box for a tensor map whose size is the result of boxBytes.
func (k *kernel) box(p *param) []uint32 {
	n := k.boxBytes(p)
	inner := 128
	for inner > 16 && n%inner != 0 {
		inner /= 2
	}
	box := make([]uint32, k.rank())
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
	text := fmt.Sprintf("a tensor map of boxes of %v bytes", k.box(p))
	if k.element > 1 {
		text += fmt.Sprintf(" in elements of %d", k.element)
	}
	return text
}

// elements lists the sizes that are tried for the elements of tensor maps after one byte, in order.
var elements = []struct {
	bytes int
	kind  device.TensorType
}{{2, device.U16}, {4, device.U32}}

// chooseElement launches the kernel with larger elements if boxes that it stores overlap.
// Coordinates count elements, whose size is part of the tensor map and not of the PTX. It returns
// the first run without an overlap.
func (k *kernel) chooseElement(s seeding, x *run) *run {
	if !k.guessedBox || k.element != 0 || !overlap(x) || k.storesBytes() {
		return x
	}
	for _, e := range elements {
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
	box, bytes := k.box(p), 1
	m := &device.TensorMap{Type: device.U8, Address: at, Box: box}
	for _, e := range elements {
		if k.element == e.bytes && int(box[0])%e.bytes == 0 {
			bytes, m.Type = e.bytes, e.kind
			box[0] /= uint32(bytes)
		}
	}
	stride := uint64(1024 * bytes)
	for i := range box {
		size := uint64(1024)
		if i > 0 {
			size = max(1, mapBytes/stride)
			m.Strides = append(m.Strides, stride)
			if len(box) > 2 {
				size = min(size, 16)
			}
			stride *= size
		}
		m.Sizes = append(m.Sizes, size)
		m.Steps = append(m.Steps, 1)
	}
	var b [128]byte
	err := d.Encode(&b, m)
	return b[:], err
}
