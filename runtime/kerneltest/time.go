// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package kerneltest

import (
	"errors"
	"slices"
	"time"
)

// Median returns the duration of a launch: the median of 30 launches, measured by the device.
// Launches in the first 0.1 s are not counted, because the clock of an idle device is slower.
func (t *T) Median(launch func() error) (time.Duration, error) {
	first, e1 := t.Device.Event()
	last, e2 := t.Device.Event()
	if err := errors.Join(e1, e2); err != nil {
		return 0, err
	}
	var list []time.Duration
	for begin := time.Now(); len(list) < 30; {
		warm := time.Since(begin) > time.Second/10
		if err := errors.Join(first.Record(nil), launch(), last.Record(nil),
			last.Sync()); err != nil {
			return 0, err
		}
		took, err := last.Since(first)
		if err != nil {
			return 0, err
		}
		if warm {
			list = append(list, took)
		}
	}
	slices.Sort(list)
	return list[len(list)/2], errors.Join(first.Close(), last.Close())
}
