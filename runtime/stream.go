// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"context"
	"fmt"
	"time"

	"github.com/ptxdsl/ptxdsl/runtime/device"
)

// A Stream is a queue of work on a device. A nil *Stream is the default stream.
type Stream struct {
	*resource
	id device.Handle
}

// A StreamOption sets a property of a stream.
type StreamOption func(*device.StreamOptions)

// Apart specifies that a stream is not ordered with the default stream.
func Apart() StreamOption { return func(o *device.StreamOptions) { o.Apart = true } }

// Priority sets the priority of a stream. Blocks of streams with lower numbers run first; 0 is
// the default, negative numbers are urgent.
func Priority(n int) StreamOption { return func(o *device.StreamOptions) { o.Priority = n } }

// Stream creates a stream on the device.
func (d *Device) Stream(options ...StreamOption) (*Stream, error) {
	if err := d.checkOpen(); err != nil {
		return nil, err
	}
	var o device.StreamOptions
	for _, option := range options {
		option(&o)
	}
	id, err := d.back.NewStream(o)
	if err != nil {
		return nil, fmt.Errorf("stream: %w", err)
	}
	s := &Stream{new(resource), id}
	return s, d.addResource(s.resource, "stream", func() error { return d.back.FreeStream(id) })
}

func (s *Stream) handle() device.Handle {
	if s == nil {
		return 0
	}
	return s.id
}

// Handle returns the stream as a CUstream, for use with other libraries.
func (s *Stream) Handle() uintptr { return uintptr(s.handle()) }

// checkUsable returns an error if s cannot be used for work on d.
func (s *Stream) checkUsable(d *Device) error {
	if s == nil {
		return d.checkOpen()
	}
	return s.checkOpen(d)
}

// Sync waits until the work of the stream is complete.
func (s *Stream) Sync() error {
	if s == nil {
		return argument(
			"the nil stream is the default stream of every device; use Device.Sync to wait for it")
	}
	if err := s.checkOpen(nil); err != nil {
		return err
	}
	return s.dev.back.WaitStream(s.id)
}

// SyncContext waits as Sync does, but also returns when the context ends. The work continues.
func (s *Stream) SyncContext(ctx context.Context) error {
	return within(ctx, s.Sync)
}

// within calls wait, and returns when wait returns or the context ends. If the context ends
// first, wait continues in another goroutine.
func within(ctx context.Context, wait func() error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if ctx.Done() == nil {
		return wait()
	}
	done := make(chan error, 1)
	go func() { done <- wait() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Done reports whether the work of the stream is complete.
func (s *Stream) Done() (bool, error) {
	if s == nil {
		return false, argument("the nil stream is the default stream of every device")
	}
	if err := s.checkOpen(nil); err != nil {
		return false, err
	}
	return s.dev.back.StreamDone(s.id)
}

// An Event is a point in the work of a stream.
type Event struct {
	*resource
	id device.Handle
}

// Event creates an event on the device.
func (d *Device) Event() (*Event, error) {
	if err := d.checkOpen(); err != nil {
		return nil, err
	}
	id, err := d.back.NewEvent(true)
	if err != nil {
		return nil, fmt.Errorf("event: %w", err)
	}
	e := &Event{new(resource), id}
	return e, d.addResource(e.resource, "event", func() error { return d.back.FreeEvent(id) })
}

// checkUsable returns an error if e cannot be used.
func (e *Event) checkUsable() error {
	if e == nil {
		return argument("a nil event")
	}
	return e.checkOpen(nil)
}

// Record records the event after the current work of s, where nil is the default stream.
func (e *Event) Record(s *Stream) error {
	if err := e.checkUsable(); err != nil {
		return err
	}
	if err := s.checkUsable(e.dev); err != nil {
		return err
	}
	return e.dev.back.Record(e.id, s.handle())
}

// Sync waits for the event.
func (e *Event) Sync() error {
	if err := e.checkUsable(); err != nil {
		return err
	}
	return e.dev.back.WaitEvent(e.id)
}

// SyncContext waits as Sync does, but also returns when the context ends.
func (e *Event) SyncContext(ctx context.Context) error {
	return within(ctx, e.Sync)
}

// Done reports whether the event is complete.
func (e *Event) Done() (bool, error) {
	if err := e.checkUsable(); err != nil {
		return false, err
	}
	return e.dev.back.EventDone(e.id)
}

// Wait makes later work on s wait for the event. The event may belong to another device.
func (s *Stream) Wait(e *Event) error {
	if err := e.checkUsable(); err != nil {
		return err
	}
	d := e.dev
	if s != nil {
		d = s.dev
	}
	if err := s.checkUsable(d); err != nil {
		return err
	}
	return d.back.WaitFor(s.handle(), e.id)
}

// Since returns the time from an earlier event to e. Both must be complete.
func (e *Event) Since(earlier *Event) (time.Duration, error) {
	if err := earlier.checkUsable(); err != nil {
		return 0, err
	}
	if err := e.checkUsable(); err != nil {
		return 0, err
	}
	ms, err := e.dev.back.Elapsed(earlier.id, e.id)
	return time.Duration(float64(ms) * float64(time.Millisecond)), err
}

// A Graph is recorded work that can be executed again with one launch. It contains the addresses
// of the buffers that were used during recording, which must not be closed before the graph.
type Graph struct {
	*resource
	id device.Handle
}

// Record calls work, which must submit its operations to s, and returns these operations as a
// graph instead of executing them. work must not wait for the device.
func (s *Stream) Record(work func() error) (*Graph, error) {
	if s == nil {
		return nil, argument("the nil stream cannot record; make a stream with Device.Stream")
	}
	if err := s.checkOpen(nil); err != nil {
		return nil, err
	}
	d := s.dev
	if err := d.back.Begin(s.id); err != nil {
		return nil, fmt.Errorf("recording: %w", err)
	}
	workError := work()
	id, err := d.back.End(s.id)
	if workError != nil {
		if err == nil {
			_ = d.back.FreeGraph(id) // the error of work is more useful
		}
		return nil, fmt.Errorf("recording: %w", workError)
	}
	if err != nil {
		return nil, fmt.Errorf("recording: %w", err)
	}
	g := &Graph{new(resource), id}
	return g, d.addResource(g.resource, "graph", func() error { return d.back.FreeGraph(id) })
}

// Replay executes the operations of the graph on s.
func (g *Graph) Replay(s *Stream) error {
	if g == nil {
		return argument("cannot replay a nil graph")
	}
	if err := g.checkOpen(nil); err != nil {
		return err
	}
	if err := s.checkUsable(g.dev); err != nil {
		return err
	}
	return g.dev.back.Replay(g.id, s.handle())
}
