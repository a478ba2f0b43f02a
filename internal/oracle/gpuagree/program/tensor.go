// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"fmt"
	"slices"
	"strings"
)

// A tensorCase specifies a tensor map and a copy of one box.
type tensorCase struct {
	kind    string
	rank    int
	swizzle int
	nan     bool
	steps   bool
	// at is the position of the box: 0 inside the tensor, 1 before it, 2 past its end, 3 not
	// aligned to 16 bytes, 4 before the tensor in the outer dimensions only.
	at int
}

func (t tensorCase) String() string {
	return fmt.Sprintf("%dd %s swizzle %d interleave 0 nan %v steps %v at %d", t.rank, t.kind,
		t.swizzle, t.nan, t.steps, t.at)
}

// tensorMapOf returns the tensor map of a case, whose box has at most 16 KiB, the coordinates of
// the box, innermost dimension first, and the sizes of box and tensor in bytes.
func (t tensorCase) tensorMapOf() (m Map, corner []int, boxBytes, tensorBytes int) {
	width := mapTypeBytes(t.kind)
	inner := 64 / width
	if t.swizzle != 0 {
		inner = t.swizzle / width
	}
	m = Map{Type: t.kind, Swizzle: t.swizzle, NaN: t.nan}
	box := []int{inner, 8, 4, 2, 2}[:t.rank]
	sizes := []int{inner + 16/width*3, 13, 7, 4, 3}[:t.rank]
	if t.rank == 1 {
		box, sizes = []int{min(inner*4, 256)}, []int{min(inner*4, 256) + 5*16/width}
	}
	tensorBytes = width
	for _, n := range sizes {
		tensorBytes *= n
	}
	steps := slices.Repeat([]int{1}, t.rank)
	if t.steps {
		for i := 1; i < t.rank; i++ {
			steps[i] = 1 + i%2 + 1
		}
	}
	boxBytes = width
	for i, n := range box {
		boxBytes *= (n + steps[i] - 1) / steps[i]
	}
	for i, n := range box {
		switch t.at {
		case 0, 3:
			corner = append(corner, min(1, sizes[i]-n))
		case 1, 4:
			corner = append(corner, -(n+2)/3)
		default:
			corner = append(corner, sizes[i]-n/2)
		}
	}
	switch unit := max(1, 16/width); {
	case t.at == 4:
		corner[0] = 0
	case t.at == 0:
		corner[0] *= unit
	case t.at < 3:
		corner[0] = corner[0] / unit * unit
	}
	slices.Reverse(box)
	slices.Reverse(sizes)
	slices.Reverse(steps)
	m.Box, m.Sizes, m.Steps = box, sizes, steps
	return m, corner, boxBytes, tensorBytes
}

func mapTypeBytes(kind string) int {
	switch kind {
	case "bf16", "f16":
		return 2
	case "tf32":
		return 4
	}
	return typeBytes(kind)
}

// Tensors returns programs that copy boxes of tensors between global and shared memory in both
// directions.
func Tensors() (all []Program) {
	kinds := strings.Fields("u8 u16 u32 s32 u64 s64 f16 bf16 f32 f64 tf32")
	for _, kind := range kinds {
		for rank := 1; rank <= 5; rank++ {
			for at := range 3 {
				t := tensorCase{kind: kind, rank: rank, at: at}
				all = append(all, t.load())
				t.nan = kind[0] == 'f' || kind == "bf16" || kind == "tf32"
				if t.nan && at > 0 {
					all = append(all, t.load())
				}
			}
		}
	}
	for _, kind := range kinds {
		for rank := 1; rank <= 3; rank++ {
			t := tensorCase{kind: kind, rank: rank, at: 3}
			all = append(all, t.load(), t.store())
		}
		t := tensorCase{kind: kind, rank: 2, at: 4}
		all = append(all, t.load(), t.store())
	}
	for _, swizzle := range []int{32, 64, 128} {
		for _, kind := range []string{"u8", "bf16", "f32", "f64"} {
			for rank := 2; rank <= 5; rank++ {
				for at := range 3 {
					t := tensorCase{kind: kind, rank: rank, swizzle: swizzle, at: at}
					all = append(all, t.load(), t.store())
				}
			}
		}
	}
	for rank := 2; rank <= 5; rank++ {
		for at := range 3 {
			t := tensorCase{kind: "f16", rank: rank, steps: true, at: at}
			all = append(all, t.load())
		}
	}
	for _, kind := range kinds {
		for at := range 3 {
			t := tensorCase{kind: kind, rank: 2, at: at}
			all = append(all, t.store())
		}
	}
	for _, op := range strings.Fields("add min max inc dec and or xor") {
		for _, kind := range reductions[op] {
			for at := range 2 {
				t := tensorCase{kind: kind, rank: 2 + at, at: 2 * at}
				all = append(all, t.reduce(op))
			}
		}
	}
	return append(all, append(multicasts(), images()...)...)
}

