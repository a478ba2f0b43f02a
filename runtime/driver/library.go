// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package driver runs kernels on NVIDIA GPUs through the CUDA driver. It opens the driver library
// at run time, without cgo and without the CUDA toolkit. Package runtime uses it for GPUs;
// programs use package runtime.
package driver

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"github.com/ptxdsl/ptxdsl/runtime/device"
)

// A Table holds the functions of a driver, indexed by Function. They have the arguments and the
// CUresult of the C functions. A function that the driver lacks is nil. Tests provide their own
// tables.
type Table [functionCount]func(args []uintptr) uintptr

// A Library is an open CUDA driver.
type Library struct {
	table   Table
	version int // CUDA version, such as 13000
}

// TableOf returns a Table with the functions that lookup returns for their symbols.
func TableOf(lookup func(symbol string) func(args []uintptr) uintptr) Table {
	var t Table
	for f, e := range entries() {
		t[f] = lookup(e.symbol)
	}
	return t
}

// With returns a Library that calls the functions of a table.
func With(t Table) (*Library, error) {
	var missing []string
	for f, e := range entries() {
		if t[f] == nil && e.since == "" {
			missing = append(missing, e.symbol)
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("%w: it has no %s; CUDA 11.4 or later is required", device.ErrTooOld,
			strings.Join(missing, ", "))
	}
	l := &Library{table: t}
	if err := l.call(cuInit, 0); err != nil {
		var f *device.Fault
		if errors.As(err, &f) {
			f.Kind = device.ErrAbsent
		}
		return nil, err
	}
	var version int32
	if err := l.call(cuDriverGetVersion, uintptr(unsafe.Pointer(&version))); err != nil {
		return nil, err
	}
	l.version = int(version)
	return l, nil
}

// Count returns the number of GPUs.
func (l *Library) Count() (int, error) {
	var n int32
	if err := l.call(cuDeviceGetCount, uintptr(unsafe.Pointer(&n))); err != nil {
		return 0, err
	}
	return int(n), nil
}

// call calls a function and converts its result to an error. If an argument is written as
// uintptr(unsafe.Pointer(&x)) in the call, x does not move until call returns.
//
//go:uintptrescapes
func (l *Library) call(f Function, args ...uintptr) error {
	if code := l.callRaw(f, args...); code != 0 {
		return l.fault(f, code)
	}
	return nil
}

// callRaw calls a function and returns its CUresult, or absent.
//
//go:uintptrescapes
func (l *Library) callRaw(f Function, args ...uintptr) uintptr {
	if l.table[f] == nil {
		return absent
	}
	return uintptr(uint32(l.table[f](args)))
}

// text returns a C string that a function returns for a code, through a pointer to its address.
func (l *Library) text(f Function, code uintptr) string {
	var s *byte
	if l.callRaw(f, code, uintptr(unsafe.Pointer(&s))) != 0 || s == nil {
		return ""
	}
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(s), n)) != 0 {
		n++
	}
	return strings.Clone(unsafe.String(s, n))
}
