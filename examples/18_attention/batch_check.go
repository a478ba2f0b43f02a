// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package attention

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// BatchTargets are the PTX targets for which the kernel for batches is built and tested.
var BatchTargets = []string{"sm_80", "sm_90", "sm_120"}

// Variants returns the test configurations of all kernels.
func Variants() []kerneltest.Variant {
	return slices.Concat(batchVariants(), hopperBatchVariants(), tensorVariants(), fp8Variants(),
		backwardVariants(), hopperBackwardVariants(), mlaVariants())
}

// batchVariants returns one test configuration for each option of the kernel for batches.
func batchVariants() []kerneltest.Variant {
	var list []kerneltest.Variant
	add := func(option, name string, b Batch) {
		list = append(list, kerneltest.Variant{
			Option: option, Name: name, Targets: BatchTargets,
			Build: func(m *dsl.Module) { BuildBatch(m, b) },
			Check: func(t *kerneltest.T) error { return CheckBatch(t, b) },
			Why:   "probabilities of at most 1 and the result are rounded to the type",
		})
	}
	for _, causal := range []bool{false, true} {
		name := "all keys"
		if causal {
			name = "causal"
		}
		add("attention forward with variable length", name,
			Batch{Shape{isa.Bf16, 64, causal}, 2, 2, 0})
		add("attention with a paged KV cache", name, Batch{Shape{isa.F16, 128, causal}, 4, 2, 64})
		add("attention with GQA and MQA", "4 heads of queries for 2 of keys, "+name,
			Batch{Shape{isa.Bf16, 64, causal}, 4, 2, 0})
		add("attention with GQA and MQA", "3 heads of queries for 1 of keys, "+name,
			Batch{Shape{isa.F16, 64, causal}, 3, 1, 0})
	}
	for _, width := range []int{64, 96, 128, 160, 192, 256} {
		add("attention with head dimensions of 64 to 256", fmt.Sprint(width),
			Batch{Shape{isa.Bf16, width, true}, 2, 1, 0})
	}
	return list
}

// tensorVariants returns the test configurations of the kernels that use the tensor cores of one
// target, for heads of the same length.
func tensorVariants() []kerneltest.Variant {
	var list []kerneltest.Variant
	for _, s := range []Shape{{isa.F16, 64, false}, {isa.Bf16, 64, true}, {isa.Bf16, 128, false},
		{isa.F16, 128, true}} {
		add := func(option, target string, build func(*dsl.Module, Shape)) {
			list = append(list, kerneltest.Variant{
				Option: option, Name: s.Name(), Targets: []string{target},
				Build: func(m *dsl.Module) { build(m, s) },
				Check: func(t *kerneltest.T) error {
					return checkShape(t, s, size{2, 1, 1}, size{2, 70, 133}, size{1, 129, 257})
				},
				Why: "probabilities of at most 1 and the result are rounded to the type",
			})
		}
		add("attention with wgmma", "sm_90a", BuildHopper)
		add("attention with tcgen05", "sm_100a", BuildBlackwell)
	}
	return list
}

// CheckBatch runs the kernel on sequences of different lengths: a single query, no query, no key,
// and queries that see no key if they are causal. It compares the results with those of Reference.
// Some values are edge values.
func CheckBatch(t *kerneltest.T, b Batch) error { return b.check(t, false) }

// check is CheckBatch for BuildBatch, or for BuildHopperBatch.
func (b Batch) check(t *kerneltest.T, hopper bool) error {
	if b.Type == isa.F16 {
		return checkBatch(t, b, hopper, kerneltest.F16,
			kerneltest.F16.ULPs(0.5).Plus(kerneltest.Abs(0x1p-12)))
	}
	return checkBatch(t, b, hopper, kerneltest.BF16,
		kerneltest.BF16.ULPs(0.5).Plus(kerneltest.Abs(0x1p-9)))
}

