// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// gemm builds a persistent, warp-specialized matmul for sm_90a, like the examples.
func gemm(m *dsl.Module) { gemmThen(m, func(*dsl.Kernel, *dsl.Accumulator, u32) {}) }

// gemmThen is gemm with an epilogue that runs before the accumulator is stored; it gets the tile's
// first column.
func gemmThen(m *dsl.Module, then func(k *dsl.Kernel, acc *dsl.Accumulator, col u32)) {
	k := m.Kernel("gemm", dsl.Warpgroups(3), dsl.Cluster(2))
	a := k.TensorMap("a", isa.Bf16, dsl.Box{Rows: 128, Cols: 64}, dsl.Swizzle128)
	b := k.TensorMap("b", isa.Bf16, dsl.Box{Rows: 256, Cols: 64}, dsl.Swizzle128)
	d := k.TensorMap("d", isa.Bf16, dsl.Box{Rows: 64, Cols: 256}, dsl.Swizzle128)
	rows, cols, depth := dsl.Param[dsl.U32](k, "m"), dsl.Param[dsl.U32](k, "n"),
		dsl.Param[dsl.U32](k, "k")
	ab := k.Pipeline("ab", 3, a.Feed(), b.Feed().Multicast())
	out := k.Output("out", d, 2)
	tiles := k.Persistent(rows.DivI(128), cols.DivI(256), 8)
	k.Roles(
		dsl.OnWarpgroup(0, "load", func() {
			for at := range tiles.Each() {
				for s := range ab.Produce(depth.DivI(64)) {
					s.Load(a, dsl.TileAt(at.Row, s.Iteration()))
					s.Load(b, dsl.TileAt(at.Col, s.Iteration()))
				}
			}
		}).Regs(40),
		dsl.OnWarpgroups(1, 2, "math", func(half u32) {
			for at := range tiles.Each() {
				acc := k.Accumulator(64, 256, isa.F32)
				for s := range ab.Consume(depth.DivI(64)) {
					acc.MMA(s.Tile(a).Part(half, 2), s.Tile(b))
				}
				col := at.Col.MulI(256)
				then(k, acc, col)
				out.Store(acc, 0, half, at.Row.MulI(2).Add(half).MulI(64), col)
			}
			out.Wait()
		}).Regs(232),
	)
}

func text(t testing.TB, build func(*dsl.Module)) string {
	t.Helper()
	m := dsl.New("m", "sm_90a")
	build(m)
	s, err := m.Text()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestConcurrent builds modules in several goroutines: all must be the same, byte for byte.
func TestConcurrent(t *testing.T) {
	want := text(t, gemm)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 4 {
				if got := text(t, gemm); got != want {
					t.Error("two builds of one kernel differ")
				}
			}
		})
	}
	group.Wait()
}

// FuzzBuild makes builder calls that depend on the input: nothing panics, and a module without
// findings can be printed.
func FuzzBuild(f *testing.F) {
	for seed := range uint64(64) {
		r := rand.New(rand.NewPCG(seed, 1))
		b := make([]byte, 40+r.IntN(100))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c := &caller{bytes: b}
		m := dsl.New("fuzz",
			[]string{"sm_80", "sm_90", "sm_90a", "sm_100a", "sm_120", "sm_75", "sm_7"}[c.next(7)])
		c.k = m.Kernel("k", dsl.Threads(32*c.next(40)))
		c.other = m.Kernel("other")
		c.u = []u32{{}, c.k.U32(1), c.k.U32(0).Var(), c.other.U32(3).Var()}
		c.f = []f32{{}, c.k.F32(1), c.k.F32(0).Var(), c.other.F32(3).Var()}
		c.p = []dsl.Reg[dsl.Pred]{{}, c.k.TID().X.EQI(0)}
		c.a = []dsl.Array[dsl.F32]{{}, dsl.Global[dsl.F32](c.k, "a")}
		c.calls(0)
		if s, err := m.Text(); err == nil && s == "" {
			t.Error("no findings and no text")
		}
	})
}

// A caller makes builder calls from bytes.
type caller struct {
	bytes    []byte
	k, other *dsl.Kernel
	u        []u32
	f        []f32
	p        []dsl.Reg[dsl.Pred]
	a        []dsl.Array[dsl.F32]
	tiles    []dsl.SharedTile
	maps     []*dsl.TensorMap
	n        int
}

func (c *caller) next(n int) int {
	if len(c.bytes) == 0 {
		return 0
	}
	b := c.bytes[0]
	c.bytes = c.bytes[1:]
	return int(b) % n
}

func pick[T any](c *caller, list []T) (x T) {
	if len(list) == 0 {
		return x
	}
	return list[c.next(len(list))]
}

