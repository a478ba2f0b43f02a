// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ptxdsl/ptxdsl/dsl"
	attention "github.com/ptxdsl/ptxdsl/examples/18_attention"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// A Sequences specifies 16,384 tokens in several sequences, for AttentionBatch.
type Sequences struct {
	Name    string
	Lengths []int
	Share   int // number of heads of queries that share one head of keys
	Page    int // number of tokens per page, or 0
}

// BatchSequences lists sequences of different lengths, and sequences of one length whose heads of
// queries share those of keys, which are stored one after the other or in pages.
func BatchSequences() []Sequences {
	list := []Sequences{{"varied", []int{5000, 3333, 2500, 2000, 1500, 1000, 700, 351}, 1, 0}}
	for _, n := range []int{4096, 16384} {
		lengths := make([]int, 16384/n)
		for i := range lengths {
			lengths[i] = n
		}
		list = append(list, Sequences{fmt.Sprintf("gqa %d", n), lengths, 4, 0},
			Sequences{fmt.Sprintf("paged %d", n), lengths, 4, 128})
	}
	return list
}

// AttentionBatch measures the forward pass of attention in BF16 on Hopper for several sequences.
func AttentionBatch(b *Bench, s Sequences, width int, causal bool) (results []Result, err error) {
	heads := 2048 / width
	x := attention.Batch{
		Shape: attention.Shape{Type: isa.Bf16, Width: width, Causal: causal},
		Heads: heads, KV: heads / s.Share, PageTokens: s.Page,
	}
	j := Job{Group: "attention batch", Name: fmt.Sprintf("%s, width %d", s.Name, width),
		Base: "ours"}
	rows, rowsK := 0, 0
	for _, n := range s.Lengths {
		rows += n
		j.Flop += 4 * float64(2048*n) * float64(n)
	}
	if causal {
		j.Name, j.Flop = j.Name+", causal", j.Flop/2
	}
	var pages []uint32
	if rowsK = rows; s.Page > 0 {
		for _, page := range b.rand.Perm(len(s.Lengths) * s.columns()) {
			pages = append(pages, uint32(page))
		}
		rowsK = len(pages) * s.Page
	}
	known := make(map[string]any)
	defer func() { err = errors.Join(err, closeAll(known)) }()
	for name, n := range map[string]int{"q": rows * heads, "k": rowsK * x.KV, "v": rowsK * x.KV,
		"o": rows * heads} {
		if known[name], err = filledBuffer(b, n*width, runtime.ToBF16); err != nil {
			return nil, err
		}
	}
	c, err := batchContender(b, "ours", x, s, pages, known)
	if err != nil {
		return nil, err
	}
	j.Contenders = []Contender{c}
	results, err = b.Measure(j)
	o := known["o"].(*runtime.Buffer[runtime.BF16])
	return results, errors.Join(err, repeats(b, j, o, c.Run))
}

// columns returns the number of columns of the table of pages.
func (s Sequences) columns() int {
	if s.Page == 0 {
		return 0
	}
	return (slices.Max(s.Lengths) + s.Page - 1) / s.Page
}

// closeAll frees the buffers among some arguments.
func closeAll(known map[string]any) (err error) {
	for _, x := range known {
		if x, ok := x.(interface{ Close() error }); ok {
			err = errors.Join(err, x.Close())
		}
	}
	return err
}

// batchContender returns a contender for attention of sequences that have as many queries as keys.
// known has the buffers q, k, v and o; batchContender adds those of the other arguments.
func batchContender(b *Bench, name string, x attention.Batch, s Sequences, pages []uint32,
	known map[string]any) (Contender, error) {
	t, blocks := &kerneltest.T{Device: b.Device}, b.Device.Info().SMs
	k, err := t.Kernel("hopper_"+x.Name(),
		func(m *dsl.Module) { attention.BuildHopperBatch(m, x) })
	if err != nil {
		return Contender{}, err
	}
	starts, tasks := x.HopperTasks(s.Lengths, s.Lengths, s.columns(), blocks)
	lists := map[string][]uint32{"starts": starts, "tasks": tasks, "pages": pages}
	var args []any
	for _, p := range k.Params() {
		data := p.Name
		if data == "out" {
			data = "o"
		}
		if list, ok := lists[data]; ok {
			if known[data], err = runtime.Upload(b.Device, list); err != nil {
				return Contender{}, err
			}
		}
		arg := known[data]
		if p.Box != nil {
			of, heads := arg.(*runtime.Buffer[runtime.BF16]), x.Heads
			if data == "k" || data == "v" {
				heads = x.KV
			}
			sizes := []int{of.Len() / heads / x.Width, heads, x.Width}
			if arg, err = k.Tensor(p.Name, of, sizes); err != nil {
				return Contender{}, err
			}
		}
		args = append(args, arg)
	}
	grid := runtime.Grid(blocks).On(b.Stream)
	return Contender{name, func() error { return k.Launch(grid, args...) }}, nil
}
