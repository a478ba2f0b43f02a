// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package gputest contains checks that run on a GPU. They show that the runtime and the examples
// work on hardware. Command gputest is a single program that runs the checks. They are not Go
// tests, because CI has no GPU.
package gputest

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// A Check is one test on a GPU.
type Check struct {
	Group, Name string
	Run         func(t *T) error
}

// A T is the context of a check.
type T struct{ *kerneltest.T }

// All returns all checks, in the order in which they run.
func All() []Check {
	var list []Check
	list = append(list, deviceChecks()...)
	list = append(list, exampleChecks()...)
	list = append(list, featureChecks()...)
	list = append(list, passChecks()...)
	list = append(list, failureChecks()...)
	return list
}

// Run runs the checks whose name, of the form group/name, matches a pattern. It prints a table
// and returns the number of failures.
func Run(w io.Writer, place string, pattern *regexp.Regexp,
	checks []Check) (failed int, err error) {
	d, err := runtime.Open(place)
	if err != nil {
		return 0, err
	}
	defer func() {
		if d != nil {
			err = errors.Join(err, d.Close())
		}
	}()
	info := d.Info()
	fmt.Fprintf(w, "%s: %s, %s, %d multiprocessors, %.1f GB, %s, PTX %s\n", info.Place, info.Name,
		info.Target, info.SMs, float64(info.Memory)/1e9, info.Driver, info.PTX)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	ran, skipped := 0, 0
	for _, c := range checks {
		name := c.Group + "/" + c.Name
		if !pattern.MatchString(name) {
			continue
		}
		t := &T{kerneltest.New(d)}
		start := time.Now()
		err := c.Run(t)
		if t.Device == nil { // the device was lost and could not be reopened
			fmt.Fprintf(table, "FAIL\t%s\t\t%v\n", name, err)
			return failed + 1, errors.Join(table.Flush(), err)
		}
		if d = t.Device; err == nil {
			err = d.Sync()
		}
		took := time.Since(start).Round(time.Millisecond / 10)
		verdict := "ok"
		notes := strings.Join(t.Notes(), "; ")
		switch {
		case err == nil:
			ran++
		case errors.Is(err, kerneltest.ErrSkip):
			verdict, notes = "skip", err.Error()
			skipped++
		default:
			verdict, notes = "FAIL", strings.ReplaceAll(err.Error(), "\n", "\n\t\t\t")
			failed++
		}
		fmt.Fprintf(table, "%s\t%s\t%v\t%s\n", verdict, name, took, notes)
		// flushed after each row, so that an interrupted run shows its results; a write error is
		// returned at the end
		_ = table.Flush()
		if d.Lost() != nil {
			_ = d.Close() // the device is unusable
			if d, err = runtime.Open(place); err != nil {
				d = nil
				return failed, fmt.Errorf("after a check lost the device: %w", err)
			}
		}
	}
	_, err = fmt.Fprintf(w, "%d ok, %d failed, %d skipped\n", ran, failed, skipped)
	return failed, err
}
