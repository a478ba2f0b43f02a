// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package kerneltest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ptxdsl/ptxdsl/runtime"
)

// Open returns a T for a device name of runtime.Open. The name "" stands for the first GPU, or
// for the emulator if there is no GPU. The device is closed when the test ends.
func Open(t testing.TB, device string) *T {
	t.Helper()
	d, err := runtime.Open(device)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	k := New(d)
	if testing.Short() && k.Budget > 0 {
		k.Budget /= 14
	}
	return k
}

// A DeviceRun is the result of a check on one device.
type DeviceRun struct {
	Device  string // name for runtime.Open
	Results []Result
	Notes   []string
	Time    time.Duration
}

// Runs has the results of a check on several devices.
type Runs []DeviceRun

// Run runs a check in a subtest for each target. A target such as "sm_90a" stands for an emulated
// device; another name, such as "cuda:0", is passed to runtime.Open. Each subtest logs its
// results, which go test -v shows.
func Run(t *testing.T, check func(*T) error, targets ...string) Runs {
	t.Helper()
	var runs Runs
	for _, target := range targets {
		device := target
		if strings.HasPrefix(target, "sm_") {
			device = "emu:" + target
		}
		t.Run(target, func(t *testing.T) {
			k := Open(t, device)
			start := time.Now()
			err := check(k)
			run := DeviceRun{device, k.results, k.notes, time.Since(start)}
			runs = append(runs, run)
			t.Log(run)
			switch {
			case errors.Is(err, ErrSkip):
				t.Skip(err)
			case err != nil:
				t.Error(err)
			case len(k.results) == 0:
				t.Error("the check function compares no array")
			}
		})
	}
	return runs
}

// String returns a table with a line for each comparison.
func (r DeviceRun) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %v", r.Device, r.Time.Round(time.Millisecond))
	for _, x := range r.Results {
		fmt.Fprintf(&b, "\n  %s", x)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "\n  %s", n)
	}
	return b.String()
}

// String returns the result in one line.
func (r Result) String() string {
	if r.Wrong > 0 {
		return (&Mismatch{r}).Error()
	}
	s := fmt.Sprintf("%s: %d elements", r.What, r.Elements)
	if r.Error == 0 {
		return s + " equal"
	}
	return fmt.Sprintf("%s, largest error %.3g, allowed %.3g (%v)", s, r.Error, r.Allowed,
		r.Tolerance)
}

// Tight fails the test if a tolerance is more than factor times the largest error that occurred,
// over all devices and sizes. It finds tolerances that are so large that they would hide
// mistakes. With go test -short it does nothing, because errors are smaller at small sizes.
func (r Runs) Tight(t testing.TB, factor float64) {
	t.Helper()
	if t.Failed() || testing.Short() {
		return
	}
	shares := make(map[Tolerance]float64)
	var order []Tolerance
	for _, run := range r {
		for i := range run.Results {
			x := &run.Results[i]
			base := x.Tolerance.base()
			if _, ok := shares[base]; !ok {
				order = append(order, base)
			}
			shares[base] = max(shares[base], x.Share())
		}
	}
	for _, tolerance := range order {
		if share := shares[tolerance]; tolerance != (Tolerance{}) && share*factor < 1 {
			t.Errorf("the tolerance %v is %.1f times the largest error, expected at most %v times",
				tolerance, 1/share, factor)
		}
	}
}
