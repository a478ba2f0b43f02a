// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package blackwell

import "fmt"

// A matrix is what a descriptor of 64 bits says of a matrix in shared memory (PTX ISA 9.1, 9.7.16.4.1): all in bytes.
type matrix struct {
	start, leading, stride uint64
	swizzle                int
}

// decodeMatrix reads a descriptor.
func decodeMatrix(d uint64) (matrix, error) {
	m := matrix{start: d & 0x3fff << 4, leading: d >> 16 & 0x3fff << 4, stride: d >> 32 & 0x3fff << 4}
	switch mode := d >> 61; mode {
	case 0:
	case 2:
		m.swizzle = 128
	case 4:
		m.swizzle = 64
	case 6:
		m.swizzle = 32
	default:
		return m, fmt.Errorf("descriptor %#x: swizzle %d is not in the model", d, mode)
	}
	switch {
	case d>>46&7 != 1:
		return m, fmt.Errorf("descriptor %#x: the constant is %d", d, d>>46&7)
	case d>>49&7 != 0 || d>>52&1 != 0:
		return m, fmt.Errorf("descriptor %#x: base offsets and absolute addresses are not in the model", d)
	case d>>53&255 != 0 || d>>14&3 != 0 || d>>30&3 != 0:
		return m, fmt.Errorf("descriptor %#x: bits that are zero are not", d)
	}
	return m, nil
}

// along is the address of a byte along the depth of a row, of a matrix whose rows lie along the depth. Rows come in groups of eight, a stride apart.
// Without a swizzle 16 bytes of eight rows lie together, and the next 16 bytes are the leading offset away; with one a row of a group is
// as wide as the swizzle.
func (m matrix) along(row, b int) uint64 {
	if m.swizzle == 0 {
		return m.start + uint64(row/8)*m.stride + uint64(row%8*16) + uint64(b/16)*m.leading + uint64(b%16)
	}
	return swizzle(m.start+uint64(row/8)*m.stride+uint64(row%8*m.swizzle)+uint64(b), m.swizzle)
}

// across is the address of a byte along the rows at some depth, of a matrix whose columns lie along the rows (MN-major). Without a swizzle
// 16 bytes of eight depths lie together, the next eight depths are the leading offset away, and the next 16 bytes the stride; with one
// blocks as wide as the swizzle are the leading offset apart, and groups of eight depths the stride.
func (m matrix) across(b, depth int) uint64 {
	if m.swizzle == 0 {
		return m.start + uint64(depth/8)*m.leading + uint64(depth%8*16) + uint64(b/16)*m.stride + uint64(b%16)
	}
	w := m.swizzle
	return swizzle(m.start+uint64(b/w)*m.leading+uint64(b%w)+uint64(depth/8)*m.stride+uint64(depth%8*w), w)
}

// An order is what a descriptor of 32 bits says of a product (PTX ISA 9.1, 9.7.16.4.2).
type order struct {
	m, n, k      int // k counts the zeros of sparse matrices
	a, b         number
	slots        bool // elements of 4 and 6 bits come sixteen to 16 bytes in shared memory, one to a byte in tensor memory
	sum          byte // 'h' for F16, 'f' for F32, 'i' for S32
	acrossA      bool
	acrossB      bool
	negA, negB   bool
	sparse       bool
	selector     int // of what tells the zeros
	scale        number
	vector       int // numbers that share a factor; 0 for none
	idA, idB     int // the byte of the first factor
	storedDepth  int // bytes of a row of A that one instruction takes
	doubledDepth int // and of B
}

