// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package device

import (
	"errors"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
)

// Kinds of faults, for errors.Is.
var (
	ErrMemory = errors.New("out of memory")
	ErrLost   = errors.New("the device is lost")
	ErrAbsent = errors.New("no such device")
	ErrTooOld = errors.New("the driver is too old")
)

// A Fault is the error of a call to a device.
type Fault struct {
	Call string // such as cuMemAlloc_v2
	Code int
	Name string // such as CUDA_ERROR_OUT_OF_MEMORY
	Text string // such as "out of memory"
	Kind error  // one of the errors above, or nil
	Note string // advice
}

// Error returns the call and the description of the error, with the advice.
func (f *Fault) Error() string {
	var b strings.Builder
	b.WriteString(f.Call + ": " + f.Text + " (" + f.Name + ")")
	if f.Note != "" {
		b.WriteString("; " + f.Note)
	}
	return b.String()
}

// Unwrap returns the Kind.
func (f *Fault) Unwrap() error { return f.Kind }

// A Rejection is the error for PTX that could not be assembled.
type Rejection struct {
	Module   string
	Findings diag.List // findings at lines of the PTX
	Log      string    // output of the assembler
	Cause    error
}

// Error returns the first message of the assembler.
func (r *Rejection) Error() string {
	if len(r.Findings) == 0 {
		return r.Module + ": " + r.Cause.Error() + "\n" + strings.TrimSpace(r.Log)
	}
	return r.Module + ": " + r.Findings[0].Message
}

// Unwrap returns the Cause.
func (r *Rejection) Unwrap() error { return r.Cause }
