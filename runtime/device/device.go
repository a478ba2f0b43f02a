// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package device defines the interface between package runtime and whatever runs kernels: a
// GPU behind the CUDA driver, or the emulator. It holds the interface and its plain values. It
// checks nothing, because package runtime checks before it calls.
package device

import (
	"context"
	"unsafe"
)

// An Address is an address in the memory of a device.
type Address uint64

// A Handle identifies a stream, event, module or graph of one device. The zero Handle is the
// default stream.
type Handle uint64

// A Device runs kernels. Its methods may be called from several goroutines at once.
type Device interface {
	Info() Info
	Memory() (free, total int64, err error)
	Synchronize() error // waits for all work
	Lost() error        // why all further calls fail; nil while the device works
	Close() error
	Do(func() error) error // runs with the device current on a thread of its own, for libraries

	Allocate(bytes int64) (Address, error)
	Free(Address) error
	AllocateHost(bytes int64) (unsafe.Pointer, error) // pinned memory
	FreeHost(unsafe.Pointer) error

	// Copies are ordered on the stream. Copies between host and device wait until they are
	// complete, unless later is true. Then the host memory is pinned and must not change until the
	// stream has passed the copy.
	Upload(to Address, from unsafe.Pointer, bytes int64, stream Handle, later bool) error
	Download(to unsafe.Pointer, from Address, bytes int64, stream Handle, later bool) error
	Copy(to, from Address, bytes int64, stream Handle) error
	CopyTo(other Device, to, from Address, bytes int64, stream Handle) error
	Fill(to Address, pattern uint32, width int, count int64, stream Handle) error // width: 1, 2 or 4 bytes
	Reach(other Device) error                                                     // lets kernels here access memory there

	NewStream(o StreamOptions) (Handle, error)
	FreeStream(Handle) error
	WaitStream(Handle) error
	StreamDone(Handle) (bool, error)

	NewEvent(timed bool) (Handle, error)
	FreeEvent(Handle) error
	Record(event, stream Handle) error
	WaitFor(stream, event Handle) error // blocks the stream, not the caller
	WaitEvent(Handle) error
	EventDone(Handle) (bool, error)
	Elapsed(from, to Handle) (milliseconds float32, err error)

	Load(Image) (Loaded, error)
	Unload(Handle) error
	Kernel(module Handle, name string, params int) (Kernel, error) // with so many parameters; -1 if unknown
	Variable(module Handle, name string) (Address, int64, error)

	Begin(stream Handle) error // the stream records its work instead of executing it
	End(stream Handle) (graph Handle, err error)
	Replay(graph, stream Handle) error
	FreeGraph(Handle) error

	Encode(to *[128]byte, m *TensorMap) error
}

// A Kernel is a kernel of a loaded module.
type Kernel interface {
	Info() KernelInfo
	Launch(*Launch) error
	Blocks(threads, shared int) (int, error) // that fit on one multiprocessor
	Clusters(*Launch) (int, error)           // that fit on the device
}

// Info describes a device and its limits.
type Info struct {
	Name         string // as its vendor calls it
	Place        string // cuda:0, emu:sm_90a: the argument of Open
	Target       string // the newest PTX target that it runs, with its suffix: sm_90a
	Bus          string // PCI bus id, 0000:3b:00.0; "" if it has none
	Driver       string // the version of what runs it
	PTX          string // the newest PTX version that it accepts; "" for all
	Capability   int    // 90
	Memory       int64  // bytes
	L2           int    // bytes
	SMs          int    // multiprocessors
	WarpSize     int
	Clock        int // kHz, at most
	MemoryClock  int // kHz
	MemoryBits   int // width of the memory bus
	MaxGrid      [3]int
	MaxBlock     [3]int
	MaxThreads   int // of a block
	Threads      int // of a multiprocessor
	Blocks       int // of a multiprocessor
	Registers    int // of a block
	Shared       int // bytes per block without opt-in
	SharedOptIn  int // bytes per block with opt-in
	SharedPerSM  int
	Clusters     bool
	Cooperative  bool
	TensorMaps   bool
	PeerCapable  bool
	Emulated     bool // by this program, which is slower than hardware by far
	AllTargets   bool // modules for every target run, each with the limits of its target
	MaxParameter int  // bytes of kernel parameters
}

// StreamOptions are the properties of a stream.
type StreamOptions struct {
	Apart    bool // not ordered with the default stream
	Priority int  // lower is more urgent; 0 is the default
}

// An Image is code to load.
type Image struct {
	Name  string
	PTX   string // or
	Cubin []byte
	Debug bool // with line numbers for debuggers and profilers
	// Cache is the directory of modules that ptxas has assembled; with "", the device assembles
	// what it can itself.
	Cache string
}

// Loaded is a module on a device, and what assembled it.
type Loaded struct {
	Module    Handle
	Assembler string // "the driver, CUDA 13.0", "ptxas 13.5"; "" if loaded as a cubin
	Cached    bool   // it was in the cache
}

// KernelInfo describes a loaded kernel.
type KernelInfo struct {
	Registers  int // per thread
	Shared     int // declared by the kernel, in bytes
	Local      int // bytes per thread: spills and arrays
	MaxThreads int // per block, with these registers
	Params     []Param
	Known      bool // Params are the parameters of the kernel.
}

// A Param is the offset and size of a parameter.
type Param struct{ Offset, Size int }

// A Launch describes a kernel launch. Values holds its arguments as the kernel finds them in
// its parameter space, each at one of the Places.
type Launch struct {
	Stream       Handle
	Grid         [3]uint32
	Block        [3]uint32
	Cluster      [3]uint32       // zero for none
	Shared       uint32          // dynamic
	Context      context.Context // ends the launch where the device can; nil for none
	Cooperative  bool            // cooperative: all blocks run at the same time
	Programmatic bool            // programmatic: may start before the preceding work has ended
	Values       []byte
	Places       []int
}

// A TensorMap describes a tensor in global memory to the TMA unit, which copies boxes of it.
// Sizes are in order from the innermost dimension outwards.
type TensorMap struct {
	Type     TensorType
	Address  Address
	Sizes    []uint64
	Strides  []uint64 // strides in bytes, without that of the innermost dimension
	Box      []uint32 // of a tiled map
	Steps    []uint32 // element strides: a box takes every n-th element
	Lower    []int32  // of an im2col map: the corners of the pixel box
	Upper    []int32
	Channels uint32
	Pixels   uint32
	Im2col   bool
	// Interleave is 0, 16 or 32 bytes, Swizzle and Promotion 0, 32, 64 or 128 (Promotion up to 256).
	Interleave, Swizzle, Promotion int
	NaN                            bool // elements out of bounds are NaN, not zero
}

// A TensorType is the element type of a tensor map, with the numbers of the CUDA driver.
type TensorType uint32

// Element types of tensor maps.
const (
	U8 TensorType = iota
	U16
	U32
	S32
	U64
	S64
	F16
	F32
	F64
	BF16
	F32FTZ
	TF32
	TF32FTZ
	Packed4x8  // sixteen 4-bit elements in 8 bytes
	Packed4x16 // sixteen 4-bit elements in 16 bytes
	Packed6x16 // sixteen 6-bit elements in 16 bytes
)
