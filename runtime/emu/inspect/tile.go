// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// A Tile is a matrix in shared memory, or in tensor memory under the name tmem. Its rows are
// contiguous and not swizzled.
type Tile struct {
	Name          string // name of a variable or of a part of dynamic shared memory
	Offset        uint64 // in bytes; in tensor memory, the first column
	Type          isa.Type
	Rows, Columns int
}

// ParseTile parses a tile such as tiles=f16[16x8], tiles+1024=f32[4x4] or tmem+32=f32[128x8].
func ParseTile(text string) (Tile, error) {
	var t Tile
	bad := fmt.Errorf(
		"%q is not a tile, expected name=type[rows x columns], such as tiles+1024=f16[16x8]", text)
	name, shape, ok := strings.Cut(text, "=")
	word, size, found := strings.Cut(strings.TrimSuffix(shape, "]"), "[")
	rows, columns, both := strings.Cut(size, "x")
	if !ok || !found || !both {
		return t, bad
	}
	var err1, err2, err3 error
	if t.Name, name, ok = strings.Cut(name, "+"); ok {
		t.Offset, err1 = strconv.ParseUint(name, 0, 32)
	}
	t.Rows, err2 = strconv.Atoi(rows)
	t.Columns, err3 = strconv.Atoi(columns)
	if t.Type, ok = isa.ParseType("." + word); !ok || err1 != nil || err2 != nil || err3 != nil {
		return t, bad
	}
	bits := t.Type.Bits()
	if t.Rows < 1 || t.Columns < 1 || t.Rows*t.Columns > 1<<16 || bits < 8 || bits > 64 ||
		t.Type == isa.Predicate {
		return t, bad
	}
	return t, nil
}

// print writes the tile. Elements that were never written are shown as ?.
func (t *Tile) print(out io.Writer, s *emu.State, n *names) {
	fmt.Fprintf(out, "  %s+%d as %s[%dx%d]:\n", t.Name, t.Offset, t.Type.String()[1:], t.Rows,
		t.Columns)
	if t.Name == "tmem" {
		t.rows(out, func(row, column int) (uint64, bool) {
			x, ok := s.Tensor(row, int(t.Offset)+column)
			return uint64(x), ok
		})
		return
	}
	data, written := s.Shared()
	at, ok := t.find(s, n)
	width := uint64(t.Type.Bits() / 8)
	if end := at + uint64(t.Rows*t.Columns)*width; !ok || end > uint64(len(data)) {
		fmt.Fprintf(out, "    there is no such part of shared memory\n")
		return
	}
	t.rows(out, func(row, column int) (uint64, bool) {
		i := at + uint64(row*t.Columns+column)*width
		x := uint64(0)
		for k := range width {
			if written != nil && written[i+k] == 0 {
				return 0, false
			}
			x |= uint64(data[i+k]) << (8 * k)
		}
		return x, true
	})
}

// find returns the address in shared memory at which the tile begins. The result is false if the
// tile is not found.
func (t *Tile) find(s *emu.State, n *names) (uint64, bool) {
	list := s.Symbols()
	for _, x := range list {
		if x.Name == t.Name {
			return x.At + t.Offset, true
		}
	}
	for _, p := range n.parts {
		if p.Name == t.Name && len(list) > 0 {
			return list[len(list)-1].At + p.At + t.Offset, true
		}
	}
	return 0, false
}

// rows writes the elements.
func (t *Tile) rows(out io.Writer, at func(row, column int) (uint64, bool)) {
	for r := range t.Rows {
		words := make([]string, t.Columns)
		for c := range words {
			words[c] = "?"
			if x, ok := at(r, c); ok {
				words[c] = t.element(x)
			}
		}
		fmt.Fprintf(out, "    %s\n", strings.Join(words, " "))
	}
}

// element formats an element.
func (t *Tile) element(x uint64) string {
	n := t.Type.Bits()
	switch {
	case t.Type == isa.F32:
		return strconv.FormatFloat(float64(math.Float32frombits(uint32(x))), 'g', -1, 32)
	case t.Type == isa.F64:
		return strconv.FormatFloat(math.Float64frombits(x), 'g', -1, 64)
	case t.Type == isa.F16 || t.Type == isa.Bf16:
		return strconv.FormatFloat(eval.FormatOf(t.Type).Decode(x), 'g', 6, 64)
	case t.Type.Class() == isa.Signed:
		return strconv.FormatInt(int64(x)<<(64-n)>>(64-n), 10)
	case t.Type.Class() == isa.Bits:
		return fmt.Sprintf("%0*x", n/4, x)
	}
	return strconv.FormatUint(x, 10)
}
