// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"
)

// A placer is an argument other than a number.
type placer interface {
	place(p *Param, values []byte, d *Device) error
}

// put writes an argument to its position in the parameter space, or returns why it does not fit.
//
// The argument is read through a pointer that the compiler cannot track, so that calling an
// interface method does not move arguments to the heap: place retains nothing.
func put(p *Param, values []byte, d *Device, arg *any) error {
	hidden := uintptr(unsafe.Pointer(arg))
	a := **(**any)(unsafe.Pointer(&hidden))
	at := values[p.Offset : p.Offset+p.Size]
	switch a := a.(type) {
	case nil:
		return argument("nil")
	case placer:
		return a.place(p, values, d)
	case int:
		return integer(p, at, int64(a), a >= 0, "int", 0)
	case int8:
		return integer(p, at, int64(a), a >= 0, "int8", 1)
	case int16:
		return integer(p, at, int64(a), a >= 0, "int16", 2)
	case int32:
		return integer(p, at, int64(a), a >= 0, "int32", 4)
	case int64:
		return integer(p, at, a, a >= 0, "int64", 8)
	case uint:
		return integer(p, at, int64(a), true, "uint", 0)
	case uint8:
		return integer(p, at, int64(a), true, "uint8", 1)
	case uint16:
		return integer(p, at, int64(a), true, "uint16", 2)
	case uint32:
		return integer(p, at, int64(a), true, "uint32", 4)
	case uint64:
		return integer(p, at, int64(a), true, "uint64", 8)
	case Address:
		if p.Size != 8 || p.Count > 0 || p.Type == "f64" {
			return mismatch(p, "an address")
		}
		binary.LittleEndian.PutUint64(at, uint64(a))
		return nil
	case float32:
		if p.Size != 4 || !one(p, "f32", "b32") {
			return mismatch(p, "float32")
		}
		binary.LittleEndian.PutUint32(at, math.Float32bits(a))
		return nil
	case float64:
		if p.Size != 8 || !one(p, "f64", "b64") {
			return mismatch(p, "float64")
		}
		binary.LittleEndian.PutUint64(at, math.Float64bits(a))
		return nil
	case F16:
		if p.Size != 2 || !one(p, "f16", "b16") {
			return mismatch(p, "F16")
		}
		binary.LittleEndian.PutUint16(at, uint16(a))
		return nil
	case BF16:
		if p.Size != 2 || !one(p, "bf16", "b16") {
			return mismatch(p, "BF16")
		}
		binary.LittleEndian.PutUint16(at, uint16(a))
		return nil
	case []byte:
		if p.Type != "" && p.Count == 0 || len(a) != p.Size {
			return mismatch(p, fmt.Sprintf("%d bytes", len(a)))
		}
		copy(at, a)
		return nil
	default:
		return argument("a %T, which is not a supported argument; arguments are buffers, tensor "+
			"maps, pinned memory, numbers and []byte", a)
	}
}

// mismatch returns the error of an argument of the wrong kind.
func mismatch(p *Param, got string) error {
	return argument("%s, but the parameter is %s", got, p)
}

// one reports whether a parameter is a single number of one of the given types. For a cubin only
// the size of a parameter is known.
func one(p *Param, types ...string) bool {
	if p.Type == "" {
		return true
	}
	for _, t := range types {
		if t == p.Type && p.Count == 0 {
			return true
		}
	}
	return false
}

