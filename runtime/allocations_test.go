// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !race

// Under the race detector pools drop entries, so launches do allocate.

package runtime_test

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/internal/fakecuda"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// TestAllocations checks that launches do not allocate.
func TestAllocations(t *testing.T) {
	d := fakecuda.New()
	declare(d)
	l, err := d.Library()
	check(t, err)
	c, err := l.Open(0)
	check(t, err)
	quiet := quietDevice{c}
	dev := runtime.On(quiet)
	m := must[*runtime.Module](t)(dev.Load(runtime.PTX(vecadd), runtime.Cache("")))
	k := must[*runtime.Kernel](t)(m.Kernel("vecadd"))
	x := must[*runtime.Buffer[float32]](t)(runtime.Alloc[float32](dev, 1000))
	n := uint32(1000)
	if each := testing.AllocsPerRun(100, func() {
		n++
		if err := k.Launch(runtime.Threads(1000), x, x, x, n); err != nil {
			t.Fatal(err)
		}
	}); each != 0 {
		t.Errorf("a launch allocates %v times", each)
	}
	check(t, dev.Close())
}
