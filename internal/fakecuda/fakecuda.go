// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package fakecuda is a fake CUDA driver for tests. It keeps track of memory, streams, events,
// graphs and modules, records calls, fails on request, and runs Go functions as kernels. Invalid
// calls return the driver's errors.
package fakecuda

import (
	"fmt"
	"regexp"
	"slices"
	"sync"
	"unsafe"

	"github.com/ptxdsl/ptxdsl/runtime/driver"
)

// A Launch records the arguments of a kernel launch.
type Launch struct {
	Kernel      string
	Grid, Block [3]uint32
	Shared      uint32
	Stream      uint64
	Values      []byte
	Attributes  map[uint32][4]uint32 // by CUlaunchAttributeID
}

// A Driver is a fake CUDA driver.
type Driver struct {
	Version int // CUDA version, such as 13000
	GPUs    int
	Memory  int // device memory in bytes

	// Fail returns the error that a function returns instead of doing its work, or 0 for none.
	Fail func(symbol string) uintptr
	// Missing are the symbols that the library lacks.
	Missing []string
	// Reject makes the driver's assembler reject all PTX, with Log as its message. It always
	// rejects text that contains "!;".
	Reject bool
	Log    string
	// Attributes override the device attributes, which are those of an H200.
	Attributes map[int]int
	// Kernels are Go functions that run when a kernel of that name is launched.
	Kernels map[string]func(d *Driver, l Launch)
	// Params are the parameter sizes that the driver reports for a kernel.
	Params map[string][]int

	mutex     sync.Mutex
	calls     []string
	launches  []Launch
	texts     map[uintptr]*byte
	next      uint64
	memory    map[uint64][]byte
	host      map[uintptr][]byte
	variables map[uint64][]byte // variables of modules
	// kinds of open handles: streams, events, graphs, modules, contexts
	things    map[uint64]string
	functions map[uint64]string
	modules   map[uint64]string // PTX text of modules
	recording map[uint64][]func()
	graphs    map[uint64][]func()
	used      int
	lost      uintptr
}

// New returns a driver of CUDA 13.0 with one GPU like an H200.
func New() *Driver {
	return &Driver{
		Version: 13000, GPUs: 1, Memory: 1 << 30, Kernels: make(map[string]func(*Driver, Launch)),
		Params: make(map[string][]int),
		texts:  make(map[uintptr]*byte), next: 0x7f00_0000_0000, memory: make(map[uint64][]byte),
		host: make(map[uintptr][]byte), variables: make(map[uint64][]byte),
		things: make(map[uint64]string), functions: make(map[uint64]string),
		modules:   make(map[uint64]string),
		recording: make(map[uint64][]func()), graphs: make(map[uint64][]func()),
	}
}

// Library returns the fake driver as a library for package driver.
func (d *Driver) Library() (*driver.Library, error) { return driver.With(driver.TableOf(d.Lookup)) }

// Lookup returns the function of a symbol, or nil if it is missing.
func (d *Driver) Lookup(symbol string) func(args []uintptr) uintptr {
	if slices.Contains(d.Missing, symbol) {
		return nil
	}
	f := d.functionsBySymbol()[symbol]
	return func(args []uintptr) uintptr {
		d.mutex.Lock()
		defer d.mutex.Unlock()
		if symbol != "cuCtxSetCurrent" {
			d.calls = append(d.calls, symbol)
		}
		if d.Fail != nil {
			if code := d.Fail(symbol); code != 0 {
				if sticky(code) {
					d.lost = code
				}
				return code
			}
		}
		if f == nil {
			return d.lost
		}
		return f(args)
	}
}

// sticky reports whether an error makes the context unusable.
func sticky(code uintptr) bool { return code >= 700 && code <= 719 && code != 701 && code != 704 }

// Calls returns the names of the functions called since the last call of Calls, except
// cuCtxSetCurrent.
func (d *Driver) Calls() []string {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	calls := d.calls
	d.calls = nil
	return calls
}

// Launches returns the launches since the last call of Launches.
func (d *Driver) Launches() []Launch {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	launches := d.launches
	d.launches = nil
	return launches
}

// Open returns how many handles of a kind are open: "memory", "host", "stream", "event", "module",
// "graph", "exec", "context".
func (d *Driver) Open(kind string) int {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	switch kind {
	case "memory":
		return len(d.memory)
	case "host":
		return len(d.host)
	}
	n := 0
	for _, k := range d.things {
		if k == kind {
			n++
		}
	}
	return n
}

// pointer converts an address that was passed through a C call.
func pointer(a uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&a)) }

// put stores a value at such an address.
func put[T any](at uintptr, v T) { *(*T)(pointer(at)) = v }

// read returns n bytes at such an address.
func read(at uintptr, n uintptr) []byte {
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(pointer(at)), n)
}

// text reads a C string.
func text(at uintptr) string {
	n := uintptr(0)
	for *(*byte)(unsafe.Add(pointer(at), n)) != 0 {
		n++
	}
	return string(read(at, n))
}

// make returns a new handle of a kind.
func (d *Driver) make(kind string) uint64 {
	d.next += 0x1000
	d.things[d.next] = kind
	return d.next
}

// Bytes returns n bytes of device memory at an address, or nil if they are not within one buffer.
func (d *Driver) Bytes(at uint64, n int) []byte {
	for _, memory := range []map[uint64][]byte{d.memory, d.variables} {
		for start, b := range memory {
			if at >= start && at+uint64(n) <= start+uint64(len(b)) {
				return b[at-start:][:n]
			}
		}
	}
	for start, b := range d.host {
		if at >= uint64(start) && at+uint64(n) <= uint64(start)+uint64(len(b)) {
			return b[at-uint64(start):][:n]
		}
	}
	return nil
}

// entry matches the kernels of a text.
var entry = regexp.MustCompile(`\.entry\s+([\w$]+)`)

// names returns the name and description of an error.
func names(code uintptr) (name, text string) {
	switch code {
	case 1:
		return "CUDA_ERROR_INVALID_VALUE", "invalid argument"
	case 2:
		return "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"
	case 100:
		return "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"
	case 218:
		return "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"
	case 222:
		return "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
			"the provided PTX was compiled with an unsupported toolchain."
	case 400:
		return "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"
	case 500:
		return "CUDA_ERROR_NOT_FOUND", "named symbol not found"
	case 700:
		return "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"
	}
	return fmt.Sprintf("CUDA_ERROR_%d", code), fmt.Sprintf("error %d", code)
}
