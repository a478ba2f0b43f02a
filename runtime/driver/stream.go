// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package driver

import (
	"unsafe"

	"github.com/ptxdsl/ptxdsl/runtime/device"
)

// NewStream creates a stream.
func (c *Context) NewStream(o device.StreamOptions) (device.Handle, error) {
	var s uint64
	var flags uintptr
	if o.Apart {
		flags = 1
	}
	err := c.call(cuStreamCreateWithPriority, uintptr(unsafe.Pointer(&s)), flags,
		uintptr(uint32(int32(o.Priority))))
	return device.Handle(s), err
}

// FreeStream destroys a stream when its work is complete.
func (c *Context) FreeStream(s device.Handle) error { return c.call(cuStreamDestroy, uintptr(s)) }

// WaitStream waits for the work of a stream.
func (c *Context) WaitStream(s device.Handle) error {
	return c.call(cuStreamSynchronize, uintptr(s))
}

// StreamDone reports whether the work of a stream is complete.
func (c *Context) StreamDone(s device.Handle) (bool, error) {
	return c.queryDone(cuStreamQuery, uintptr(s))
}

// queryDone calls a query function for a stream or an event. It returns false if the driver reports
// that the work is not complete.
func (c *Context) queryDone(f Function, what uintptr) (bool, error) {
	switch code := c.callRaw(f, what); code {
	case 0:
		return true, nil
	case errNotReady:
		return false, nil
	default:
		return false, c.fail(f, code)
	}
}

// NewEvent creates an event. If timed is set, it records the time.
func (c *Context) NewEvent(timed bool) (device.Handle, error) {
	const blocking, untimed = 1, 2 // blocking: a waiting thread sleeps
	flags := uintptr(blocking)
	if !timed {
		flags |= untimed
	}
	var e uint64
	err := c.call(cuEventCreate, uintptr(unsafe.Pointer(&e)), flags)
	return device.Handle(e), err
}

// FreeEvent destroys an event.
func (c *Context) FreeEvent(e device.Handle) error { return c.call(cuEventDestroy, uintptr(e)) }

// Record records an event on a stream.
func (c *Context) Record(e, s device.Handle) error {
	return c.call(cuEventRecord, uintptr(e), uintptr(s))
}

// WaitFor makes a stream wait for an event.
func (c *Context) WaitFor(s, e device.Handle) error {
	return c.call(cuStreamWaitEvent, uintptr(s), uintptr(e), 0)
}

// WaitEvent waits for an event.
func (c *Context) WaitEvent(e device.Handle) error { return c.call(cuEventSynchronize, uintptr(e)) }

// EventDone reports whether an event is complete.
func (c *Context) EventDone(e device.Handle) (bool, error) {
	return c.queryDone(cuEventQuery, uintptr(e))
}

// Elapsed returns the time between two events.
func (c *Context) Elapsed(from, to device.Handle) (milliseconds float32, err error) {
	err = c.call(cuEventElapsedTime, uintptr(unsafe.Pointer(&milliseconds)), uintptr(from),
		uintptr(to))
	return milliseconds, err
}

// Begin starts recording on a stream, in relaxed mode. In the other modes a recording belongs to
// a thread, but goroutines move between threads.
func (c *Context) Begin(s device.Handle) error {
	const relaxed = 2
	return c.call(cuStreamBeginCapture, uintptr(s), relaxed)
}

// End ends a recording and returns it as an executable graph.
func (c *Context) End(s device.Handle) (device.Handle, error) {
	var graph, exec uint64
	if err := c.call(cuStreamEndCapture, uintptr(s), uintptr(unsafe.Pointer(&graph))); err != nil {
		return 0, err
	}
	if err := c.call(cuGraphInstantiateWithFlags, uintptr(unsafe.Pointer(&exec)), uintptr(graph),
		0); err != nil {
		_ = c.call(cuGraphDestroy, uintptr(graph)) // the first error is more useful
		return 0, err
	}
	c.mutex.Lock()
	c.graphs[device.Handle(exec)] = uintptr(graph)
	c.mutex.Unlock()
	return device.Handle(exec), nil
}

// Replay launches a recorded graph.
func (c *Context) Replay(graph, s device.Handle) error {
	return c.call(cuGraphLaunch, uintptr(graph), uintptr(s))
}

// FreeGraph destroys a recorded graph.
func (c *Context) FreeGraph(exec device.Handle) error {
	c.mutex.Lock()
	graph, ok := c.graphs[exec]
	delete(c.graphs, exec)
	c.mutex.Unlock()
	err := c.call(cuGraphExecDestroy, uintptr(exec))
	if ok {
		if e := c.call(cuGraphDestroy, graph); err == nil {
			err = e
		}
	}
	return err
}
