// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A tensorCase is an MMA in tensor memory.
type tensorCase struct {
	x, y       isa.Type
	padded     bool
	scale      dsl.BlockScale
	rows, cols int
	depth      int
	turnX      bool
	turnY      bool
	sparse     bool
	swizzle    dsl.Swizzle
}

var tensorTypes = map[string]isa.Type{
	"f16": isa.F16, "bf16": isa.Bf16, "tf32": isa.Tf32, "e4m3": isa.E4m3, "e5m2": isa.E5m2,
	"e2m3": isa.E2m3, "e3m2": isa.E3m2, "e2m1": isa.E2m1, "packed": isa.E2m1,
	"s8": isa.S8, "u8": isa.U8, "ue8m0": isa.Ue8m0, "ue4m3": isa.Ue4m3,
}

// box returns the box of an operand with the given rows and depth, in memory order.
func (c tensorCase) box(t isa.Type, rows, depth int, turned bool) dsl.Box {
	if turned {
		rows, depth = depth, rows
	}
	return dsl.Box{Rows: rows, Cols: depth, Padded: c.padded && t.Bits() < 8}
}

// build returns the text of a kernel that multiplies one stage.
func (c tensorCase) build(t *testing.T) string {
	m := dsl.New("m", "sm_100a")
	options, share := []dsl.KernelOption{dsl.Warpgroups(2)}, 1
	if c.rows == 256 {
		options, share = append(options, dsl.Cluster(2)), 2
	}
	k := m.Kernel("k", options...)
	if share == 2 {
		k.CTAPair()
	}
	depth := c.depth
	if c.sparse {
		depth *= 2
	}
	a := k.TensorMap("a", c.x, c.box(c.x, c.rows/share, c.depth, c.turnX), c.swizzle)
	b := k.TensorMap("b", c.y, c.box(c.y, c.cols/share, depth, c.turnY), c.swizzle)
	maps := []*dsl.TensorMap{a, b}
	acc := k.TMEM("acc", c.rows, c.cols, 1)
	if c.sparse {
		maps = append(maps, k.SparsityMap("e", a))
		acc.Sparsity(a)
	}
	if c.scale.Vector > 0 {
		maps = append(maps, k.ScaleMap("sfa", c.scale, 128, depth),
			k.ScaleMap("sfb", c.scale, (c.cols+127)/128*128, depth))
		acc.Scales(c.scale, depth)
	}
	var feeds []dsl.Feed
	for _, m := range maps {
		feeds = append(feeds, m.Feed())
	}
	p := k.Pipeline("p", 2, feeds...)
	k.Roles(
		dsl.OnWarp(0, "load", func() {
			for s := range p.Produce(k.U32(1)) {
				for _, m := range maps {
					s.Load(m, dsl.TileAt(k.U32(0), s.Iteration()))
				}
			}
		}),
		dsl.OnWarp(1, "multiply", func() {
			acc.Fill(func(d *dsl.AccumulatorStage) {
				for s := range p.Consume(k.U32(1)) {
					var tiles []dsl.SharedTile
					for _, m := range maps {
						tiles = append(tiles, s.Tile(m))
					}
					if c.turnX {
						tiles[0] = tiles[0].Transposed()
					}
					if c.turnY {
						tiles[1] = tiles[1].Transposed()
					}
					switch {
					case c.sparse && c.scale.Vector > 0:
						d.SparseScaledMMA(c.scale, tiles[0], tiles[2], tiles[1], tiles[3], tiles[4])
					case c.scale.Vector > 0:
						d.ScaledMMA(c.scale, tiles[0], tiles[1], tiles[2], tiles[3])
					case c.sparse:
						d.SparseMMA(tiles[0], tiles[2], tiles[1])
					default:
						d.MMA(tiles[0], tiles[1])
					}
				}
			})
		}),
		dsl.OnWarpgroup(1, "write", func() { acc.Drain(func(*dsl.AccumulatorStage) {}) }),
	)
	text, err := m.Text()
	if err != nil {
		t.Fatalf("%+v: %v", c, err)
	}
	return text
}

var (
	mmaLine  = regexp.MustCompile(`(?s)tcgen05\.mma\.\S+ (.*?);`)
	register = regexp.MustCompile(`%\w+`)
)

// constant returns the number that a register is set to.
func constant(t *testing.T, text, reg string) uint64 {
	found := regexp.MustCompile(`mov\.[bu]32\s+` + reg + `,\s+(\w+);`).FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("%s has no constant", reg)
	}
	n, err := strconv.ParseUint(found[1], 0, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// tableRows returns the lines of a table, except comments, split into words.
func tableRows(t *testing.T, name string) (rows [][]string) {
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 0 && f[0] != "#" {
			rows = append(rows, f)
		}
	}
	return rows
}

