// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ptxdsl/ptxdsl/runtime"
)

// measure prints the times of launches, which are measured one by one, after warm-up launches.
func (f *runFlags) measure(c *call, d *runtime.Device, launch func() error) error {
	first, e1 := d.Event()
	last, e2 := d.Event()
	if err := errors.Join(e1, e2); err != nil {
		return err
	}
	for range min(3, f.time) {
		if err := launch(); err != nil {
			return err
		}
	}
	var times []time.Duration
	for range f.time {
		if err := errors.Join(first.Record(nil), launch(), last.Record(nil),
			last.Sync()); err != nil {
			return err
		}
		took, err := last.Since(first)
		if err != nil {
			return err
		}
		times = append(times, took)
	}
	slices.SortFunc(times, cmp.Compare[time.Duration])
	micro := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
	fmt.Fprintf(c.stdout, "time: %.2f us, the median of %d launches (%.2f to %.2f)\n",
		micro(times[len(times)/2]), len(times), micro(times[0]), micro(times[len(times)-1]))
	return nil
}
