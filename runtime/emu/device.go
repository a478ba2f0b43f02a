// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"sync"
	"time"
	"unsafe"

	"github.com/ptxdsl/ptxdsl/runtime/device"
)

// A Device is an emulated device. Operations run at once, in the calling goroutine, so streams
// never have to wait. The exception is a launch that is paused for its dependents.
type Device struct {
	options Options
	info    device.Info
	memory  *memory
	began   time.Time

	ordering *ordering     // order of atomic operations, shared with peers
	work     chan struct{} // holds a token while a launch runs

	mutex   sync.Mutex // guards the fields below
	serial  device.Handle
	pinned  map[unsafe.Pointer][]byte
	events  map[device.Handle]time.Time
	streams map[device.Handle]*stream
	modules map[device.Handle]*module
	graphs  map[device.Handle][]func() error
	pending *grid // the paused launch, or nil
	peers   []*Device
	// devices whose kernels can access the memory of this device
	reachedBy []*Device
	multicast bool // some memory of the device has a multicast address
	grids     uint64
	clock     uint64 // instructions of all launches so far
	closed    bool
	stats     Stats
}

// Stats counts the work that a device did.
type Stats struct {
	Launches     int64
	Instructions int64 // instructions of threads
	Time         time.Duration
}

// A stream records operations while a graph is captured.
type stream struct {
	recording bool
	recorded  []func() error
}

// New returns a new device.
func New(o Options) (*Device, error) {
	if o.Memory <= 0 {
		o.Memory = 16 << 30
	}
	if o.Workers <= 0 {
		o.Workers = goruntime.GOMAXPROCS(0)
	}
	if o.Number < 0 || o.Number >= maxDevices {
		return nil, fmt.Errorf("device number is %d, expected 0 to %d", o.Number, maxDevices-1)
	}
	info, err := infoOf(o)
	if err != nil {
		return nil, err
	}
	return &Device{
		options: o, info: info, memory: newMemory(o.Memory, o.Number), began: time.Now(),
		ordering: new(ordering), work: make(chan struct{}, 1),
		pinned: make(map[unsafe.Pointer][]byte), events: make(map[device.Handle]time.Time),
		streams: map[device.Handle]*stream{0: {}},
		modules: make(map[device.Handle]*module), graphs: make(map[device.Handle][]func() error),
	}, nil
}

// Info returns the properties of the device.
func (d *Device) Info() device.Info { return d.info }

// Stats returns counts of the work that the device did so far.
func (d *Device) Stats() Stats {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return d.stats
}

// Memory returns the free and the total memory of the device in bytes.
func (d *Device) Memory() (free, total int64, err error) {
	d.memory.mutex.Lock()
	defer d.memory.mutex.Unlock()
	return d.memory.total - d.memory.used, d.memory.total, nil
}

// Synchronize ends the paused launch. All other operations are already complete.
func (d *Device) Synchronize() error { return d.settle() }

// Lost returns nil, because a fault of a kernel does not make the device unusable.
func (d *Device) Lost() error { return nil }

// Close frees the memory of the device.
func (d *Device) Close() error {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.closed, d.pending = true, nil
	d.memory.list.Store(new([]*region))
	d.memory.peers.Store(new([]*memory))
	clear(d.pinned)
	clear(d.modules)
	return nil
}

// Do calls f. An emulated device has no context that must be current on a thread.
func (d *Device) Do(f func() error) error { return f() }

// fault returns the error of a driver call that the emulator rejects.
func fault(call string, kind error, format string, args ...any) error {
	return &device.Fault{Call: call, Name: "invalid value", Text: fmt.Sprintf(format, args...),
		Kind: kind, Code: 1}
}

// Allocate allocates global memory. Messages call it by the number of the allocation.
func (d *Device) Allocate(bytes int64) (device.Address, error) {
	return d.AllocateNamed("", bytes)
}

// AllocateNamed allocates global memory that messages call by a name.
func (d *Device) AllocateNamed(name string, bytes int64) (device.Address, error) {
	if bytes <= 0 {
		return 0, refuse("cuMemAlloc_v2", invalidValue, "%d bytes", bytes)
	}
	r, ok := d.memory.allocate(name, bytes)
	if !ok {
		return 0, refuse("cuMemAlloc_v2", outOfMemory,
			"%d bytes requested; %d of %d bytes are in use", bytes, d.memory.used, d.memory.total)
	}
	return device.Address(r.base), nil
}

