// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"slices"
	"time"

	"github.com/ptxdsl/ptxdsl/runtime/device"
)

// do ends a paused launch, and then performs a stream operation other than a launch: at once, or,
// if the stream captures a graph, when the graph is run.
func (d *Device) do(h device.Handle, work func() error) error {
	return d.inOrder(h, func() error {
		if err := d.settle(); err != nil {
			return err
		}
		return work()
	})
}

// inOrder performs a stream operation at once, or, if the stream captures a graph, when the graph
// is run.
func (d *Device) inOrder(h device.Handle, work func() error) error {
	d.mutex.Lock()
	s := d.streams[h]
	if s == nil {
		d.mutex.Unlock()
		return fault("stream", nil, "stream %d is not open", h)
	}
	if s.recording {
		s.recorded = append(s.recorded, work)
		d.mutex.Unlock()
		return nil
	}
	d.mutex.Unlock()
	return work()
}

// NewStream returns a new stream.
func (d *Device) NewStream(device.StreamOptions) (device.Handle, error) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.serial++
	d.streams[d.serial] = &stream{}
	return d.serial, nil
}

// FreeStream frees a stream.
func (d *Device) FreeStream(h device.Handle) error {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.streams[h] == nil || h == 0 {
		return fault("free stream", nil, "stream %d is not open", h)
	}
	delete(d.streams, h)
	return nil
}

// WaitStream ends a paused launch; all other work is already complete.
func (d *Device) WaitStream(h device.Handle) error { return d.do(h, func() error { return nil }) }

// StreamDone reports true.
func (d *Device) StreamDone(device.Handle) (bool, error) { return true, d.settle() }

// NewEvent returns a new event.
func (d *Device) NewEvent(bool) (device.Handle, error) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.serial++
	d.events[d.serial] = time.Time{}
	return d.serial, nil
}

// FreeEvent frees an event.
func (d *Device) FreeEvent(h device.Handle) error {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if _, ok := d.events[h]; !ok {
		return fault("free event", nil, "event %d is not open", h)
	}
	delete(d.events, h)
	return nil
}

// Record records the current time in an event.
func (d *Device) Record(event, s device.Handle) error {
	return d.do(s, func() error {
		d.mutex.Lock()
		defer d.mutex.Unlock()
		if _, ok := d.events[event]; !ok {
			return fault("record", nil, "event %d is not open", event)
		}
		d.events[event] = time.Now()
		return nil
	})
}

// WaitFor makes stream s wait for an event. In the emulator, an event is complete as soon as it
// is recorded.
func (d *Device) WaitFor(s, event device.Handle) error { return d.WaitStream(s) }

// WaitEvent returns at once, because events are always complete.
func (d *Device) WaitEvent(device.Handle) error { return nil }

// EventDone reports true.
func (d *Device) EventDone(device.Handle) (bool, error) { return true, nil }

// Elapsed returns the time between two events, by the host's clock.
func (d *Device) Elapsed(from, to device.Handle) (float32, error) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	a, b := d.events[from], d.events[to]
	if a.IsZero() || b.IsZero() {
		return 0, fault("elapsed", nil, "an event was not recorded")
	}
	return float32(b.Sub(a).Seconds() * 1000), nil
}

// Begin starts the capture of a stream.
func (d *Device) Begin(h device.Handle) error {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	s := d.streams[h]
	if s == nil || s.recording {
		return fault("record a graph", nil, "stream %d is not open, or is already recording", h)
	}
	s.recording, s.recorded = true, nil
	return nil
}

// End ends the capture of a stream and returns the graph.
func (d *Device) End(h device.Handle) (device.Handle, error) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	s := d.streams[h]
	if s == nil || !s.recording {
		return 0, fault("end a graph", nil, "stream %d is not recording", h)
	}
	d.serial++
	d.graphs[d.serial] = s.recorded
	s.recording, s.recorded = false, nil
	return d.serial, nil
}

// Replay runs a graph.
func (d *Device) Replay(graph, h device.Handle) error {
	d.mutex.Lock()
	work, ok := d.graphs[graph]
	work = slices.Clone(work)
	d.mutex.Unlock()
	if !ok {
		return fault("replay", nil, "graph %d is not open", graph)
	}
	return d.do(h, func() error {
		for _, f := range work {
			if err := f(); err != nil {
				return err
			}
		}
		return nil
	})
}

// FreeGraph frees a graph.
func (d *Device) FreeGraph(h device.Handle) error {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	delete(d.graphs, h)
	return nil
}