// reductions has, for each tensor reduction, the element types that it supports.
var reductions = map[string][]string{
	"add": {"u32", "s32", "u64", "f16", "bf16", "f32", "f64"},
	"min": {"u32", "s32", "u64", "s64", "f16", "bf16"},
	"max": {"u32", "s32", "u64", "s64", "f16", "bf16"},
	"inc": {"u32"}, "dec": {"u32"},
	"and": {"u32", "u64"}, "or": {"u32", "u64"}, "xor": {"u32", "u64"},
}

// coordinates formats a tuple of constants, innermost dimension first.
func coordinates(corner []int) string {
	var list []string
	for _, x := range corner {
		list = append(list, fmt.Sprint(x))
	}
	return "{" + strings.Join(list, ", ") + "}"
}

func (t tensorCase) load() Program {
	m, corner, n, tensor := t.tensorMapOf()
	id := "load " + t.String()
	c := &code{}
	c.line(".shared .align 1024 .b8 tile[%d];", n)
	c.fill(n, copyThreads, 0)
	bar := c.barrier()
	to := c.reg("b32")
	end := c.leader()
	c.line("mov.b32 %s, tile;", to)
	c.line("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%s], %d;", bar, n)
	c.line("cp.async.bulk.tensor.%dd.shared::cluster.global.tile.mbarrier::complete_tx::bytes "+
		"[%s], [%%map0, %s], [%s];", t.rank, to, coordinates(corner), bar)
	end()
	c.wait(bar)
	c.dump(n, copyThreads, 0)
	kind := t.kind
	if kind == "tf32" {
		kind = "f32"
	}
	return Program{ID: id, Family: "tensor load", Block: copyThreads,
		In: numbers(random(id), kind, 4*max(n, tensor)+1024), Out: pattern(n), Maps: []Map{m},
		body: c.text.String()}
}

func (t tensorCase) store() Program {
	return t.write("store "+t.String(),
		"cp.async.bulk.tensor.%dd.global.shared::cta.tile.bulk_group")
}

func (t tensorCase) reduce(op string) Program {
	return t.write("reduce "+op+" "+t.String(),
		"cp.reduce.async.bulk.tensor.%dd.global.shared::cta."+op+".tile.bulk_group")
}

func (t tensorCase) write(id, opcode string) Program {
	m, corner, n, tensor := t.tensorMapOf()
	m.Output = true
	c := &code{}
	c.line(".shared .align 1024 .b8 tile[%d];", n)
	c.fill(n, copyThreads, 0)
	from := c.reg("b32")
	end := c.leader()
	c.line("mov.b32 %s, tile;", from)
	c.line(opcode+" [%%map0, %s], [%s];", t.rank, coordinates(corner), from)
	c.drain()
	end()
	kind := t.kind
	if kind == "tf32" {
		kind = "f32"
	}
	r := random(id)
	family := "tensor store"
	if strings.HasPrefix(id, "reduce") {
		family = "tensor reduction"
	}
	return Program{ID: id, Family: family, Block: copyThreads, In: numbers(r, kind, n),
		Out: numbers(r, kind, tensor), Maps: []Map{m}, body: c.text.String()}
}

