// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package device defines the interface between package runtime and the devices: GPUs behind the
// CUDA driver, and the emulator. Implementations need not check arguments, because package
// runtime checks them first.
package device

import (
	"context"
	"unsafe"

	"github.com/ptxdsl/ptxdsl/diag"
)

// An Address is an address in the memory of a device.
type Address uint64

// A Handle identifies a stream, event, module or graph of one device. The zero Handle is the
// default stream.
type Handle uint64

// A Device runs kernels. Its methods may be called concurrently.
type Device interface {
	Info() Info
	Memory() (free, total int64, err error)
	Synchronize() error // waits for all work on the device
	Lost() error        // error that makes all further calls fail, or nil
	Close() error
	// Do calls a function on a thread on which the device is current, for other libraries.
	Do(func() error) error

	Allocate(bytes int64) (Address, error)
	Free(Address) error
	AllocateHost(bytes int64) (unsafe.Pointer, error) // pinned memory
	FreeHost(unsafe.Pointer) error

	// Copies are ordered on the stream. Copies between host and device wait until they are
	// complete, unless later is true. If later is true, the host memory must be pinned and must
	// not change until the stream has completed the copy.
	Upload(to Address, from unsafe.Pointer, bytes int64, stream Handle, later bool) error
	Download(to unsafe.Pointer, from Address, bytes int64, stream Handle, later bool) error
	Copy(to, from Address, bytes int64, stream Handle) error
	CopyTo(other Device, to, from Address, bytes int64, stream Handle) error
	// Fill writes count copies of a pattern of width bytes, which is 1, 2 or 4.
	Fill(to Address, pattern uint32, width int, count int64, stream Handle) error
	// Reach lets kernels on this device access the memory of another device.
	Reach(other Device) error

	NewStream(o StreamOptions) (Handle, error)
	FreeStream(Handle) error
	WaitStream(Handle) error
	StreamDone(Handle) (bool, error)

	NewEvent(timed bool) (Handle, error)
	FreeEvent(Handle) error
	Record(event, stream Handle) error
	WaitFor(stream, event Handle) error // makes the stream wait, not the caller
	WaitEvent(Handle) error
	EventDone(Handle) (bool, error)
	Elapsed(from, to Handle) (milliseconds float32, err error)

	Load(Image) (Loaded, error)
	Unload(Handle) error
	// Kernel returns a kernel of a module. params is the number of its parameters, or -1 if it is
	// unknown.
	Kernel(module Handle, name string, params int) (Kernel, error)
	Variable(module Handle, name string) (Address, int64, error)

	Begin(stream Handle) error // until End, the stream records its work instead of executing it
	End(stream Handle) (graph Handle, err error)
	Replay(graph, stream Handle) error
	FreeGraph(Handle) error

	Encode(to *[128]byte, m *TensorMap) error
}

// A Kernel is a kernel of a loaded module.
type Kernel interface {
	Info() KernelInfo
	Launch(*Launch) error
	// Blocks returns the maximum number of resident blocks per multiprocessor.
	Blocks(threads, shared int) (int, error)
	Clusters(*Launch) (int, error) // maximum number of resident clusters on the device
}

// Info describes a device and its limits.
type Info struct {
	Name         string // product name
	Place        string // argument of Open, such as cuda:0 or emu:sm_90a
	Target       string // newest PTX target that the device can run, such as sm_90a
	Bus          string // PCI bus id, such as 0000:3b:00.0; "" if it has none
	Driver       string // version of the driver or emulator
	PTX          string // newest PTX version that the device accepts; "" for all
	Capability   int    // compute capability, such as 90
	Memory       int64  // in bytes
	L2           int    // in bytes
	SMs          int    // multiprocessors
	WarpSize     int
	Clock        int // maximum clock rate in kHz
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
	Emulated     bool // whether the device is emulated, which is much slower than hardware
	AllTargets   bool // whether modules for every target run, each with its own limits
	MaxParameter int  // maximum size of kernel parameters in bytes
}

// StreamOptions has the properties of a stream.
type StreamOptions struct {
	Apart    bool // whether the stream is not ordered with the default stream
	Priority int  // streams with lower numbers are more urgent; 0 is the default
}

// An Image is the code of a module to load.
type Image struct {
	Name  string
	PTX   string // used if Cubin is empty
	Cubin []byte
	Debug bool // whether to keep line numbers for debuggers and profilers
	// Place returns the source line that emitted a line of the PTX, with the calls that led to it,
	// innermost first. The emulator names the source line in its messages. Place is nil if the
	// source is unknown.
	Place func(line int) (at diag.Place, from []diag.Place, ok bool)
	// Cache is the directory in which modules that ptxas assembled are cached. If Cache is "",
	// the device assembles PTX itself if it can.
	Cache string
}

// Loaded is a module on a device.
type Loaded struct {
	Module    Handle
	Assembler string // such as "the driver, CUDA 13.0" or "ptxas 13.5"; "" for a cubin
	Cached    bool   // whether the module came from the cache
}

// KernelInfo describes a loaded kernel.
type KernelInfo struct {
	Registers  int // registers per thread
	Shared     int // shared memory that the kernel declares, in bytes
	Local      int // bytes per thread, for spills and local arrays
	MaxThreads int // largest block size that is possible with these registers
	Params     []Param
	Known      bool // whether Params is complete
}

// A Param is the offset and size of a parameter.
type Param struct{ Offset, Size int }

// A Launch describes a kernel launch. Values has the contents of the kernel's parameter space,
// and Places the offset of each argument in Values.
type Launch struct {
	Stream  Handle
	Grid    [3]uint32
	Block   [3]uint32
	Cluster [3]uint32 // zero if the launch has no cluster size
	Shared  uint32    // dynamic shared memory in bytes
	// Context cancels the launch, if the device supports that; nil for none.
	Context     context.Context
	Cooperative bool // all blocks must run at the same time
	// Programmatic allows the kernel to start before the preceding kernel has ended (programmatic
	// dependent launch).
	Programmatic bool
	Values       []byte
	Places       []int
}

// A TensorMap describes a tensor in global memory, of which the TMA copies boxes. Sizes and all
// other lists start with the innermost dimension.
type TensorMap struct {
	Type     TensorType
	Address  Address
	Sizes    []uint64
	Strides  []uint64 // strides in bytes, without that of the innermost dimension
	Box      []uint32 // box of a tiled map
	Steps    []uint32 // element strides: a box contains every n-th element
	Lower    []int32  // offsets of the bounding box of an im2col map
	Upper    []int32
	Channels uint32
	Pixels   uint32
	Im2col   bool
	// Interleave is 0, 16 or 32 bytes, Swizzle 0, 32, 64 or 128, and Promotion 0, 64, 128 or 256.
	Interleave, Swizzle, Promotion int
	NaN                            bool // out-of-bounds elements are NaN instead of zero
}

// A TensorType is the element type of a tensor map. The values are those of CUtensorMapDataType.
type TensorType uint32

// The element types of tensor maps.
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
