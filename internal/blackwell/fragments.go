// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package blackwell

import (
	"fmt"
	"math"
	"slices"
)

// A fragment is mma.sync: where the numbers of a warp's registers stand (PTX ISA 9.1, 9.7.14.5). A register holds neighbours along the depth;
// lane l has those of row l/4 and of the l%4-th part of a group of 16 bytes.
type fragment struct {
	depth          int  // zeros counted
	bytes          bool // numbers of 4 and 6 bits come in bytes: those of 4 bits in the middle, those of 6 in the lowest bits
	a, b           number
	half           bool // sums of F16, two to a register
	sparse         bool
	scale          number
	vector         int // numbers that share a factor; 0 for none
	idA, idB       [2]source
	ra, rb, rc     []source
	to             []int
	places         source
	scaleA, scaleB source
}

// byName is the types by their names.
var byName = map[string]number{
	"f16": f16, "bf16": bf16, "tf32": tf32, "e4m3": e4m3, "e5m2": e5m2, "e2m3": e2m3, "e3m2": e3m2, "e2m1": e2m1, "u8": u8, "s8": s8, "ue8m0": ue8m0, "ue4m3": ue4m3,
}

func (k *kernel) fragments(s *step) error {
	f := &fragment{sparse: s.op[1] == "sp::ordered_metadata"}
	var m, n int
	shape := s.starting("m16n")
	if _, err := fmt.Sscanf("m16n"+shape, "m%dn%dk%d", &m, &n, &f.depth); err != nil || n != 8 {
		return errModel
	}
	at := slices.Index(s.op, "col")
	types := s.op[at+1:]
	if s.has("block_scale") {
		f.scale = byName[types[len(types)-1]]
		types = types[:len(types)-1]
	}
	types = types[len(types)-4:]
	var okA, okB bool
	f.a, okA = byName[types[1]]
	f.b, okB = byName[types[2]]
	f.half = types[0] == "f16"
	if !okA || !okB || types[0] != types[3] || types[0] != "f32" && types[0] != "f16" {
		return errModel
	}
	if err := f.kind(s); err != nil {
		return err
	}
	args := s.in.Args
	var err error
	read := func() []source {
		var list []source
		if err == nil {
			list, err = k.sources(vector(&args[0]))
			args = args[1:]
		}
		return list
	}
	f.to = targets(&args[0])
	args = args[1:]
	f.ra, f.rb, f.rc = read(), read(), read()
	if f.sparse {
		f.places = read()[0]
		args = args[1:] // the selector, which is 0 for these types
	}
	if f.vector > 0 {
		f.scaleA, f.idA = read()[0], [2]source(read())
		f.scaleB, f.idB = read()[0], [2]source(read())
	}
	s.run = f.run
	return err
}

// kind is what the kind says of the depth and of scale factors.
func (f *fragment) kind(s *step) error {
	depth := f.depth
	if f.sparse {
		depth /= 2
	}
	kind, packed := s.starting("kind::"), f.a.bits == 4 && f.b.bits == 4
	each := map[string]int{"1X": 1, "2X": 2, "4X": 4}[s.starting("scale_vec::")]
	switch kind {
	case "":
		if f.a.bits != f.b.bits || depth*f.a.bits != 256 && depth*f.a.bits != 128 {
			return errModel
		}
		return nil
	case "f8f6f4":
		if f.bytes = true; depth != 32 || s.has("block_scale") || f.a.bits > 8 || f.b.bits > 8 {
			return errModel
		}
		return nil
	case "mxf8f6f4":
		if f.bytes = true; depth != 32 || f.scale.name != "ue8m0" || each > 1 || f.a.bits > 8 || f.b.bits > 8 {
			return errModel
		}
		each = 1
	case "mxf4":
		if depth != 64 || !packed || f.scale.name != "ue8m0" || each != 0 && each != 2 {
			return errModel
		}
		each = 2
	case "mxf4nvf4":
		if depth != 64 || !packed || each != 2 && each != 4 || f.scale.name == "ue4m3" && each != 4 {
			return errModel
		}
	default:
		return errModel
	}
	f.vector = f.depth / each
	return nil
}

// lane is the lane and register that has a number of a row, and how far its bits stand from the lowest.
func (f *fragment) lane(n number, row, i int) (l, reg, shift int) {
	wide := n.bits
	if f.bytes {
		wide = 8
	}
	each := 32 / wide
	return row%8*4 + i/each%4, i / (4 * each), i % each * wide
}

