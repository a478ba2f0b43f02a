// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/ptxdsl/ptxdsl/runtime/device"
)

// Errors that other errors wrap, for errors.Is.
var (
	ErrClosed   = errors.New("closed")
	ErrArgument = errors.New("wrong argument")
	ErrMemory   = device.ErrMemory // out of memory
	ErrLost     = device.ErrLost   // a kernel made the device unusable
	ErrAbsent   = device.ErrAbsent // no such device exists
	ErrTooOld   = device.ErrTooOld // the driver lacks a function
)

// argument returns an error that wraps ErrArgument.
func argument(format string, args ...any) error {
	return &argumentError{fmt.Sprintf(format, args...)}
}

type argumentError struct{ text string }

func (e *argumentError) Error() string { return e.text }
func (e *argumentError) Unwrap() error { return ErrArgument }

// A resource is a part of a device that must be closed, such as memory, a stream or a module.
type resource struct {
	dev    *Device
	what   string // description for messages, such as "buffer of 256 float32"
	closed atomic.Bool
	free   func() error
}

// Close releases the resource. Closing twice is an error.
func (t *resource) Close() error {
	if t == nil {
		return argument("cannot close nil")
	}
	if t.closed.Swap(true) {
		return fmt.Errorf("%s: %w already", t.what, ErrClosed)
	}
	if !t.dev.removeResource(t) {
		return nil // the device is being closed, which also closes the resource
	}
	if err := t.free(); err != nil {
		return fmt.Errorf("close of %s: %w", t.what, err)
	}
	return nil
}

// Device returns the device that the resource belongs to.
func (t *resource) Device() *Device { return t.dev }

// checkOpen returns an error if the resource is closed, or does not belong to d; d may be nil.
func (t *resource) checkOpen(d *Device) error {
	switch {
	case t.closed.Load():
		return fmt.Errorf("%s: %w", t.what, ErrClosed)
	case d != nil && t.dev != d && t.dev.back != d.back:
		return argument("%s belongs to %s, not to %s", t.what, t.dev, d)
	}
	return nil
}
