// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package device defines the interface between package runtime and devices: a GPU behind the CUDA
// driver, or the emulator. It contains the interface and its data types. Implementations need not
// check arguments, because package runtime checks them first.
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
	Lost() error        // the error that makes all further calls fail; nil while the device works
	Close() error
	// runs a function on a thread on which the device is current, for libraries
	Do(func() error) error

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
	// width: 1, 2 or 4 bytes
	Fill(to Address, pattern uint32, width int, count int64, stream Handle) error
	// lets kernels on this device access memory of another one
	Reach(other Device) error

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
	// params is the number of parameters, or -1 if unknown
	Kernel(module Handle, name string, params int) (Kernel, error)
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
	// maximum number of resident blocks per multiprocessor
	Blocks(threads, shared int) (int, error)
	Clusters(*Launch) (int, error) // maximum number of resident clusters on the device
}

// Info describes a device and its limits.
type Info struct {
	Name         string // product name
	Place        string // argument of Open, such as cuda:0 or emu:sm_90a
	Target       string // the newest PTX target that it runs, with its suffix, such as sm_90a
	Bus          string // PCI bus id, such as 0000:3b:00.0; "" if it has none
	Driver       string // version of the driver or emulator
	PTX          string // the newest PTX version that it accepts; "" for all
	Capability   int    // compute capability, such as 90
	Memory       int64  // in bytes
	L2           int    // in bytes
	SMs          int    // multiprocessors
	WarpSize     int
	Clock        int // maximum, in kHz
	MemoryClock  int // clock rate in kHz
	MemoryBits   int // width of the memory bus in bits
	MaxGrid      [3]int
	MaxBlock     [3]int
	MaxThreads   int // per block
	Threads      int // per multiprocessor
	Blocks       int // per multiprocessor
	Registers    int // per block
	Shared       int // bytes per block without opt-in
	SharedOptIn  int // bytes per block with opt-in
	SharedPerSM  int
	Clusters     bool
	Cooperative  bool
	TensorMaps   bool
	PeerCapable  bool
	Emulated     bool // an emulated device, which is much slower than hardware
	AllTargets   bool // modules for every target can run, each with the limits of its target
	MaxParameter int  // maximum size of kernel parameters in bytes
}

// StreamOptions are the properties of a stream.
type StreamOptions struct {
	Apart    bool // whether it is not ordered with the default stream
	Priority int  // a lower number is more urgent; 0 is the default
}

// An Image is code to load.
type Image struct {
	Name  string
	PTX   string // used if Cubin is empty
	Cubin []byte
	Debug bool // keep line numbers for debuggers and profilers
	// Cache is the directory of modules that ptxas has assembled. With "", the device assembles PTX
	// itself if it can.
	Cache string
}

// Loaded is a module on a device, with the name of its assembler.
type Loaded struct {
	Module    Handle
	Assembler string // such as "the driver, CUDA 13.0" or "ptxas 13.5"; "" for a cubin
	Cached    bool   // the module came from the cache
}

// KernelInfo describes a loaded kernel.
type KernelInfo struct {
	Registers  int // per thread
	Shared     int // declared by the kernel, in bytes
	Local      int // bytes per thread, for spills and local arrays
	MaxThreads int // largest block size with this register count
	Params     []Param
	Known      bool // Known reports whether Params are known.
}

// A Param is the offset and size of a parameter.
type Param struct{ Offset, Size int }

// A Launch describes a kernel launch. Values holds its arguments as the kernel finds them in
// its parameter space, each at one of the Places.
type Launch struct {
	Stream  Handle
	Grid    [3]uint32
	Block   [3]uint32
	Cluster [3]uint32 // zero if the launch has no cluster size
	Shared  uint32    // dynamic shared memory in bytes
	// cancels the launch, if the device supports that, or nil for none
	Context     context.Context
	Cooperative bool // cooperative: all blocks run at the same time
	// programmatic dependent launch: may start before the preceding kernel has ended
	Programmatic bool
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
	Box      []uint32 // box of a tiled map
	Steps    []uint32 // element strides: a box takes every n-th element
	Lower    []int32  // of an im2col map: the offsets of the bounding box
	Upper    []int32
	Channels uint32
	Pixels   uint32
	Im2col   bool
	// Interleave is 0, 16 or 32 bytes, Swizzle and Promotion 0, 32, 64 or 128 (Promotion up to
	// 256).
	Interleave, Swizzle, Promotion int
	NaN                            bool // elements out of bounds are NaN, not zero
}

// A TensorType is the element type of a tensor map, with the values of CUtensorMapDataType.
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
