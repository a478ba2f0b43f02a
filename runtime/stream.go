// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"fmt"
	"time"

	"github.com/ptxdsl/ptxdsl/runtime/device"
)

// A Stream is a queue of work. A nil *Stream is the one on which work goes that names none.
type Stream struct {
	*thing
	id device.Handle
}

// A StreamOption says what a stream is like.
type StreamOption func(*device.StreamOptions)

// Apart makes a stream that is not ordered with work that names no stream.
func Apart() StreamOption { return func(o *device.StreamOptions) { o.Apart = true } }

// Priority makes a stream whose blocks go before those of streams with a larger number; 0 is usual, and negative numbers are urgent.
func Priority(n int) StreamOption { return func(o *device.StreamOptions) { o.Priority = n } }

// Stream makes a stream.
func (d *Device) Stream(options ...StreamOption) (*Stream, error) {
	if err := d.usable(); err != nil {
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
	s := &Stream{new(thing), id}
	return s, d.keep(s.thing, "stream", func() error { return d.back.FreeStream(id) })
}

func (s *Stream) handle() device.Handle {
	if s == nil {
		return 0
	}
	return s.id
}

// Handle is the stream for libraries that take a CUstream.
func (s *Stream) Handle() uintptr { return uintptr(s.handle()) }

// ready is an error where s cannot take work of d.
func (s *Stream) ready(d *Device) error {
	if s == nil {
		return d.usable()
	}
	return s.usable(d)
}

// Sync waits until the stream has done its work.
func (s *Stream) Sync() error {
	if s == nil {
		return argument("a nil stream is every device's; Device.Sync waits for it")
	}
	if err := s.usable(nil); err != nil {
		return err
	}
	return s.dev.back.WaitStream(s.id)
}

// Done reports whether the stream has done its work.
func (s *Stream) Done() (bool, error) {
	if s == nil {
		return false, argument("a nil stream is every device's")
	}
	if err := s.usable(nil); err != nil {
		return false, err
	}
	return s.dev.back.StreamDone(s.id)
}

// An Event is a point in the work of a stream.
type Event struct {
	*thing
	id device.Handle
}

// Event makes an event.
func (d *Device) Event() (*Event, error) {
	if err := d.usable(); err != nil {
		return nil, err
	}
	id, err := d.back.NewEvent(true)
	if err != nil {
		return nil, fmt.Errorf("event: %w", err)
	}
	e := &Event{new(thing), id}
	return e, d.keep(e.thing, "event", func() error { return d.back.FreeEvent(id) })
}

func (e *Event) ready() error {
	if e == nil {
		return argument("a nil event")
	}
	return e.usable(nil)
}

// Record puts the event behind the work that s, nil for no stream, has now.
func (e *Event) Record(s *Stream) error {
	if err := e.ready(); err != nil {
		return err
	}
	if err := s.ready(e.dev); err != nil {
		return err
	}
	return e.dev.back.Record(e.id, s.handle())
}

// Sync waits for the event.
func (e *Event) Sync() error {
	if err := e.ready(); err != nil {
		return err
	}
	return e.dev.back.WaitEvent(e.id)
}

// Done reports whether the event has happened.
func (e *Event) Done() (bool, error) {
	if err := e.ready(); err != nil {
		return false, err
	}
	return e.dev.back.EventDone(e.id)
}

// Wait makes s wait for the event before it does what it is given from now on. The event may be another device's.
func (s *Stream) Wait(e *Event) error {
	if err := e.ready(); err != nil {
		return err
	}
	d := e.dev
	if s != nil {
		d = s.dev
	}
	if err := s.ready(d); err != nil {
		return err
	}
	return d.back.WaitFor(s.handle(), e.id)
}

// Since is the time from an earlier event to e. Both must have happened.
func (e *Event) Since(earlier *Event) (time.Duration, error) {
	if err := earlier.ready(); err != nil {
		return 0, err
	}
	if err := e.ready(); err != nil {
		return 0, err
	}
	ms, err := e.dev.back.Elapsed(earlier.id, e.id)
	return time.Duration(float64(ms) * float64(time.Millisecond)), err
}

// A Graph is recorded work, to be done again at the cost of one launch. It holds the addresses of the buffers that it was
// recorded with: they must outlive it.
type Graph struct {
	*thing
	id device.Handle
}

// Record runs work, which gives work to s, and makes a graph of that instead of doing it. Nothing that waits belongs into work.
func (s *Stream) Record(work func() error) (*Graph, error) {
	if s == nil {
		return nil, argument("only a stream of one's own records; Device.Stream makes one")
	}
	if err := s.usable(nil); err != nil {
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
			_ = d.back.FreeGraph(id) // the error of the work is the one to tell
		}
		return nil, fmt.Errorf("recording: %w", workError)
	}
	if err != nil {
		return nil, fmt.Errorf("recording: %w", err)
	}
	g := &Graph{new(thing), id}
	return g, d.keep(g.thing, "graph", func() error { return d.back.FreeGraph(id) })
}

// Replay does the work of the graph on s.
func (g *Graph) Replay(s *Stream) error {
	if g == nil {
		return argument("replay of a nil graph")
	}
	if err := g.usable(nil); err != nil {
		return err
	}
	if err := s.ready(g.dev); err != nil {
		return err
	}
	return g.dev.back.Replay(g.id, s.handle())
}