// multicasts returns programs in which the first block of a cluster loads a box for several
// blocks.
func multicasts() (all []Program) {
	for _, mask := range []int{1, 2, 3, 5, 10, 15} {
		id := fmt.Sprintf("multicast %#x", mask)
		t := tensorCase{kind: "bf16", rank: 2, swizzle: 128}
		m, corner, n, tensor := t.tensorMapOf()
		c := &code{}
		c.line(".shared .align 1024 .b8 tile[%d];", n)
		c.fill(n, copyThreads, 0)
		bar := c.barrier()
		to, p, bit := c.reg("b32"), c.reg("pred"), c.reg("b32")
		hit, skip, first := c.reg("pred"), c.label(), c.label()
		c.line("shr.b32 %s, %d, %%rank;", bit, mask)
		c.line("and.b32 %s, %s, 1;", bit, bit)
		c.line("setp.eq.u32 %s, %s, 0;", hit, bit)
		end := c.leader()
		c.line("@%s bra %s;", hit, first)
		c.line("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%s], %d;", bar, n)
		c.line("%s:", first)
		end()
		c.line("barrier.cluster.arrive.release;\n\tbarrier.cluster.wait.acquire;")
		end = c.leader()
		after := c.label()
		c.line("setp.ne.u32 %s, %%rank, 0;", p)
		c.line("@%s bra %s;", p, after)
		half, mreg := c.reg("b16"), c.reg("b32")
		c.line("mov.b32 %s, %d;", mreg, mask)
		c.line("cvt.u16.u32 %s, %s;", half, mreg)
		c.line("mov.b32 %s, tile;", to)
		c.line("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes."+
			"multicast::cluster [%s], [%%map0, %s], [%s], %s;", to, coordinates(corner), bar, half)
		c.line("%s:", after)
		end()
		c.line("@%s bra %s;", hit, skip)
		c.wait(bar)
		c.line("%s:", skip)
		at := c.reg("b64")
		c.line("mul.wide.u32 %s, %%rank, %d;", at, n)
		c.line("add.u64 %%out, %%out, %s;", at)
		c.dump(n, copyThreads, 0)
		c.line("barrier.cluster.arrive.release;\n\tbarrier.cluster.wait.acquire;")
		all = append(all,
			Program{ID: id, Family: "tensor load", Grid: 4, Cluster: 4, Block: copyThreads,
				In: numbers(random(id), "bf16", max(n, tensor)), Out: pattern(4 * n),
				Maps: []Map{m},
				body: c.text.String()})
	}
	return all
}

// images returns programs that load pixels in im2col mode.
func images() (all []Program) {
	for rank := 3; rank <= 5; rank++ {
		for n := range 8 {
			id := fmt.Sprintf("im2col %dd %d", rank, n)
			r := random(id)
			const channels = 32
			sizes := []int{3, 4, 5, 6, 40}[5-rank:] // images, depth, height, width, channels
			sizes[0] = 3
			m := Map{Type: "bf16", Sizes: sizes, Channels: channels, Pixels: 16, NaN: n%2 == 1}
			tensor := 2
			for _, s := range sizes {
				tensor *= s
			}
			corner := []int{r.IntN(2) * 8} // innermost first: channels, width, ...
			var offsets []string
			for i := rank - 2; i >= 1; i-- {
				lower, upper := -r.IntN(2), -r.IntN(3)
				m.Lower = append([]int{lower}, m.Lower...)
				m.Upper = append([]int{upper}, m.Upper...)
				corner = append(corner, lower+r.IntN(max(1, sizes[i]+upper-lower)))
				offsets = append(offsets, fmt.Sprint(r.IntN(3)))
			}
			corner = append(corner, r.IntN(2))
			bytes := 2 * channels * m.Pixels
			c := &code{}
			c.line(".shared .align 1024 .b8 tile[%d];", bytes)
			c.fill(bytes, copyThreads, 0)
			bar := c.barrier()
			to := c.reg("b32")
			end := c.leader()
			var half []string
			for _, o := range offsets {
				h := c.reg("b16")
				c.line("mov.b16 %s, %s;", h, o)
				half = append(half, h)
			}
			c.line("mov.b32 %s, tile;", to)
			c.line("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%s], %d;", bar, bytes)
			c.line("cp.async.bulk.tensor.%dd.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "+
				"[%s], [%%map0, %s], [%s], {%s};",
				rank, to, coordinates(corner), bar, strings.Join(half, ", "))
			end()
			c.wait(bar)
			c.dump(bytes, copyThreads, 0)
			all = append(all, Program{ID: id, Family: "tensor im2col", Block: copyThreads,
				In: numbers(random(id), "bf16", max(tensor, bytes)), Out: pattern(bytes),
				Maps: []Map{m},
				body: c.text.String()})
		}
	}
	return all
}
