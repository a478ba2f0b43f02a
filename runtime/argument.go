// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"
)

// A placer is an argument of a launch that is not a number, such as a buffer.
type placer interface {
	place(p *Param, values []byte, d *Device) error
}

// storeArgument writes an argument to the position of its parameter in values. It returns an error
// if the argument does not fit the parameter.
//
// The argument is read through a pointer that the compiler cannot track, so that calling an
// interface method does not move arguments to the heap. That is valid, because place does not
// retain its receiver.
func storeArgument(p *Param, values []byte, d *Device, arg *any) error {
	hidden := uintptr(unsafe.Pointer(arg))
	a := **(**any)(unsafe.Pointer(&hidden))
	at := values[p.Offset : p.Offset+p.Size]
	switch a := a.(type) {
	case nil:
		return argument("nil")
	case placer:
		return a.place(p, values, d)
	case Address:
		if p.Size != 8 || p.Count > 0 || p.Type == "f64" {
			return mismatch(p, "an address")
		}
		binary.LittleEndian.PutUint64(at, uint64(a))
		return nil
	case []byte:
		if p.Type != "" && p.Count == 0 || len(a) != p.Size {
			return mismatch(p, fmt.Sprintf("%d bytes", len(a)))
		}
		copy(at, a)
		return nil
	}
	if n, ok := wholeNumber(a); ok {
		return integer(p, at, n.value, n.positive, n.word, n.size)
	}
	if n, ok := realNumber(a); ok {
		if p.Size != n.size || !isScalarOf(p, n.types...) {
			return mismatch(p, n.word)
		}
		var bytes [8]byte
		binary.LittleEndian.PutUint64(bytes[:], n.bits)
		copy(at, bytes[:n.size])
		return nil
	}
	return argument("a %T, which is not a supported argument; arguments are buffers, tensor "+
		"maps, pinned memory, numbers and []byte", a)
}

// A wholeValue is the value of an argument of a Go integer type.
type wholeValue struct {
	value    int64 // bit pattern of the value
	positive bool  // whether the value is not negative
	word     string
	size     int // in bytes; 0 for int and uint, which fit any parameter that holds the value
}

// wholeNumber returns the value of an argument of a Go integer type. ok is false for other
// arguments.
func wholeNumber(a any) (wholeValue, bool) {
	switch a := a.(type) {
	case int:
		return wholeValue{int64(a), a >= 0, "int", 0}, true
	case int8:
		return wholeValue{int64(a), a >= 0, "int8", 1}, true
	case int16:
		return wholeValue{int64(a), a >= 0, "int16", 2}, true
	case int32:
		return wholeValue{int64(a), a >= 0, "int32", 4}, true
	case int64:
		return wholeValue{a, a >= 0, "int64", 8}, true
	case uint:
		return wholeValue{int64(a), true, "uint", 0}, true
	case uint8:
		return wholeValue{int64(a), true, "uint8", 1}, true
	case uint16:
		return wholeValue{int64(a), true, "uint16", 2}, true
	case uint32:
		return wholeValue{int64(a), true, "uint32", 4}, true
	case uint64:
		return wholeValue{int64(a), true, "uint64", 8}, true
	}
	return wholeValue{}, false
}

// A realValue is the value of an argument of a floating-point type.
type realValue struct {
	bits  uint64
	word  string
	size  int
	types []string // types of the parameters for which it can be passed
}

var (
	singleTypes = []string{"f32", "b32"}
	doubleTypes = []string{"f64", "b64"}
	halfTypes   = []string{"f16", "b16"}
	brainTypes  = []string{"bf16", "b16"}
)

// realNumber returns the value of an argument of a floating-point type. ok is false for other
// arguments.
func realNumber(a any) (realValue, bool) {
	switch a := a.(type) {
	case float32:
		return realValue{uint64(math.Float32bits(a)), "float32", 4, singleTypes}, true
	case float64:
		return realValue{math.Float64bits(a), "float64", 8, doubleTypes}, true
	case F16:
		return realValue{uint64(a), "F16", 2, halfTypes}, true
	case BF16:
		return realValue{uint64(a), "BF16", 2, brainTypes}, true
	}
	return realValue{}, false
}

// mismatch returns the error for an argument of the wrong kind.
func mismatch(p *Param, got string) error {
	return argument("%s, but the parameter is %s", got, p)
}

// isScalarOf reports whether a parameter is a single number of one of the given types. The type
// of a cubin's parameter is not known, so any type is accepted.
func isScalarOf(p *Param, types ...string) bool {
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

// integer writes an integer to at. An int or uint can be passed if the parameter can represent
// the value; other types must have the size of the parameter.
func integer(p *Param, at []byte, v int64, positive bool, word string, size int) error {
	unsigned, signed := false, false
	switch p.Type {
	case "u8", "u16", "u32", "u64":
		unsigned = true
	case "s8", "s16", "s32", "s64":
		signed = true
	case "b8", "b16", "b32", "b64", "": // any integer type of the same size
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
	case positive && uint64(v) > math.MaxInt64: // a large uint or uint64
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

// address writes the address at as the value of a pointer parameter.
func address(p *Param, values []byte, at Address, what string) error {
	if p.Size != 8 || p.Count > 0 || p.Type != "" && p.Type != "u64" && p.Type != "b64" &&
		p.Type != "s64" {
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
	if err := b.checkAccess(d); err != nil {
		return err
	}
	if p.Target != "" && p.Box == nil && !canHold(b.word, b.width, p.Target) {
		return mismatch(p, "a buffer of "+b.word)
	}
	return address(p, values, b.at, b.what)
}

// checkAccess returns an error if kernels on d cannot access the memory. Access to the memory of
// another device requires Reach.
func (m *memory) checkAccess(d *Device) error {
	if m.dev.back != d.back && !d.canReach(m.dev) {
		return argument("%s belongs to %s, but the kernel runs on %s; Device.Reach enables "+
			"access to that memory", m.what, m.dev, d)
	}
	return m.checkOpen(nil)
}

// place writes the address of the memory.
func (m *Pinned[T]) place(p *Param, values []byte, d *Device) error {
	if m == nil {
		return argument("nil pinned memory")
	}
	if err := m.checkOpen(nil); err != nil {
		return err
	}
	return address(p, values, m.address(), m.what)
}

// canHold reports whether elements of a Go type can hold values of a PTX type. PTX types that Go
// lacks are held in integers of the same size.
func canHold(word string, width int, ptx string) bool {
	float, half, brain := word == "float32" || word == "float64", word == "runtime.F16",
		word == "runtime.BF16"
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
	return true // untyped, packed and narrow types fit any Go type of the same size
}
