// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package fakecuda is a fake CUDA driver for tests. It keeps track of memory, streams, events,
// graphs and modules, records calls, and runs Go functions as kernels. It can be set to fail.
// Invalid calls return the same error codes as the CUDA driver.
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

	// Fail returns the error code that a function returns instead of its effect, or 0 if the
	// function should not fail.
	Fail func(symbol string) uintptr
	// Missing lists the symbols that Lookup does not find.
	Missing []string
	// Reject makes the driver reject all PTX, with Log as the message of its assembler. Text that
	// contains "!;" is always rejected.
	Reject bool
	Log    string
	// Attributes replace device attributes; the others are those of an H200.
	Attributes map[int]int
	// Kernels has the Go functions that run when a kernel with that name is launched.
	Kernels map[string]func(d *Driver, l Launch)
	// Params has the parameter sizes that the driver reports for each kernel.
	Params map[string][]int

	mutex     sync.Mutex
	calls     []string
	launches  []Launch
	texts     map[uintptr]*byte
	next      uint64
	memory    map[uint64][]byte
	host      map[uintptr][]byte
	variables map[uint64][]byte // variables of modules, by address
	// handles has the kind of each open handle: stream, event, graph, module or context.
	handles   map[uint64]string
	functions map[uint64]string
	modules   map[uint64]string // PTX text of modules
	recording map[uint64][]func()
	graphs    map[uint64][]func()
	used      int
	lostCode  uintptr
}

// New returns a driver of CUDA 13.0 with one GPU that has the attributes of an H200.
func New() *Driver {
	return &Driver{
		Version: 13000, GPUs: 1, Memory: 1 << 30, Kernels: make(map[string]func(*Driver, Launch)),
		Params: make(map[string][]int),
		texts:  make(map[uintptr]*byte), next: 0x7f00_0000_0000, memory: make(map[uint64][]byte),
		host: make(map[uintptr][]byte), variables: make(map[uint64][]byte),
		handles: make(map[uint64]string), functions: make(map[uint64]string),
		modules:   make(map[uint64]string),
		recording: make(map[uint64][]func()), graphs: make(map[uint64][]func()),
	}
}

// Library returns the fake driver as a library of package driver.
func (d *Driver) Library() (*driver.Library, error) { return driver.With(driver.TableOf(d.Lookup)) }

// Lookup returns the function with a symbol, or nil if the symbol is in Missing.
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
				if isSticky(code) {
					d.lostCode = code
				}
				return code
			}
		}
		if f == nil {
			return d.lostCode
		}
		return f(args)
	}
}

// isSticky reports whether an error makes the context unusable.
func isSticky(code uintptr) bool { return code >= 700 && code <= 719 && code != 701 && code != 704 }

// Calls returns the symbols of the functions that were called since the last call of Calls,
// except cuCtxSetCurrent.
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

// Open returns the number of open handles of a kind: "memory", "host", "stream", "event",
// "module", "graph", "exec" or "context".
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
	for _, k := range d.handles {
		if k == kind {
			n++
		}
	}
	return n
}

// pointer converts an address that a caller passed as an integer.
func pointer(a uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&a)) }

// put stores a value at an address that a caller passed.
func put[T any](at uintptr, v T) { *(*T)(pointer(at)) = v }

// read returns the n bytes at an address that a caller passed.
func read(at uintptr, n uintptr) []byte {
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(pointer(at)), n)
}

// text returns the C string at an address that a caller passed.
func text(at uintptr) string {
	n := uintptr(0)
	for *(*byte)(unsafe.Add(pointer(at), n)) != 0 {
		n++
	}
	return string(read(at, n))
}

// make returns a new handle of a kind, such as "stream".
func (d *Driver) make(kind string) uint64 {
	d.next += 0x1000
	d.handles[d.next] = kind
	return d.next
}

// Bytes returns n bytes of device memory at an address. The result aliases the memory. It is nil
// if the bytes are not within one buffer.
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

// entry matches the .entry directive of a kernel.
var entry = regexp.MustCompile(`\.entry\s+([\w$]+)`)

// names returns the name and description of an error code.
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
