// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package bench measures the kernels of the examples on a GPU and compares them with the
// installed libraries, in one process. The contenders alternate, use random data, and start with
// a cold L2 cache. The results are medians and their ratios.
package bench

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	gort "runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/ptxdsl/ptxdsl/runtime"
)

// A Contender is one implementation of a job.
type Contender struct {
	Name string
	Run  func() error // submits the work once to the stream of the Bench
}

// A Job is a task that several contenders perform.
type Job struct {
	Group, Name string
	Flop        float64 // number of operations, or
	Bytes       float64 // number of bytes that must be moved
	Base        string  // name of the contender with which the others are compared
	Contenders  []Contender
	// number of bytes that must be moved, if Flop is 0
	Batch int
}

// A Result is the measured time of one contender.
type Result struct {
	Group     string  `json:"group"`
	Job       string  `json:"job"`
	Contender string  `json:"contender"`
	Micro     float64 `json:"microseconds"` // median time
	Low       float64 `json:"low"`          // 10th percentile
	High      float64 `json:"high"`         // 90th percentile
	Rate      float64 `json:"rate"`
	Unit      string  `json:"unit"` // TFLOP/s or GB/s
	Ratio     float64 `json:"ratio"`
	Base      string  `json:"base"`
	Clock     int     `json:"sm_mhz"` // median clock during the job; 0 if unknown
	Watt      int     `json:"watt"`
	Error     string  `json:"error,omitempty"`
	// Deviation is the relative error of some elements, in the norm: the norm of the difference
	// from the product in float64, divided by the norm of the product. It is 0 if it was not
	// computed.
	Deviation float64 `json:"deviation,omitempty"`
	Kernel    string  `json:"kernel,omitempty"` // the kernel that a library call chose
}

// A Bench measures on one device.
type Bench struct {
	Device *runtime.Device
	Stream *runtime.Stream
	Rounds int
	Warm   time.Duration // how long a job runs before it is measured
	// Repeats is how often our kernels are run again to compare the bits of their results, or 0 for
	// never: matrix products, rows and forward attention.
	Repeats int
	Trials  io.Writer // destination for the times of all kernels that a library call tries, or nil
	rand    *rand.Rand
	cold    *runtime.Buffer[uint32] // buffer that is several times as large as the L2 cache
	first   []*runtime.Event
	last    []*runtime.Event
	meter   *meter
}

// New returns a Bench for a device. rounds is the number of measurements per contender. Closing
// the device also closes the resources of the Bench, except those that Close releases.
func New(d *runtime.Device, rounds int) (*Bench, error) {
	b := &Bench{Device: d, Rounds: rounds, Warm: 200 * time.Millisecond,
		rand: rand.New(rand.NewPCG(3, 4))}
	var err error
	if b.Stream, err = d.Stream(); err != nil {
		return nil, err
	}
	if b.cold, err = runtime.Alloc[uint32](d, max(d.Info().L2, 32<<20)); err != nil {
		return nil, err
	}
	for range rounds {
		first, e1 := d.Event()
		last, e2 := d.Event()
		if err := errors.Join(e1, e2); err != nil {
			return nil, err
		}
		b.first, b.last = append(b.first, first), append(b.last, last)
	}
	b.meter = newMeter(d.Info().Bus)
	return b, nil
}

// Close releases the resources that do not belong to the device.
func (b *Bench) Close() { b.meter.close() }

// Meter returns a description of the source of clock and power readings, or why there are none.
func (b *Bench) Meter() string { return b.meter.origin }

// Measure measures the contenders of a job, in alternation.
func (b *Bench) Measure(j Job) ([]Result, error) {
	batch := max(1, j.Batch)
	times := make([][]time.Duration, len(j.Contenders))
	failed := make([]error, len(j.Contenders))
	for i, c := range j.Contenders { // warm-up: first launches, clocks
		for range 3 {
			if failed[i] == nil {
				failed[i] = c.Run()
			}
		}
		if err := b.Stream.Sync(); err != nil {
			return nil, fmt.Errorf("%s %s, %s: %w", j.Group, j.Name, c.Name, err)
		}
	}
	if err := b.warmUp(j, failed); err != nil {
		return nil, err
	}
	// A garbage collection would delay a launch, and the delay would be counted as device time.
	gort.GC()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	stop := b.meter.watch()
	for round := range b.Rounds {
		for turn := range j.Contenders {
			// the order rotates, so that no contender always follows the same other one
			i := (turn + round) % len(j.Contenders)
			if failed[i] != nil {
				continue
			}
			// Clearing the cache also keeps the device busy until the launch is queued.
			if err := errors.Join(b.cold.On(b.Stream).Fill(uint32(round)),
				b.first[round].Record(b.Stream)); err != nil {
				return nil, err
			}
			for range batch {
				if failed[i] = j.Contenders[i].Run(); failed[i] != nil {
					break
				}
			}
			if err := errors.Join(b.last[round].Record(b.Stream),
				b.last[round].Sync()); err != nil {
				return nil, fmt.Errorf("%s %s, %s: %w", j.Group, j.Name, j.Contenders[i].Name, err)
			}
			took, err := b.last[round].Since(b.first[round])
			if err != nil {
				return nil, err
			}
			times[i] = append(times[i], took/time.Duration(batch))
		}
	}
	clock, watt := stop()
	return j.results(times, failed, clock, watt), nil
}

// warmUp runs the job for some time, so that clocks and temperature become stable.
func (b *Bench) warmUp(j Job, failed []error) error {
	for start := time.Now(); time.Since(start) < b.Warm; {
		for i, c := range j.Contenders {
			if failed[i] == nil {
				failed[i] = c.Run()
			}
		}
		if err := b.Stream.Sync(); err != nil {
			return fmt.Errorf("%s %s: %w", j.Group, j.Name, err)
		}
	}
	return nil
}

// results computes the rates and ratios of the contenders from their times.
func (j Job) results(times [][]time.Duration, failed []error, clock, watt int) []Result {
	var list []Result
	base := 0.0
	for i, c := range j.Contenders {
		r := Result{Group: j.Group, Job: j.Name, Contender: c.Name, Base: j.Base, Clock: clock,
			Watt: watt}
		if failed[i] != nil {
			r.Error = failed[i].Error()
		} else {
			t := times[i]
			slices.SortFunc(t, cmp.Compare[time.Duration])
			micro := func(part float64) float64 {
				return float64(t[int(part*float64(len(t)-1)+0.5)].Nanoseconds()) / 1e3
			}
			r.Micro, r.Low, r.High = micro(0.5), micro(0.1), micro(0.9)
			if r.Rate, r.Unit = j.Flop/r.Micro/1e6, "TFLOP/s"; j.Flop == 0 {
				r.Rate, r.Unit = j.Bytes/r.Micro/1e3, "GB/s"
			}
			if c.Name == j.Base {
				base = r.Micro
			}
		}
		list = append(list, r)
	}
	for i := range list {
		if base > 0 && list[i].Micro > 0 {
			list[i].Ratio = base / list[i].Micro
		}
	}
	return list
}

// numbers returns a buffer of n random numbers in [-1, 1], and a copy on the host for
// comparisons.
func numbers[E runtime.Element](b *Bench, n int,
	narrow func(float32) E) (*runtime.Buffer[E], []E, error) {
	xs := make([]E, n)
	for i := range xs {
		xs[i] = narrow(2*b.rand.Float32() - 1)
	}
	buffer, err := runtime.Upload(b.Device, xs)
	return buffer, xs, err
}
