// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package calls

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ptxdsl/ptxdsl/dsl"
	attention "github.com/ptxdsl/ptxdsl/examples/18_attention"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// Heads gives the sizes of attention for heads of the same length, which are stored one after the
// other.
type Heads struct {
	Heads, Queries, Keys int
	Width                int  // elements per row of a head: 64 or 128
	Causal               bool // each query sees the keys up to its own position; the last sees all
}

// Attention computes O = softmax(Q K' / sqrt(Width)) V for each head, with elements of
// runtime.F16 or runtime.BF16. The result of a query that sees no key is zero. AttentionBatch
// supports other widths, sequences of different lengths, and fewer heads of keys and values than
// of queries.
func Attention[E runtime.Element](l *Library, o, q, k, v *runtime.Buffer[E], h Heads) error {
	s := attention.Shape{Type: typeOf[E](), Width: h.Width, Causal: h.Causal}
	n, m := h.Heads*h.Queries*h.Width, h.Heads*h.Keys*h.Width
	err := h.check(s.Type)
	if err == nil {
		err = errors.Join(holds("Q", q, n), holds("O", o, n), holds("K", k, m), holds("V", v, m))
	}
	if err != nil {
		return fmt.Errorf("calls: Attention: %w", err)
	}
	if h.Causal && h.Keys < h.Queries { // some queries see no key
		return AttentionBatch(l, o, q, k, v, Batch{Heads: 1, KV: 1, Width: h.Width, Causal: true,
			Queries: slices.Repeat([]int{h.Queries}, h.Heads),
			Keys:    slices.Repeat([]int{h.Keys}, h.Heads)})
	}
	p, of := l.attention(s, h), func(b *runtime.Buffer[E], rows int) tensor {
		return tensor{b, []int{h.Heads, rows, h.Width}}
	}
	return l.run(p, map[string]any{
		"q": of(q, h.Queries), "k": of(k, h.Keys), "v": of(v, h.Keys), "o": o,
		"n": uint32(h.Queries), "m": uint32(h.Keys), "heads": uint32(h.Heads),
	})
}

// errHalf reports a type of elements for which there is no attention.
var errHalf = errors.New(
	"elements of this type are not supported, expected runtime.F16 or runtime.BF16")

// check returns an error if no kernel supports the type and the sizes.
func (h Heads) check(t isa.Type) error {
	switch {
	case !isHalf(t):
		return errHalf
	case h.Heads < 1 || h.Queries < 1 || h.Keys < 1 || h.Width != 64 && h.Width != 128:
		return fmt.Errorf("%+v, expected positive numbers and a width of 64 or 128", h)
	}
	return nil
}

// attention returns the plan for heads: a kernel with wgmma, with tcgen05, or with mma.sync.
func (l *Library) attention(s attention.Shape, h Heads) plan {
	info := l.device.Info()
	grid := func(tile int) runtime.Config { return runtime.Grid((h.Queries+tile-1)/tile, h.Heads) }
	p := plan{name: s.Name(), build: func(m *dsl.Module) { attention.Build(m, s) },
		config: grid(attention.Queries)}
	switch info.Target {
	case "sm_90a":
		tile := attention.HopperFor(s).Queries()
		tiles := (h.Queries + tile - 1) / tile * h.Heads
		p.name, p.build = "hopper_"+s.Name(), func(m *dsl.Module) { attention.BuildHopper(m, s) }
		p.config = runtime.Grid(min(tiles, info.SMs))
	case "sm_100a", "sm_103a":
		p.name, p.build = "blackwell_"+s.Name(),
			func(m *dsl.Module) { attention.BuildBlackwell(m, s) }
		p.config = grid(attention.BlackwellQueries)
	}
	p.key = p.name
	return p
}

// A Batch describes sequences of tokens that are stored one after the other. A row of Q and O is
// a token with all of its heads. A row of K and V is a token with KV heads, each of which
// Heads/KV query heads share.
type Batch struct {
	Heads, KV     int   // number of query heads, and of key/value heads
	Width         int   // elements per row of a head: a multiple of 32 up to 256
	Queries, Keys []int // number of tokens of each sequence, also 0
	Causal        bool
}

