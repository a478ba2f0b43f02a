// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package gputest is what is run on a GPU to show that the runtime and the examples do what they say: a list of checks, for one program
// that needs nothing beside it. It is no part of go test, since the machines that run that have no GPU.
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

// A Check is one thing that must hold.
type Check struct {
	Group, Name string
	Run         func(t *T) error
}

// A T is what a check works with.
type T struct{ *kerneltest.T }

// All is every check.
func All() []Check {
	var list []Check
	list = append(list, deviceChecks()...)
	list = append(list, exampleChecks()...)
	list = append(list, featureChecks()...)
	list = append(list, passChecks()...)
	list = append(list, failureChecks()...)
	return list
}

// Run runs the checks whose name, group/name, a pattern finds, prints a table, and counts those that failed.
func Run(w io.Writer, place string, pattern *regexp.Regexp, checks []Check) (failed int, err error) {
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
	fmt.Fprintf(w, "%s: %s, %s, %d multiprocessors, %.1f GB, %s, PTX %s\n", info.Place, info.Name, info.Target, info.SMs, float64(info.Memory)/1e9, info.Driver, info.PTX)
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
		if t.Device == nil { // the check could not bring it back
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
		_ = table.Flush() // one by one: a table that is cut short says more than none; a write error shows at the end
		if d.Lost() != nil {
			_ = d.Close() // it is of no use
			if d, err = runtime.Open(place); err != nil {
				d = nil
				return failed, fmt.Errorf("after a check lost the device: %w", err)
			}
		}
	}
	_, err = fmt.Fprintf(w, "%d ok, %d failed, %d skipped\n", ran, failed, skipped)
	return failed, err
}
