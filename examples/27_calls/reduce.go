// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package calls

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// buildSum adds to m a kernel that replaces elements first to end-1 of some vectors by their sum.
// vectors has the address of each, which may be in the memory of another device.
func buildSum[E dsl.Scalar](m *dsl.Module) {
	k := m.Kernel("sum", dsl.Threads(copyThreads))
	vectors, devices := dsl.Global[dsl.U64](k, "vectors"), dsl.Param[dsl.U32](k, "devices")
	first, end := dsl.Param[dsl.U32](k, "first"), dsl.Param[dsl.U32](k, "end")
	vector := func(i dsl.Reg[dsl.U32]) dsl.Array[E] {
		return dsl.Pointer[E](vectors.Load(i), isa.Global)
	}
	start := first.Add(k.CTAID().X.MadI(copyThreads, k.Thread()))
	for i := range k.RangeStep(start, end, k.NCTAID().X.MulI(copyThreads)) {
		sum := dsl.To[dsl.F32](vector(k.U32(0)).Load(i)).Var()
		for d := range k.Range(k.U32(1), devices) {
			sum.Set(sum.Add(dsl.To[dsl.F32](vector(d).Load(i))))
		}
		for d := range k.Range(k.U32(0), devices) {
			vector(d).Store(i, dsl.To[E](sum))
		}
	}
}

// AllReduce replaces the vectors of several devices, one for each library, by their sum. Sums are
// in F32, in the order of the devices, and are rounded once. Each device adds one part of the
// vectors, and reads and writes the memory of the others. The call waits for earlier work of the
// devices, and for its own. Example 24_allreduce has a kernel for devices that are connected by a
// switch which adds.
func AllReduce[E runtime.Element](all []*Library, vectors []*runtime.Buffer[E]) error {
	build, err := map[isa.Type]func(*dsl.Module){isa.F32: buildSum[dsl.F32],
		isa.F16: buildSum[dsl.F16], isa.Bf16: buildSum[dsl.BF16]}[typeOf[E]()], error(nil)
	switch {
	case build == nil:
		err = errTypes
	case len(all) == 0 || len(all) != len(vectors) || slices.Contains(all, nil) ||
		slices.Contains(vectors, nil):
		err = fmt.Errorf("%d libraries and %d vectors, expected as many, at least one, and no nil",
			len(all), len(vectors))
	default:
		for i, v := range vectors {
			err = errors.Join(err, holds(fmt.Sprintf("vector %d", i), v, vectors[0].Len()))
		}
	}
	if err == nil {
		err = connect(all)
	}
	if err != nil {
		return fmt.Errorf("calls: AllReduce: %w", err)
	}
	var addresses []uint64
	for _, v := range vectors {
		addresses = append(addresses, uint64(v.Address()))
	}
	n := vectors[0].Len()
	tables := make([]*runtime.Buffer[uint64], len(all))
	for i, l := range all {
		if tables[i], err = runtime.Upload(l.device, addresses); err != nil {
			return err
		}
		first, end := n*i/len(all), n*(i+1)/len(all)
		if first == end {
			continue
		}
		blocks := min((end-first+copyThreads-1)/copyThreads, 4*l.device.Info().SMs)
		err = errors.Join(err, l.run(plan{"sum", fmt.Sprint("sum", typeOf[E]()), build,
			runtime.Grid(blocks)}, map[string]any{"vectors": tables[i],
			"devices": uint32(len(all)), "first": uint32(first), "end": uint32(end)}))
	}
	for i, l := range all {
		err = errors.Join(err, l.device.Sync(), tables[i].Close())
	}
	return err
}

// connect waits for the devices, and lets each access the memory of the others.
func connect(all []*Library) error {
	for _, l := range all {
		if err := l.device.Sync(); err != nil {
			return err
		}
		for _, other := range all {
			if other == l || l.peers[other.device] {
				continue
			}
			if err := l.device.Reach(other.device); err != nil {
				return err
			}
			l.peers[other.device] = true
		}
	}
	return nil
}