// AttentionBatch computes attention for sequences of different lengths. The result of a query that
// sees no key is zero.
func AttentionBatch[E runtime.Element](l *Library, o, q, k, v *runtime.Buffer[E], b Batch) error {
	x := attention.Batch{
		Shape: attention.Shape{Type: typeOf[E](), Width: b.Width, Causal: b.Causal}, Heads: b.Heads,
		KV: b.KV}
	startsQ, startsK := starts(b.Queries), starts(b.Keys)
	n, m := int(startsQ[len(b.Queries)])*b.Heads*b.Width, int(startsK[len(b.Keys)])*b.KV*b.Width
	err := errors.Join(holds("Q", q, n), holds("O", o, n), holds("K", k, m), holds("V", v, m))
	switch {
	case !isHalf(x.Type):
		err = errHalf
	case b.Heads < 1 || b.KV < 1 || b.Heads%b.KV != 0 || b.Width < 32 || b.Width%32 != 0 ||
		b.Width > 256:
		err = fmt.Errorf(
			"%d heads of queries and %d of keys, of %d elements, expected a multiple, and a multiple of 32 up to 256",
			b.Heads, b.KV, b.Width)
	case slices.ContainsFunc(slices.Concat(b.Queries, b.Keys), func(n int) bool { return n < 0 }):
		err = errors.New("a sequence has a negative number of tokens")
	case len(b.Queries) == 0 || len(b.Queries) != len(b.Keys):
		err = fmt.Errorf("%d sequences of queries and %d of keys, expected as many", len(b.Queries),
			len(b.Keys))
	}
	if err != nil {
		return fmt.Errorf("calls: AttentionBatch: %w", err)
	}
	if n == 0 {
		return nil
	}
	p, lists := l.batch(x, b)
	rows := func(x *runtime.Buffer[E], heads int) tensor {
		return tensor{x, []int{x.Len() / heads / b.Width, heads, b.Width}}
	}
	known := map[string]any{"q": rows(q, b.Heads), "k": rows(k, b.KV), "v": rows(v, b.KV),
		"o": rows(o, b.Heads), "out": o}
	var closing []func() error
	for name, list := range lists {
		buffer, e := runtime.Upload(l.device, list)
		if err = errors.Join(err, e); e == nil {
			known[name], closing = buffer, append(closing, buffer.Close)
		}
	}
	if err == nil {
		err = errors.Join(l.run(p, known), l.device.Sync())
	}
	for _, f := range closing {
		err = errors.Join(err, f())
	}
	return err
}

// batch returns the plan for sequences, and the arrays that its kernel reads.
func (l *Library) batch(x attention.Batch, b Batch) (p plan, lists map[string][]uint32) {
	startsQ, startsK := starts(b.Queries), starts(b.Keys)
	info := l.device.Info()
	if info.Target == "sm_90a" && x.Hopper() && startsK[len(b.Keys)] > 0 {
		p = plan{name: "hopper_" + x.Name(), key: "hopper_" + x.Name(),
			build:  func(m *dsl.Module) { attention.BuildHopperBatch(m, x) },
			config: runtime.Grid(info.SMs)}
		startsOf, tasks := x.HopperTasks(b.Queries, b.Keys, 0, info.SMs)
		return p, map[string][]uint32{"starts": startsOf, "tasks": tasks}
	}
	tiles := (slices.Max(b.Queries) + attention.Queries - 1) / attention.Queries
	p = plan{name: x.Name(), key: x.Name(),
		build:  func(m *dsl.Module) { attention.BuildBatch(m, x) },
		config: runtime.Grid(tiles, b.Heads, len(b.Queries))}
	return p, map[string][]uint32{"starts_q": startsQ, "starts_k": startsK}
}

// starts returns the index at which each sequence starts, and then the end of the last sequence.
func starts(lengths []int) []uint32 {
	list := make([]uint32, 1, len(lengths)+1)
	for i, n := range lengths {
		list = append(list, list[i]+uint32(n))
	}
	return list
}