// worth is what a number of a register is worth, which begins so many bits from the lowest on.
func (f *fragment) worth(n number, register uint64, shift int) (float64, error) {
	code := register >> shift
	if f.bytes && n.bits < 8 {
		code &= 255
		low := 0
		if n.bits == 4 {
			low = 2
		}
		if code&^((1<<n.bits-1)<<low) != 0 {
			return 0, fmt.Errorf("the byte %#x is no %s", code, n.name)
		}
		code >>= low
	}
	return n.worth(code), nil
}

func (f *fragment) run(w *warp, _ uint32) (effect, error) {
	left := make([][]float64, 16)
	for row := range left {
		stored := f.depth
		if f.sparse {
			stored /= 2
		}
		kept := make([]float64, stored)
		for i := range kept {
			l, reg, shift := f.lane(f.a, row, i)
			var err error
			if kept[i], err = f.worth(f.a, f.ra[2*reg+row/8](w, l), shift); err != nil { // the lower eight rows are registers of their own
				return goOn, err
			}
		}
		line := kept
		if f.sparse {
			var err error
			if line, err = f.spreadOut(w, row, kept); err != nil {
				return goOn, err
			}
		}
		left[row] = line
		// Of the lanes of a row the first, or the third, has the factors of rows 0 to 7, its neighbour those of 8 to 15.
		if err := f.scaled(w, f.scaleA, f.idA, row%8*4+row/8, 2, 1, line); err != nil {
			return goOn, err
		}
	}
	right := make([][]float64, 8)
	for col := range right {
		right[col] = make([]float64, f.depth)
		for i := range right[col] {
			l, reg, shift := f.lane(f.b, col, i)
			var err error
			if right[col][i], err = f.worth(f.b, f.rb[reg](w, l), shift); err != nil {
				return goOn, err
			}
		}
		if err := f.scaled(w, f.scaleB, f.idB, col*4, 1, 3, right[col]); err != nil {
			return goOn, err
		}
	}
	for row, x := range left {
		for col, y := range right {
			l := row%8*4 + col/2
			reg, shift := row/8*2+col%2, 0
			if f.half {
				reg, shift = row/8, col%2*16
			}
			sum := float(f.rc[reg](w, l))
			if f.half {
				sum = f16.worth(f.rc[reg](w, l) >> shift & 0xffff)
			}
			for i := range x {
				sum += x[i] * y[i]
			}
			to := &w.regs[f.to[reg]][l]
			if f.half {
				*to = *to&^(0xffff<<shift) | toHalf(sum)<<shift
			} else {
				*to = uint64(math.Float32bits(float32(sum)))
			}
		}
	}
	return goOn, nil
}

// scaled multiplies numbers by factors that a lane has, from a byte on. The thread id says which of the lanes of a row it is, in steps.
func (f *fragment) scaled(w *warp, from source, id [2]source, lane, step, most int, line []float64) error {
	if f.vector == 0 {
		return nil
	}
	first, thread, each := int(id[0](w, 0)), int(id[1](w, 0)), len(line)/f.vector
	if first%each != 0 || first+each > 4 || thread > most {
		return fmt.Errorf("factors from byte %d of thread %d", first, thread)
	}
	word := from(w, lane+thread*step)
	for i := range line {
		line[i] *= f.scale.worth(word >> (8 * (first + i/f.vector)))
	}
	return nil
}

// spreadOut puts the zeros of a row in their places: of numbers of 8 bits, or pairs of those of 4. Four bits tell of four neighbours, and the lanes of
// two rows have 32 bits each: even ones of the upper row, odd ones of the lower, the first two of the first half.
func (f *fragment) spreadOut(w *warp, row int, kept []float64) ([]float64, error) {
	together := 8 / f.a.bits
	if f.bytes {
		together = 1
	}
	if together < 1 {
		return nil, errModel
	}
	line := make([]float64, f.depth)
	for g := range f.depth / (4 * together) {
		four := f.places(w, row%8*4+row/8+g/8*2) >> (g % 8 * 4) & 15
		first, second := int(four&3), int(four>>2)
		from := kept[2*g*together:][:2*together]
		if first >= second && slices.ContainsFunc(from, func(x float64) bool { return x != 0 }) {
			return nil, fmt.Errorf("row %d: %d and %d do not tell which of four are kept", row, first, second)
		}
		copy(line[(4*g+first)*together:][:together], from)
		copy(line[(4*g+second)*together:][:together], from[together:])
	}
	return line, nil
}