// calls makes calls until the bytes are used up or the depth is too great.
func (c *caller) calls(depth int) {
	for len(c.bytes) > 0 && c.n < 400 {
		c.n++
		k := c.k
		name := string(rune('a'+c.next(26))) + string(rune('0'+c.next(12)))
		switch c.next(40) {
		case 0:
			c.u = append(c.u, pick(c, c.u).Add(pick(c, c.u)))
		case 1:
			c.u = append(c.u, pick(c, c.u).MulI(int64(c.next(256)-128)))
		case 2:
			c.f = append(c.f, pick(c, c.f).FMA(pick(c, c.f), pick(c, c.f)))
		case 3:
			c.f = append(c.f, pick(c, c.f).Div(pick(c, c.f), dsl.Mod(name)))
		case 4:
			c.p = append(c.p, pick(c, c.u).LT(pick(c, c.u)))
		case 5:
			c.p = append(c.p, pick(c, c.p).And(pick(c, c.p)).Not())
		case 6:
			c.f = append(c.f, dsl.Select(pick(c, c.p), pick(c, c.f), pick(c, c.f)))
		case 7:
			c.f = append(c.f, dsl.To[dsl.F32](pick(c, c.u)))
		case 8:
			c.u = append(c.u, dsl.Bits[dsl.U32](pick(c, c.f)))
		case 9:
			pick(c, c.u).Set(pick(c, c.u))
		case 10:
			c.u = append(c.u, pick(c, c.u).Var().Named(name))
		case 11:
			c.a = append(c.a, pick(c, c.a).At(pick(c, c.u)))
		case 12:
			c.f = append(c.f, pick(c, c.a).Load(pick(c, c.u)))
		case 13:
			pick(c, c.a).Store(pick(c, c.u), pick(c, c.f))
		case 14:
			c.f = append(c.f, pick(c, c.a).LoadVec(pick(c, c.u), c.next(18))...)
		case 15:
			pick(c, c.a).StoreVec(pick(c, c.u), c.f[:c.next(len(c.f))])
		case 16:
			c.a = append(c.a, dsl.Shared[dsl.F32](k, name, c.next(200)))
		case 17:
			c.f = append(c.f, pick(c, c.f).ShuffleXor(int64(c.next(40))), pick(c, c.f).WarpSum())
		case 18:
			k.Sync()
		case 19:
			k.Ins(name+".u32", pick(c, c.u), c.next(9), pick(c, c.f), nil, "%"+name)
		case 20:
			k.Ins("mad.lo.u32", pick(c, c.u), c.next(9), pick(c, c.u), pick(c, c.u))
		case 21:
			k.Break()
		case 22:
			k.ContinueIf(pick(c, c.p))
		case 23:
			k.Return()
		case 24:
			k.PlaceLabel(k.NewLabel(name))
		case 25:
			k.BranchIf(pick(c, c.p), k.NewLabel(name))
		case 26:
			c.maps = append(c.maps,
				k.TensorMap(name, isa.Type(c.next(70)),
					dsl.Box{Rows: c.next(256), Cols: c.next(256)}, dsl.Swizzle(32*c.next(6))))
		case 27:
			c.tiles = append(c.tiles,
				k.SharedTile(name,
					dsl.Tile{Type: isa.Type(c.next(70)), Rows: c.next(64), Cols: c.next(128),
						Swizzle: dsl.Swizzle(32 * c.next(6))}))
		case 28:
			k.Accumulator(c.next(256), c.next(256), isa.F32).MMA(pick(c, c.tiles), pick(c, c.tiles))
		case 29:
			dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.Type(c.next(70)), isa.F32), c.next(128),
				c.next(128)).MMA(pick(c, c.tiles), pick(c, c.u), pick(c, c.tiles), pick(c, c.u))
		case 30:
			b := k.Barriers(name, c.next(5), c.next(200))
			b.AtI(c.next(6)).Arrive()
			b.At(pick(c, c.u)).Wait(pick(c, c.u))
		case 31:
			k.CopyAsync(pick(c, c.tiles), pick(c, c.a).Addr(), k.U64(8))
		case 32:
			if m := pick(c, c.maps); m != nil {
				m.Load(pick(c, c.tiles), pick(c, c.u), pick(c, c.u), k.Barrier(name, 1))
				m.Store(pick(c, c.tiles), pick(c, c.u), pick(c, c.u))
			}
		case 33:
			c.f = append(c.f,
				dsl.BlockReduce(pick(c, c.f), name, func(a, b f32) f32 { return a.Max(b) }))
		default:
			if depth > 6 {
				continue
			}
			c.nested(depth, name)
		}
	}
}

// nested makes calls in the body of a condition, a loop or another construct.
func (c *caller) nested(depth int, name string) {
	k := c.k
	inner := func() { c.calls(depth + 1) }
	switch c.next(8) {
	case 0:
		k.If(pick(c, c.p), inner)
	case 1:
		k.If(pick(c, c.p), inner, inner)
	case 2:
		for i := range k.Range(pick(c, c.u), pick(c, c.u)) {
			c.u = append(c.u, i)
			inner()
			if c.next(9) == 0 {
				break
			}
		}
	case 3:
		k.While(func() dsl.Reg[dsl.Pred] { return pick(c, c.p) }, inner)
	case 4:
		k.When(pick(c, c.p), inner)
	case 5:
		k.Switch(pick(c, c.u), inner, inner)
	case 6:
		k.Roles(dsl.OnWarp(c.next(9), name, inner),
			dsl.OnWarps(c.next(9), c.next(9), name, func(u32) { inner() }))
	case 7:
		p := k.AsyncPipeline(name, c.next(6),
			dsl.Tile{Type: isa.F16, Rows: c.next(128), Cols: c.next(70),
				Swizzle: dsl.Swizzle(32 * c.next(5))})
		p.Run(pick(c, c.u), func(_ u32, s dsl.AsyncStage) { c.tiles = append(c.tiles, s.Tile(0)) },
			func(u32, dsl.AsyncStage) { inner() })
	}
}