// decodeOrder reads a descriptor for a kind, with the word of the opcode that says how many numbers share a factor.
func decodeOrder(d uint32, kind, scaling string) (o order, err error) {
	bad := func(format string, args ...any) (order, error) {
		return o, fmt.Errorf("descriptor %#08x of kind %s: %s", d, kind, fmt.Sprintf(format, args...))
	}
	field := func(at, n int) int { return int(d >> at & (1<<n - 1)) }
	o.sparse, o.n = field(2, 1) == 1, field(17, 6)*8
	o.negA, o.negB, o.acrossA, o.acrossB = field(13, 1) == 1, field(14, 1) == 1, field(15, 1) == 1, field(16, 1) == 1
	eight := map[int]number{0: e4m3, 1: e5m2, 3: e2m3, 4: e3m2, 5: e2m1}
	var types map[int]number
	block := false
	switch kind {
	case "f16":
		types, o.k = map[int]number{0: f16, 1: bf16}, 16
	case "tf32":
		types, o.k = map[int]number{2: tf32}, 8
	case "f8f6f4":
		types, o.k, o.slots = eight, 32, true
	case "i8":
		types, o.k = map[int]number{0: u8, 1: s8}, 32
	case "mxf8f6f4":
		types, o.k, o.slots, block = eight, 32, true, true
	case "mxf4", "mxf4nvf4":
		types, o.k, block = map[int]number{1: e2m1}, 64, true
	default:
		return bad("is not in the model")
	}
	packed := kind == "mxf4" || kind == "mxf4nvf4"
	var okA, okB bool
	o.a, okA = types[field(7, 3)]
	o.b, okB = types[field(10, 3)]
	if packed {
		o.b, okB = types[field(10, 2)]
		if field(12, 1) != 0 || o.acrossA || o.acrossB || field(31, 1) != 0 {
			return bad("a field of packed numbers")
		}
	}
	if !okA || !okB {
		return bad("types %d and %d", field(7, 3), field(10, 3))
	}
	if kind == "f16" && o.a.name != o.b.name {
		return bad("two types")
	}
	if block {
		o.m, o.sum = field(27, 2)*128, 'f'
		o.idB, o.idA = field(4, 2), field(29, 2)
		o.scale = ue4m3
		if field(23, 1) == 1 {
			o.scale = ue8m0
		}
		switch scaling {
		case "block16", "scale_vec::4X":
			o.vector = 16
		case "block32", "scale_vec::2X", "scale_vec::1X":
			o.vector = 32
		default:
			return bad("%q does not say how many numbers share a factor", scaling)
		}
		each := o.k / o.vector // factors
		if want := map[string]int{"scale_vec::1X": 1, "scale_vec::2X": 2, "scale_vec::4X": 4}[scaling]; want != 0 && want != each {
			return bad("%s, with %d factors", scaling, each)
		}
		switch {
		case kind == "mxf8f6f4" && (o.vector != 32 || o.scale.name != "ue8m0"), kind == "mxf4" && (o.vector != 32 || o.scale.name != "ue8m0"),
			o.scale.name == "ue4m3" && o.vector != 16:
			return bad("a %s for %d", o.scale.name, o.vector)
		case o.idA%each != 0 || o.idB%each != 0:
			return bad("factors from byte %d and %d on, %d at a time", o.idA, o.idB, each)
		case field(0, 2) != 0 || field(3, 1) != 0 || field(6, 1) != 0 || field(24, 3) != 0 || !packed && field(31, 1) != 0:
			return bad("bits that are zero are not")
		}
	} else {
		o.m, o.selector = field(24, 5)*16, field(0, 2)
		o.sum = map[int]byte{0: 'h', 1: 'f', 2: 'i'}[field(4, 2)]
		switch {
		case o.sum == 0 || (kind == "i8") != (o.sum == 'i') || o.sum == 'h' && (kind == "tf32" || o.a.name == "bf16"):
			return bad("sums %d", field(4, 2))
		case field(6, 1) != 0 || field(23, 1) != 0 || field(29, 3) != 0 || field(3, 1) != 0 || !o.sparse && o.selector != 0:
			return bad("bits that are zero are not")
		}
	}
	if o.sparse {
		o.k *= 2
		o.vector *= 2
	}
	o.storedDepth, o.doubledDepth = 32, 32
	if o.sparse {
		o.doubledDepth = 64
	}
	return o, nil
}

// fits reports a shape that the kind does not have (PTX ISA 9.1, 9.7.16.2.1).
func (o *order) fits(kind string, pair bool) error {
	step := 8
	if pair {
		step = 16
	}
	if o.m == 128 && !pair || o.m == 256 {
		step = max(step, 16)
		if o.vector > 0 && !pair {
			step = 8
		}
	}
	if kind == "i8" {
		step = 16
		if !pair && (o.n == 8 || o.n == 24) {
			step = 8
		}
		if pair {
			step = 32
		}
	}
	ok := map[bool]bool{false: o.m == 64 && o.vector == 0 || o.m == 128, true: o.m == 256}[pair]
	if !ok || o.n < step || o.n > 256 || o.n%step != 0 {
		return fmt.Errorf("m%dn%d of kind %s is not in the model", o.m, o.n, kind)
	}
	return nil
}