func isIntegerOrBits(t *testing.T, s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestInstructionDescriptors compares the instruction descriptor of each kind of MMA with
// CUTLASS's, and its change from step to step with the PTX manual: the scale factor index in a
// column, or the column of a pair with sparsity metadata.
func TestInstructionDescriptors(t *testing.T) {
	rows := tableRows(t, "tcgen05_instructions.txt")
	if len(rows) < 120 {
		t.Fatalf("%d configurations", len(rows))
	}
	for _, f := range rows {
		want, err := strconv.ParseUint(f[7], 0, 32)
		if err != nil {
			t.Fatal(err)
		}
		packed := f[0] == "packed"
		c := tensorCase{x: tensorTypes[f[0]], y: tensorTypes[f[1]], padded: !packed,
			rows: isIntegerOrBits(t, f[3]), cols: isIntegerOrBits(t, f[4]), turnX: f[5][0] == 'm',
			turnY:  f[5][1] == 'm',
			sparse: f[6] == "sparse", swizzle: dsl.Swizzle128}
		c.depth = 128 * 8 / max(8, c.x.Bits()) // 128 bytes
		if packed {
			c.depth = 256
		}
		each := 0 // scale factors per instruction
		if f[2] != "-" {
			c.scale, each = dsl.BlockScale{Type: tensorTypes[f[2]], Vector: 32}, 1
			if packed {
				each = 2
			}
			if f[2] == "ue4m3" {
				c.scale.Vector, each = 16, 4
			}
			if c.sparse {
				c.scale = c.scale.Sparse()
			}
		}
		text := c.build(t)
		found := mmaLine.FindAllStringSubmatch(text, -1)
		if len(found) != 4 {
			t.Fatalf("%v: %d instructions", f, len(found))
		}
		at := 3
		if c.sparse {
			at++
		}
		for step, line := range found {
			expected := want
			if each > 0 {
				part := uint64(step * each % 4)
				expected |= part<<4 | part<<29
			} else if c.sparse && c.x.Bits() > 8 {
				expected |= uint64(step % 2)
			}
			if got := constant(t, text, register.FindAllString(line[1], -1)[at]); got != expected {
				t.Errorf("%v, step %d: %#08x; %#08x is expected", f, step, got, expected)
			}
		}
	}
}

// TestTileDescriptors compares the descriptors of tiles, and the start of each step along K, with
// CUTLASS's.
func TestTileDescriptors(t *testing.T) {
	joined := regexp.MustCompile(`or\.b64\s+%\w+, %\w+, (-?\w+);`)
	rows := tableRows(t, "tcgen05_tiles.txt")
	if len(rows) < 30 {
		t.Fatalf("%d tiles", len(rows))
	}
	for _, f := range rows {
		typ, turned := tensorTypes[f[1]], f[0] == "m"
		c := tensorCase{x: typ, y: typ, rows: 64, cols: isIntegerOrBits(t, f[2]),
			depth: isIntegerOrBits(t, f[3]),
			turnY: turned, swizzle: dsl.Swizzle(isIntegerOrBits(t, f[4]))}
		text := c.build(t)
		found := joined.FindAllStringSubmatch(text, -1)
		if len(found) != 2 {
			t.Fatalf("%v: %d descriptors\n%s", f, len(found), text)
		}
		want, err := strconv.ParseUint(f[5], 0, 64)
		if err != nil {
			t.Fatal(err)
		}
		got, err := strconv.ParseUint(found[1][1], 0, 64) // descriptor of the B operand
		if signed, no := strconv.ParseInt(found[1][1], 0, 64); no == nil {
			got, err = uint64(signed), nil
		}
		if err != nil {
			t.Fatal(err)
		}
		// the field is ignored if there is one slab, or if rows are along K
		const leading = 0x3fff << 16
		if single := c.cols*typ.Bits()/8 <= int(c.swizzle); turned && single {
			got, want = got&^leading, want&^leading
		}
		if got != want {
			t.Errorf("%v: %#016x; %#016x is expected", f, got, want)
		}
		tile := dsl.Tile{Type: typ, Rows: c.cols, Cols: c.depth, Swizzle: c.swizzle}
		var steps []string
		for i := range f[6:] {
			off := tile.DescriptorOffset(i * 256 / typ.Bits())
			if turned {
				off = i * 256 / typ.Bits() * tile.Pitch()
			}
			steps = append(steps, fmt.Sprint(off))
		}
		if d := cmp.Diff(f[6:], steps); d != "" {
			t.Errorf("%v: %s", f, d)
		}
	}
}
