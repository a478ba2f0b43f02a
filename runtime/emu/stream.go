// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"slices"
	"time"

	"github.com/ptxdsl/ptxdsl/runtime/device"
)

// do does work of a stream that is no launch: now, or when the graph runs that the stream records.
// A launch that is paused ends first.
func (d *Device) do(h device.Handle, work func() error) error {
	return d.inOrder(h, func() error {
		if err := d.settle(); err != nil {
			return err
		}
		return work()
	})
}

// inOrder does work of a stream: now, or when the graph runs that the stream records.
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

// NewStream makes a stream.
func (d *Device) NewStream(device.StreamOptions) (device.Handle, error) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.serial++
	d.streams[d.serial] = &stream{}
	return d.serial, nil
}

// FreeStream drops a stream.
func (d *Device) FreeStream(h device.Handle) error {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.streams[h] == nil || h == 0 {
		return fault("free stream", nil, "stream %d is not open", h)
	}
	delete(d.streams, h)
	return nil
}

// WaitStream waits for nothing.
func (d *Device) WaitStream(h device.Handle) error { return d.do(h, func() error { return nil }) }

// StreamDone reports true.
func (d *Device) StreamDone(device.Handle) (bool, error) { return true, d.settle() }

// NewEvent makes an event.
func (d *Device) NewEvent(bool) (device.Handle, error) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.serial++
	d.events[d.serial] = time.Time{}
	return d.serial, nil
}

// FreeEvent drops an event.
func (d *Device) FreeEvent(h device.Handle) error {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if _, ok := d.events[h]; !ok {
		return fault("free event", nil, "event %d is not open", h)
	}
	delete(d.events, h)
	return nil
}

// Record notes the time.
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

// WaitFor holds a stream for nothing: the event has passed.
func (d *Device) WaitFor(s, event device.Handle) error { return d.WaitStream(s) }

// WaitEvent waits for nothing: the event has passed.
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

// Begin makes a stream record its work.
func (d *Device) Begin(h device.Handle) error {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	s := d.streams[h]
	if s == nil || s.recording {
		return fault("record a graph", nil, "stream %d is not open, or records already", h)
	}
	s.recording, s.recorded = true, nil
	return nil
}

// End ends the recording of a stream.
func (d *Device) End(h device.Handle) (device.Handle, error) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	s := d.streams[h]
	if s == nil || !s.recording {
		return 0, fault("end a graph", nil, "stream %d does not record", h)
	}
	d.serial++
	d.graphs[d.serial] = s.recorded
	s.recording, s.recorded = false, nil
	return d.serial, nil
}

// Replay does the work of a graph.
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

// FreeGraph drops a graph.
func (d *Device) FreeGraph(h device.Handle) error {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	delete(d.graphs, h)
	return nil
}
