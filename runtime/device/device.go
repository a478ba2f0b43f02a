// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package device is what package runtime asks of whatever runs kernels: a GPU behind the CUDA driver, or the emulator. It holds an
// interface and the plain values that go through it; it checks nothing, since package runtime has checked before it calls.
package device

import "unsafe"

// An Address is a place in the memory of a device.
type Address uint64

// A Handle names a stream, event, module or graph of one device. The zero Handle is the stream on which work goes that
// was given none.
type Handle uint64

// A Device runs kernels. Its methods may be called from several goroutines at once.
type Device interface {
	Info() Info
	Memory() (free, total int64, err error)
	Synchronize() error // waits for all work
	Lost() error        // why no further call can succeed; nil while the device works
	Close() error
	Do(func() error) error // with the device current on a thread of its own, for libraries

	Allocate(bytes int64) (Address, error)
	Free(Address) error
	AllocateHost(bytes int64) (unsafe.Pointer, error) // memory that copies need not stage
	FreeHost(unsafe.Pointer) error

	// Copies are ordered with the work of the stream. Those between host and device wait for the end, unless later is true: then
	// the host memory is pinned, and stays as it is until the stream is past the copy.
	Upload(to Address, from unsafe.Pointer, bytes int64, stream Handle, later bool) error
	Download(to unsafe.Pointer, from Address, bytes int64, stream Handle, later bool) error
	Copy(to, from Address, bytes int64, stream Handle) error
	CopyTo(other Device, to, from Address, bytes int64, stream Handle) error
	Fill(to Address, pattern uint32, width int, count int64, stream Handle) error // width: 1, 2 or 4 bytes
	Reach(other Device) error                                                     // lets kernels here use memory there

	NewStream(o StreamOptions) (Handle, error)
	FreeStream(Handle) error
	WaitStream(Handle) error
	StreamDone(Handle) (bool, error)

	NewEvent(timed bool) (Handle, error)
	FreeEvent(Handle) error
	Record(event, stream Handle) error
	WaitFor(stream, event Handle) error // holds the stream, not the caller
	WaitEvent(Handle) error
	EventDone(Handle) (bool, error)
	Elapsed(from, to Handle) (milliseconds float32, err error)

	Load(Image) (Loaded, error)
	Unload(Handle) error
	Kernel(module Handle, name string, params int) (Kernel, error) // of so many parameters; -1 if that is not known
	Variable(module Handle, name string) (Address, int64, error)

	Begin(stream Handle) error // the stream records its work instead of doing it
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

// Info is what a device is and how much of everything it has.
type Info struct {
	Name         string // as its maker calls it
	Place        string // cuda:0, emu:sm_90a: what Open was told
	Target       string // the newest PTX target that it runs, with the letter: sm_90a
	Bus          string // where it sits, 0000:3b:00.0; "" where it is nowhere
	Driver       string // the version of what runs it
	PTX          string // the newest PTX version that it reads; "" where it reads every one
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
	Shared       int // bytes a block has without asking
	SharedOptIn  int // bytes it can ask for
	SharedPerSM  int
	Clusters     bool
	Cooperative  bool
	TensorMaps   bool
	PeerCapable  bool
	Emulated     bool // by this program, which is slower than hardware by far
	MaxParameter int  // bytes of kernel parameters
}

// StreamOptions say what a stream is like.
type StreamOptions struct {
	Apart    bool // not ordered with work that was given no stream
	Priority int  // less is more urgent; 0 is usual
}

// An Image is code to be loaded.
type Image struct {
	Name  string
	PTX   string // or
	Cubin []byte
	Debug bool // with line numbers for debuggers and profilers
	// Cache is the folder of modules that ptxas has assembled; with "", the device assembles what it can itself.
	Cache string
}

// Loaded is a module on a device, and who assembled it.
type Loaded struct {
	Module    Handle
	Assembler string // "the driver, CUDA 13.0", "ptxas 13.5"; "" for what came assembled
	Cached    bool   // it had been assembled before
}

// KernelInfo is what the device found out about a kernel.
type KernelInfo struct {
	Registers  int // of a thread
	Shared     int // bytes that the kernel declares
	Local      int // bytes of a thread: spills and arrays
	MaxThreads int // that a block may have with these registers
	Params     []Param
	Known      bool // Params is what the kernel has
}

// A Param is the place of a parameter.
type Param struct{ Offset, Size int }

// A Launch is a launch of a kernel. Its arguments lie in Values as the kernel finds them in its parameter space, each at one of the Places.
type Launch struct {
	Stream       Handle
	Grid         [3]uint32
	Block        [3]uint32
	Cluster      [3]uint32 // zero for none
	Shared       uint32    // dynamic
	Cooperative  bool      // all blocks run at once
	Programmatic bool      // may start before the work before it has ended
	Values       []byte
	Places       []int
}

// A TensorMap describes a tensor in global memory to the hardware that copies boxes of it. Sizes go from the innermost dimension
// outwards.
type TensorMap struct {
	Type     TensorType
	Address  Address
	Sizes    []uint64
	Strides  []uint64 // bytes from one index of a dimension to the next; that of the innermost is not there
	Box      []uint32 // of a tiled map
	Steps    []uint32 // every how many-th element a box takes
	Lower    []int32  // of an im2col map: the corners of the box of pixels
	Upper    []int32
	Channels uint32
	Pixels   uint32
	Im2col   bool
	// Interleave is 0, 16 or 32 bytes, Swizzle and Promotion 0, 32, 64 or 128 (Promotion up to 256).
	Interleave, Swizzle, Promotion int
	NaN                            bool // elements outside are not-a-number, not zero
}

// A TensorType is the element type of a tensor map, numbered as the CUDA driver does.
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