// Free frees memory that Allocate returned.
func (d *Device) Free(at device.Address) error {
	if err := d.settle(); err != nil {
		return err
	}
	if !d.memory.free(uint64(at)) {
		return refuse("cuMemFree_v2", invalidValue, "0x%x is not the address of an allocation", at)
	}
	return nil
}

// AllocateHost allocates host memory.
func (d *Device) AllocateHost(bytes int64) (unsafe.Pointer, error) {
	if bytes <= 0 {
		return nil, fault("allocate host memory", nil, "%d bytes", bytes)
	}
	b := bytesOf(int(bytes))
	p := unsafe.Pointer(&b[0])
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.pinned[p] = b
	d.memory.pin(b)
	return p, nil
}

// FreeHost frees memory that AllocateHost returned.
func (d *Device) FreeHost(p unsafe.Pointer) error {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.pinned[p] == nil {
		return fault("free host memory", nil, "%p is not the address of an allocation", p)
	}
	d.memory.unpin(p)
	delete(d.pinned, p)
	return nil
}

// span returns the bytes of an allocation on this device, or on a device whose memory its kernels
// can access.
func (d *Device) span(at device.Address, n int64) (*region, uint64, error) {
	if n < 0 {
		return nil, 0, fault("copy", nil, "%d bytes", n)
	}
	r := d.memory.span(uint64(at), uint64(n))
	if r == nil {
		return nil, 0, fault("copy", nil, "%d bytes at 0x%x are not within an allocation", n, at)
	}
	return r, uint64(at) - r.base, nil
}

// Upload copies from the host.
func (d *Device) Upload(to device.Address, from unsafe.Pointer, bytes int64, s device.Handle,
	_ bool) error {
	return d.do(s, func() error {
		r, at, err := d.span(to, bytes)
		if err != nil || bytes == 0 {
			return err
		}
		copy(r.data[at:], unsafe.Slice((*byte)(from), bytes))
		r.written(at, uint64(bytes))
		return nil
	})
}

// Download copies to the host.
func (d *Device) Download(to unsafe.Pointer, from device.Address, bytes int64, s device.Handle,
	_ bool) error {
	return d.do(s, func() error {
		r, at, err := d.span(from, bytes)
		if err != nil || bytes == 0 {
			return err
		}
		copy(unsafe.Slice((*byte)(to), bytes), r.data[at:])
		return nil
	})
}

// Copy copies within the device.
func (d *Device) Copy(to, from device.Address, bytes int64, s device.Handle) error {
	return d.do(s, func() error { return d.copyFrom(d, to, from, bytes) })
}

// CopyTo copies to another emulated device.
func (d *Device) CopyTo(other device.Device, to, from device.Address, bytes int64,
	s device.Handle) error {
	o, ok := other.(*Device)
	if !ok {
		return fault("copy", nil, "from %s to %s: the devices are of different kinds", d.info.Place,
			other.Info().Place)
	}
	return d.do(s, func() error {
		if err := o.settle(); err != nil {
			return err
		}
		return o.copyFrom(d, to, from, bytes)
	})
}

// copyFrom copies from a device, and for each byte whether it is initialized.
func (d *Device) copyFrom(source *Device, to, from device.Address, bytes int64) error {
	a, ati, err := d.span(to, bytes)
	if err != nil {
		return err
	}
	b, bti, err := source.span(from, bytes)
	if err != nil || bytes == 0 {
		return err
	}
	n := uint64(bytes)
	copy(a.data[ati:ati+n], b.data[bti:bti+n])
	switch {
	case b.init == nil:
		a.written(ati, n)
	case a.init != nil:
		copy(a.init[ati:ati+n], b.init[bti:bti+n])
	}
	return nil
}

// Fill writes a pattern repeatedly.
func (d *Device) Fill(to device.Address, pattern uint32, width int, count int64,
	s device.Handle) error {
	if width != 1 && width != 2 && width != 4 || count < 0 {
		return fault("fill", nil, "%d elements of %d bytes", count, width)
	}
	return d.do(s, func() error {
		r, at, err := d.span(to, count*int64(width))
		if err != nil {
			return err
		}
		for i := range uint64(count) {
			put(r.data[at+i*uint64(width):], uint64(width), uint64(pattern))
		}
		r.written(at, uint64(count)*uint64(width))
		return nil
	})
}

