// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"errors"
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// differKernel builds a kernel that counts the words in which two arrays of n words differ.
func differKernel(m *dsl.Module) {
	k := m.Kernel("differ", dsl.Threads(256))
	x, y, count := dsl.Global[dsl.U32](k, "x"), dsl.Global[dsl.U32](k, "y"),
		dsl.Global[dsl.U32](k, "count")
	n := dsl.Param[dsl.U32](k, "n")
	first := k.CTAID().X.MulI(256).Add(k.TID().X)
	for i := range k.RangeStep(first, n, k.NCTAID().X.MulI(256)) {
		k.If(x.Load(i, dsl.NC).NE(y.Load(i, dsl.NC)),
			func() { count.Reduce("add", k.U32(0), k.U32(1)) })
	}
}

// repeats runs a contender b.Repeats times, or never if that is 0, and returns an error if the bits
// of a result d differ from those of the first run.
func repeats[D runtime.Element](b *Bench, j Job, d *runtime.Buffer[D], run func() error) error {
	if b.Repeats == 0 {
		return nil
	}
	t := &kerneltest.T{Device: b.Device}
	k, e1 := t.Kernel("differ", differKernel)
	first, e2 := runtime.Alloc[D](b.Device, d.Len())
	count, e3 := runtime.Upload(b.Device, []uint32{0})
	if err := errors.Join(e1, e2, e3, run(), first.On(b.Stream).CopyFrom(d)); err != nil {
		return err
	}
	words := d.Len() * typeOf[D]().Bits() / 32
	grid := runtime.Grid(8 * b.Device.Info().SMs).On(b.Stream)
	for range b.Repeats {
		if err := errors.Join(run(),
			k.Launch(grid, first.Address(), d.Address(), count, words)); err != nil {
			return err
		}
	}
	if err := b.Stream.Sync(); err != nil {
		return err
	}
	n, err := runtime.Download(count)
	if err == nil && n[0] != 0 {
		err = fmt.Errorf("%s %s: %d words differ between %d runs with the same operands", j.Group,
			j.Name, n[0], b.Repeats)
	}
	return errors.Join(err, first.Close(), count.Close())
}
