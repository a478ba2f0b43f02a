// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"fmt"
	"math/bits"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/device"
)

// A mapField is a field of a tensor map that tensormap.replace changes. set stores a value, for
// dimension i if the field has one value per dimension. It returns an error message if the value is
// invalid, or "".
type mapField struct {
	mod isa.Mod
	set func(b []byte, i int, x uint64) string
}

// mapFields lists the fields by the modifiers that name them.
var mapFields = []mapField{
	{isa.ModGlobalAddress, func(b []byte, _ int, x uint64) string {
		little.PutUint64(b, x)
		return multipleOf16("address", x)
	}},
	{isa.ModRank, func(b []byte, _ int, x uint64) string { // the rank minus one
		b[mapRank] = byte(x + 1)
		return below("rank less one", x, maxDims)
	}},
	{isa.ModBoxDim, func(b []byte, i int, x uint64) string {
		little.PutUint16(b[mapBox+2*i:], uint16(x))
		if x == 0 {
			return "box dimension 0"
		}
		return below("box dimension", x, 257)
	}},
	{isa.ModGlobalDim, func(b []byte, i int, x uint64) string {
		little.PutUint32(b[mapSizes+4*i:], uint32(x)-1)
		if uint32(x) == 0 {
			return "tensor dimension 0"
		}
		return ""
	}},
	{isa.ModElementStride, func(b []byte, i int, x uint64) string {
		b[mapSteps+i] = byte(x)
		if x == 0 {
			return "element stride 0"
		}
		return below("element stride", x, 9)
	}},
	{isa.ModGlobalStride, func(b []byte, i int, x uint64) string {
		if i >= maxDims-1 {
			return below("index of a stride", uint64(i), maxDims-1)
		}
		little.PutUint64(b[mapStrides+8*i:], x)
		if x >= 1<<40 {
			return fmt.Sprintf("stride is %d, expected less than 2^40", x)
		}
		return multipleOf16("stride", x)
	}},
	{isa.ModElemtype, func(b []byte, _ int, x uint64) string {
		if why := below("element type", x, uint64(len(elementTypes))); why != "" {
			return why
		}
		b[mapType] = byte(elementTypes[x])
		return ""
	}},
	{isa.ModInterleaveLayout, func(b []byte, _ int, x uint64) string {
		b[mapLeave] = byte(16 * x)
		return below("interleave layout", x, 3)
	}},
	{isa.ModSwizzleMode, func(b []byte, _ int, x uint64) string {
		if why := below("swizzle mode", x, 5); why != "" {
			return why
		}
		b[mapSwizzle] = []byte{0, 32, 64, 128, swizzle96}[x]
		return ""
	}},
	{isa.ModSwizzleAtomicity, func(b []byte, _ int, x uint64) string {
		b[mapAtom] = byte(x)
		return below("swizzle atomicity", x, 4)
	}},
	{isa.ModFillMode, func(b []byte, _ int, x uint64) string {
		b[mapFlags] = b[mapFlags]&^flagNaN | byte(x)&flagNaN
		return below("fill mode", x, 2)
	}},
}

// elementTypes lists the element types by their numbers in tensormap.replace.
var elementTypes = []device.TensorType{
	device.U8, device.U16, device.U32, device.S32, device.U64, device.S64, device.F16, device.F32,
	device.F32FTZ, device.F64, device.BF16,
	device.TF32, device.TF32FTZ, device.Packed4x8, device.Packed4x16, device.Packed6x16,
}

func multipleOf16(what string, x uint64) string {
	if x%16 != 0 {
		return fmt.Sprintf("%s 0x%x is not a multiple of 16", what, x)
	}
	return ""
}

func below(what string, x, end uint64) string {
	if x >= end {
		return fmt.Sprintf("%s is %d, expected less than %d", what, x, end)
	}
	return ""
}

// allZero reports whether all bytes are zero.
func allZero(b []byte) bool {
	for _, x := range b {
		if x != 0 {
			return false
		}
	}
	return true
}

// replaceField decodes tensormap.replace.
func replaceField(d *decoder) (step, error) {
	op := d.operation()
	at, err := d.addressNamed("map")
	if err != nil {
		return nil, err
	}
	value, index := d.valueNamed("value"), d.valueNamed("index")
	var field *mapField
	for i := range mapFields {
		if op.Has(mapFields[i].mod) {
			field = &mapFields[i]
		}
	}
	if field == nil || value == nil {
		return nil, fmt.Errorf("the field of %s is not emulated", d.in.Op)
	}
	number := 0
	if index != nil {
		number = int(index.constant[0])
	}
	wide := op.Types[len(op.Types)-1].Bits() == 64
	q := demand{space: op.Space, size: tensorMapLen, align: tensorMapLen, write: true}
	return func(w *warp, mask uint32) action {
		if !w.locate(&at, mask, &q) {
			return failed
		}
		w.block.changes++
		v := w.value(value, &w.scratch[0])
		for m := mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			b := w.where.regionOf(l).data[w.where.at[l]:][:tensorMapLen]
			if b[mapMagic] != magic {
				if !allZero(b) {
					return w.fault(l, nil, "%s this address", CauseNoTensorMap)
				}
				b[mapMagic] = magic // programs also create maps by replacing every field of zeros
			}
			x := v[l]
			if !wide {
				x &= 0xffffffff
			}
			if why := field.set(b, number, x); why != "" {
				return w.fault(l, nil, "tensormap.replace: %s", why)
			}
		}
		return advance
	}, nil
}

// copyTensorMap decodes tensormap.cp_fenceproxy. The warp copies 128 bytes and makes them visible
// to the tensor map proxy.
func copyTensorMap(d *decoder) (step, error) {
	op := d.operation()
	to, err := d.addressNamed("to")
	if err != nil {
		return nil, err
	}
	from, err := d.addressNamed("from")
	if err != nil {
		return nil, err
	}
	return func(w *warp, _ uint32) action {
		if !w.together() {
			return parked
		}
		lane := bits.TrailingZeros32(w.cur.mask)
		if !w.locate(&from, w.cur.mask, // any lane may read the bytes that another one wrote
			&demand{space: op.From, size: tensorMapLen, align: tensorMapLen, read: true}) {
			return failed
		}
		source, off := w.where.regionOf(lane), w.where.at[lane]
		if !w.locate(&to, 1<<lane,
			&demand{space: op.Space, size: tensorMapLen, align: tensorMapLen, write: true}) {
			return failed
		}
		w.block.grid.order()
		w.block.changes++
		copyBytes(w.where.regionOf(lane), w.where.at[lane], source, off, tensorMapLen)
		w.tell(EventProxyFence, w.cur.mask, &op)
		return advance
	}, nil
}
