// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gputest

import (
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	goruntime "runtime"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/ptxdsl/ptxdsl/internal/systems"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// A subject is a check whose results on a GPU are compared with those of the emulator.
type subject struct {
	Directory, Option, Name string   // Option is "" for the check of an example itself
	Targets                 []string // that it is built for, or nil for all
	Check                   func(*kerneltest.T) error
	gpu, emulated           outcome
}

// An outcome is the result of a check on one device.
type outcome struct {
	results []kerneltest.Result
	err     error
}

// subjects returns the checks of the examples, and of the variants of the systems, whose names
// match a pattern.
func subjects(pattern *regexp.Regexp) []*subject {
	var list []*subject
	add := func(s subject) {
		if pattern.MatchString(s.Directory + "/" + s.Option + "/" + s.Name) {
			list = append(list, &s)
		}
	}
	for _, e := range Examples() {
		add(subject{Directory: e.Name, Name: "check of the example", Check: e.Check})
	}
	for _, s := range systems.Systems() {
		for _, e := range s.Examples {
			for _, v := range e.Variants {
				add(subject{Directory: e.Directory, Option: v.Option, Name: v.Name,
					Targets: v.Targets, Check: v.Check})
			}
		}
	}
	return list
}

// Both runs the checks of the examples and of the variants of the systems on a device and on the
// emulator for the same target, with the same sizes and inputs. It compares the two results of
// all elements that the checks compare with a reference. It prints a table, writes the verdicts
// to record, and returns the number of checks that fail or whose results differ by more than the
// tolerance.
func Both(w, record io.Writer, place string, pattern *regexp.Regexp) (failed int, err error) {
	list := subjects(pattern)
	info, err := runOnDevice(list, place)
	if err != nil {
		return 0, err
	}
	runEmulated(list, info.Target)
	fmt.Fprintf(w, "%s, %s, %s; emulator for %s\n", info.Name, info.Target, info.Driver,
		info.Target)
	fmt.Fprintf(record, "# %s, %s, %s, %s\n", info.Name, info.Target, info.Driver,
		time.Now().UTC().Format(time.DateOnly))
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table,
		"check\tcomparisons\telements\tequal\tlargest difference\tof the tolerance\tverdict")
	for _, s := range list {
		d := s.difference()
		if strings.HasPrefix(d.verdict, "FAIL") {
			failed++
		}
		name := strings.Trim(s.Directory+", "+s.Option+", "+s.Name, ", ")
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%.2g\t%.2g\t%s\n", name, len(s.gpu.results), d.elements,
			d.equal, d.relative, d.share, d.verdict)
		fmt.Fprintf(record, "%s\t%s\t%s\t%s\n", s.Directory, s.Option, s.Name, d.verdict)
	}
	return failed, table.Flush()
}

// runOnDevice runs the checks on a device, one after the other.
func runOnDevice(list []*subject, place string) (info runtime.Info, err error) {
	d, err := runtime.Open(place)
	if err != nil {
		return info, err
	}
	info = d.Info()
	for _, s := range list {
		s.gpu = s.run(d)
		if s.gpu.err == nil {
			s.gpu.err = d.Sync()
		}
		if d.Lost() == nil {
			continue
		}
		_ = d.Close() // the device is unusable
		if d, err = runtime.Open(place); err != nil {
			return info, fmt.Errorf("after a check lost the device: %w", err)
		}
	}
	return info, d.Close()
}

// runEmulated runs the checks in the emulator, as many at a time as there are processors.
func runEmulated(list []*subject, target string) {
	var all sync.WaitGroup
	next := make(chan *subject)
	for range goruntime.NumCPU() {
		all.Go(func() {
			for s := range next {
				d, err := runtime.Open("emu:" + target)
				if err != nil {
					s.emulated.err = err
					continue
				}
				s.emulated = s.run(d)
				s.emulated.err = errors.Join(s.emulated.err, d.Close())
			}
		})
	}
	for _, s := range list {
		next <- s
	}
	close(next)
	all.Wait()
}

// run runs the check on a device, with the sizes for the emulator. If the device has another
// target, the check is skipped.
func (s *subject) run(d *runtime.Device) outcome {
	if target := d.Info().Target; !systems.Runs(s.Targets, target) {
		return outcome{
			err: kerneltest.Skip("built for %s, and the device is %s",
				strings.Join(s.Targets, " and "), target)}
	}
	t := kerneltest.New(d)
	t.Budget, t.Keep = kerneltest.EmulatorBudget, true
	err := s.Check(t)
	return outcome{t.Results(), err}
}

// A difference summarizes how far the results of two devices differ.
type difference struct {
	elements, equal int
	relative        float64 // largest relative difference
	share           float64 // largest difference as a fraction of the tolerance
	verdict         string
}

// difference compares the two outcomes of a subject.
func (s *subject) difference() (d difference) {
	g, e := s.gpu, s.emulated
	switch {
	case errors.Is(g.err, kerneltest.ErrSkip) && errors.Is(e.err, kerneltest.ErrSkip):
		d.verdict = "not run: " + oneLine(g.err)
		return d
	case g.err != nil:
		d.verdict = "FAIL on the GPU: " + oneLine(g.err)
		return d
	case e.err != nil:
		d.verdict = "FAIL on the emulator: " + oneLine(e.err)
		return d
	case len(g.results) != len(e.results):
		d.verdict = fmt.Sprintf("FAIL: %d comparisons on the GPU, %d on the emulator",
			len(g.results), len(e.results))
		return d
	}
	for i := range g.results {
		a, b := &g.results[i], &e.results[i]
		if a.What != b.What || len(a.All) != len(b.All) {
			d.verdict = fmt.Sprintf("FAIL: the GPU compares %s, the emulator %s", a.What, b.What)
			return d
		}
		d.elements += len(a.All)
		for k, x := range a.All {
			y := b.All[k]
			if x == y && math.Signbit(x) == math.Signbit(y) || math.IsNaN(x) && math.IsNaN(y) {
				d.equal++
				continue
			}
			apart := math.Abs(x - y)
			if y != 0 {
				d.relative = max(d.relative, apart/math.Abs(y))
			}
			if apart > 0 {
				d.share = max(d.share, apart/a.Tolerance.Allows(y))
			}
		}
	}
	switch {
	case d.elements == 0:
		d.verdict = "FAIL: compares nothing"
	case d.equal == d.elements:
		d.verdict = "equal"
	case d.share <= 1:
		d.verdict = "within the tolerance"
	case d.share <= 2:
		// Both results are within the tolerance of the reference, on different sides of it. That
		// happens with 16-bit results: approximations differ in the last bits of a sum that is
		// close to a tie.
		d.verdict = "within the tolerance of each"
	default:
		d.verdict = "FAIL: the devices differ by more than twice the tolerance"
	}
	return d
}

// oneLine returns the first line of the text of an error.
func oneLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