// Load loads a module. The image must contain its PTX.
func (d *Device) Load(im device.Image) (device.Loaded, error) {
	if len(im.Cubin) > 0 {
		return device.Loaded{}, fault("load", nil, "the emulator runs PTX, and %s is not", im.Name)
	}
	m, list := parse(im.Name, im.PTX)
	if m == nil {
		return device.Loaded{},
			&device.Rejection{Module: im.Name, Findings: list,
				Cause: errors.New("the text is not valid PTX")}
	}
	m.origin = im.Place
	return d.load(m)
}

// LoadProgram loads a module that has been read.
func (d *Device) LoadProgram(p *Program) (device.Loaded, error) { return d.load(newModule(p)) }

// load gives memory to the variables of a module.
func (d *Device) load(m *module) (device.Loaded, error) {
	name := m.ir.Name
	m.exact = d.options.Exact
	if m.ir.Bits == 32 {
		return device.Loaded{},
			fault("load", nil, "%s has addresses of 32 bits, which are not emulated", name)
	}
	if err := d.accepts(m); err != nil {
		return device.Loaded{}, err
	}
	if err := m.place(d.memory); err != nil {
		return device.Loaded{}, fault("load", device.ErrMemory, "%s: %v", name, err)
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.serial++
	d.modules[d.serial] = m
	return device.Loaded{Module: d.serial, Assembler: "the emulator"}, nil
}

// accepts checks the target of a module against that of the device.
func (d *Device) accepts(m *module) error {
	if d.options.Target == "" {
		return nil
	}
	have, want := d.info.Capability, m.ir.Target.Info()
	ok := want.Number <= have
	switch want.Suffix {
	case 'a':
		ok = want.Number == have
	case 'f':
		ok = ok && want.Number/10 == have/10
	}
	if !ok {
		return refuse("cuModuleLoadDataEx", noImage, "%s is built for %s, but the device is %s",
			m.ir.Name, want.Name, d.info.Target)
	}
	return nil
}

// Unload frees a module and its variables.
func (d *Device) Unload(h device.Handle) error {
	if err := d.settle(); err != nil {
		return err
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	m := d.modules[h]
	if m == nil {
		return fault("unload", nil, "module %d is not loaded", h)
	}
	globals := make(map[*region]bool, len(m.globals))
	for _, r := range m.globals {
		globals[r] = true
	}
	d.memory.freeAll(globals)
	delete(d.modules, h)
	return nil
}

// Variable finds a variable of a module in global or constant memory.
func (d *Device) Variable(h device.Handle, name string) (device.Address, int64, error) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if m := d.modules[h]; m != nil {
		if r := m.globals[name]; r != nil {
			return device.Address(r.base), int64(len(r.data)), nil
		}
	}
	return 0, 0, fault("variable", nil, "there is no variable %s in global memory", name)
}

// run waits until no other grid runs on the device, and then runs or resumes a grid, unless the
// context of the launch ends first.
func (d *Device) run(g *grid) error {
	ctx := g.launch.Context
	if ctx == nil {
		ctx = context.Background()
	}
	select {
	case d.work <- struct{}{}:
		defer func() { <-d.work }()
	case <-ctx.Done():
		return fmt.Errorf("kernel %s was not started: %w", g.image.entry.Name, context.Cause(ctx))
	}
	d.mutex.Lock()
	if g.number == 0 {
		d.grids++
		d.stats.Launches++
		g.number, g.began = d.grids, d.clock
		g.quota, g.slice = -1, clusterSlice
	}
	d.mutex.Unlock()
	begin := time.Now()
	var err error
	if p := g.primary; p != nil && !p.complete.Load() {
		err = d.beside(ctx, g)
		d.count(p)
	}
	if err == nil && !g.complete.Load() {
		g.holds.Store(!g.seen && g.mayOverlap())
		g.seen = true
		err = g.run(ctx, d.options.Workers)
	}
	d.count(g)
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.stats.Time += time.Since(begin)
	if err == nil && g.paused && !g.complete.Load() {
		d.pending = g
	}
	if g.complete.Load() {
		g.primary = nil
	}
	return err
}

// count adds the instructions of a grid to the statistics.
func (d *Device) count(g *grid) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	n := g.executed.Load() - g.counted
	g.counted += n
	d.stats.Instructions += n
	d.clock += uint64(n) + g.timer.count()
}