// integer writes an integer. An int or uint can be passed wherever its value fits; the sized types
// must have the size of the parameter.
func integer(p *Param, at []byte, v int64, positive bool, word string, size int) error {
	unsigned, signed := false, false
	switch p.Type {
	case "u8", "u16", "u32", "u64":
		unsigned = true
	case "s8", "s16", "s32", "s64":
		signed = true
	case "b8", "b16", "b32", "b64", "": // accepts any integer of the size
	default:
		return mismatch(p, word)
	}
	if p.Count > 0 || size != 0 && size != p.Size || p.Size > 8 {
		return mismatch(p, word)
	}
	if p.Points {
		return argument("%s, but the parameter is %s; pass an address as a runtime.Address", word,
			p)
	}
	bits := 8 * p.Size
	fits := true
	switch {
	case positive && uint64(v) > math.MaxInt64: // a uint or uint64
		fits = bits == 64 && !signed
	case positive && signed:
		fits = uint64(v) < 1<<(bits-1)
	case positive:
		fits = bits == 64 || uint64(v) < 1<<bits
	default:
		fits = !unsigned && v >= -1<<(bits-1)
	}
	if !fits {
		text := fmt.Sprint(v)
		if positive {
			text = fmt.Sprint(uint64(v))
		}
		return argument("%s is not a value of .%s", text, p.Type)
	}
	switch p.Size {
	case 1:
		at[0] = byte(v)
	case 2:
		binary.LittleEndian.PutUint16(at, uint16(v))
	case 4:
		binary.LittleEndian.PutUint32(at, uint32(v))
	case 8:
		binary.LittleEndian.PutUint64(at, uint64(v))
	}
	return nil
}

// address writes an address for a pointer parameter.
func address(p *Param, values []byte, at Address, what string) error {
	if p.Size != 8 || p.Count > 0 || p.Type != "" && p.Type != "u64" && p.Type != "b64" && p.Type != "s64" {
		return mismatch(p, what)
	}
	if p.Aligns > 1 && uint64(at)%uint64(p.Aligns) != 0 {
		return argument("a %s whose address is not a multiple of %d, the alignment that the "+
			"kernel declares", what, p.Aligns)
	}
	binary.LittleEndian.PutUint64(values[p.Offset:], uint64(at))
	return nil
}

// place writes the address of the buffer.
func (b *Buffer[T]) place(p *Param, values []byte, d *Device) error {
	if b == nil {
		return argument("a nil buffer")
	}
	if err := b.usableFrom(d); err != nil {
		return err
	}
	if p.Target != "" && p.Box == nil && !holds(b.word, b.width, p.Target) {
		return mismatch(p, "a buffer of "+b.word)
	}
	return address(p, values, b.at, b.what)
}

// usableFrom returns an error if kernels on d cannot access the memory. Memory of another device
// requires Reach.
func (m *memory) usableFrom(d *Device) error {
	if m.dev.back != d.back && !d.reaches(m.dev) {
		return argument("%s belongs to %s, but the kernel runs on %s; Device.Reach enables "+
			"access to that memory", m.what, m.dev, d)
	}
	return m.usable(nil)
}

// place writes the address of the memory.
func (m *Pinned[T]) place(p *Param, values []byte, d *Device) error {
	if m == nil {
		return argument("nil pinned memory")
	}
	if err := m.usable(nil); err != nil {
		return err
	}
	return address(p, values, m.address(), m.what)
}

// holds reports whether elements of a Go type can hold a PTX type. PTX types that Go lacks are held
// in integers of the same size.
func holds(word string, width int, ptx string) bool {
	float, half, brain := word == "float32" || word == "float64", word == "runtime.F16", word == "runtime.BF16"
	switch ptx {
	case "f32", "tf32":
		return width == 4 && (word != "int32" && word != "uint32")
	case "f64":
		return width == 8 && (word != "int64" && word != "uint64")
	case "f16":
		return width == 2 && !brain
	case "bf16":
		return width == 2 && !half
	case "f16x2":
		return width == 4 && !float || width == 2 && !brain
	case "bf16x2":
		return width == 4 && !float || width == 2 && !half
	case "u8", "s8":
		return width == 1
	case "u16", "s16":
		return width == 2 && !half && !brain
	case "u32", "s32":
		return width == 4 && !float
	case "u64", "s64":
		return width == 8 && !float
	}
	return true // untyped, packed and narrow types: any Go type of the same size
}