func checkBatch[E runtime.Element](t *kerneltest.T, b Batch, hopper bool, f kerneltest.Format[E],
	tolerance kerneltest.Tolerance) error {
	queries, keys := []int{1, 70, 5, 129, 0, 3, 67}, []int{130, 70, 77, 200, 4, 0, 2}
	startsQ, startsK := starts(queries), starts(keys)
	wideQ, wideK := b.Heads*b.Width, b.KV*b.Width
	allQ, allK := int(startsQ[len(queries)]), int(startsK[len(keys)])
	rows := allK
	var table []uint32
	most := 0
	if b.PageTokens > 0 {
		most = (slices.Max(keys) + b.PageTokens - 1) / b.PageTokens
		table = pageTable(t, keys, most, b.PageTokens)
		rows = len(table) * b.PageTokens
	}
	q, ks, vs := kerneltest.Random(t, f, allQ*wideQ), kerneltest.Random(t, f, rows*wideK),
		kerneltest.Random(t, f, rows*wideK)
	// at returns the row in ks and vs of a key of a sequence.
	at := func(s, key int) int {
		if b.PageTokens == 0 {
			return int(startsK[s]) + key
		}
		return int(table[s*most+key/b.PageTokens])*b.PageTokens + key%b.PageTokens
	}
	unusual(f, vs[at(1, 0)*wideK:])
	if b.PageTokens > 0 { // the last page of a sequence is not full
		for s, n := range keys {
			for key := n; key%b.PageTokens != 0; key++ {
				for i := range wideK {
					ks[at(s, key)*wideK+i], vs[at(s, key)*wideK+i] = f.From(math.NaN()),
						f.From(math.NaN())
				}
			}
		}
	}
	q[len(q)-1] = f.From(math.NaN())
	want := make([]float64, len(q))
	for s := range queries {
		for head := range b.Heads {
			kv := head / (b.Heads / b.KV)
			var x, y, z []E
			for i := range queries[s] {
				x = append(x, q[(int(startsQ[s])+i)*wideQ+head*b.Width:][:b.Width]...)
			}
			for i := range keys[s] {
				y = append(y, ks[at(s, i)*wideK+kv*b.Width:][:b.Width]...)
				z = append(z, vs[at(s, i)*wideK+kv*b.Width:][:b.Width]...)
			}
			for i, v := range Reference(f.Decode(x), f.Decode(y), f.Decode(z), b.Width, b.Causal) {
				want[(int(startsQ[s])+i/b.Width)*wideQ+head*b.Width+i%b.Width] = v
			}
		}
	}
	out := make([]E, len(q))
	args := []any{kerneltest.In(q).Tensor(allQ, b.Heads, b.Width),
		kerneltest.In(ks).Tensor(rows, b.KV, b.Width),
		kerneltest.In(vs).Tensor(rows, b.KV, b.Width),
		kerneltest.Out(out).Tensor(allQ, b.Heads, b.Width)}
	launch := b.launch
	if hopper {
		launch = b.launchHopper
	}
	if err := launch(t, queries, keys, table, most, args); err != nil {
		return err
	}
	return kerneltest.Compare(t, fmt.Sprintf("%d sequences", len(queries)), f.Decode(out), want,
		tolerance)
}

// launch runs the kernel. args are q, k, v and o.
func (b Batch) launch(t *kerneltest.T, queries, keys []int, table []uint32, most int,
	args []any) error {
	kernel, err := t.Kernel(b.Name(), func(m *dsl.Module) { BuildBatch(m, b) })
	if err != nil {
		return err
	}
	args = append(args, kerneltest.In(starts(queries)), kerneltest.In(starts(keys)))
	if b.PageTokens > 0 {
		args = append(args, kerneltest.In(table), most)
	}
	grid := runtime.Grid((slices.Max(queries)+Queries-1)/Queries, b.Heads, len(queries))
	return t.Launch(kernel, grid, args...)
}

// starts returns the index at which each sequence starts, and then the end of the last sequence.
func starts(lengths []int) []uint32 {
	list := make([]uint32, 1, len(lengths)+1)
	for i, n := range lengths {
		list = append(list, list[i]+uint32(n))
	}
	return list
}

// pageTable assigns pages to sequences in random order. Entries after the last page of a sequence
// are out of range, to detect a kernel that uses them.
func pageTable(t *kerneltest.T, keys []int, most, page int) []uint32 {
	order := t.Rand.Perm(len(keys) * most)
	table := make([]uint32, len(keys)*most)
	for s, n := range keys {
		for i := range most {
			table[s*most+i] = uint32(order[s*most+i])
			if i*page >= n {
				table[s*most+i] = 1 << 20
			}
		}
	}
	return table
}

// checkAll returns a check that runs the checks of all given variants.
func checkAll(variants []kerneltest.Variant) func(*kerneltest.T) error {
	return func(t *kerneltest.T) error {
		var errs []error
		for _, v := range variants {
			if err := v.Check(t); err != nil {
				errs = append(errs, fmt.Errorf("%s, %s: %w", v.Option, v.Name, err))
			}
		}
		return errors.Join(errs...)
	}
}
