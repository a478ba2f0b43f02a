// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"unsafe"

	"github.com/ptxdsl/ptxdsl"
	"github.com/ptxdsl/ptxdsl/runtime/device"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// A Replay launches the kernels of a file on any device, with the arguments that File derives. It
// shows how a GPU behaves for a kernel that File reports on.
type Replay struct {
	device device.Device
	steps  []replayed
	arrays []array
	choice choice
}

// A choice is a derived launch without its file: the values on which the arguments of a Replay
// depend.
type choice struct {
	integers map[string]uint64 // as in Options
	count    uint64
	filled   bool
	bytes    int // size of arrays
	shape    Launch
	element  int
	made     bool // the fields other than integers and bytes are set
}

// replayArray is the size of each array. It is small, because the arrays are written and read for
// each launch.
const replayArray = 1 << 18

// A replayed kernel is one launch of a Replay.
type replayed struct {
	kernel device.Kernel
	launch *device.Launch
}

// NewReplay loads a file on a device. The file must have one kernel, or several kernels that depend
// on each other and are launched in order.
func NewReplay(d device.Device, name, text string) (*Replay, error) {
	return newReplay(d, name, text, choice{bytes: replayArray})
}

// NewReplayWith returns a Replay with the given values of integer parameters, and with arrays as
// large as those of File.
func NewReplayWith(d device.Device, name, text string,
	integers map[string]uint64) (*Replay, error) {
	return newReplay(d, name, text, choice{integers: integers, bytes: firstArray})
}

// Like returns a Replay of another file on a device, whose kernels have the same parameters, with
// the same arguments.
func (r *Replay) Like(d device.Device, name, text string) (*Replay, error) {
	return newReplay(d, name, text, r.choice)
}

// newReplay loads a file on a device, and derives what is not chosen.
func newReplay(d device.Device, name, text string, c choice) (*Replay, error) {
	m, list := ptxdsl.Load(name, text)
	if m == nil {
		return nil, list.Err()
	}
	var all []*kernel
	for _, f := range m.Funcs() {
		if f.Kernel && f.Defined {
			all = append(all, &kernel{
				name: name, text: text, module: m, program: emu.NewProgram(m),
				functions: callees(f, m.Funcs()), endless: new(int), fn: f,
				options: Options{Integers: c.integers},
			})
		}
	}
	together := dependent(all)
	switch {
	case len(all) == 0:
		return nil, fmt.Errorf("%s has no kernel", name)
	case len(all) > 1 && !together:
		return nil, fmt.Errorf("%s has %d kernels, which do not depend on each other", name,
			len(all))
	case len(all) == 1 && together:
		again := *all[0]
		all = append(all, &again)
	}
	loaded, err := d.Load(device.Image{Name: name, PTX: text})
	if err != nil {
		return nil, err
	}
	r := &Replay{device: d, choice: c}
	shared := make(pool)
	for i, k := range all {
		k.derive()
		count, filled := k.counts()[0], false
		switch {
		case together:
			k.pool = shared
		case c.made:
			count, filled, k.shape, k.element = c.count, c.filled, c.shape, c.element
		default:
			count, filled = k.successful()
			r.choice = choice{c.integers, count, filled, c.bytes, k.shape, k.element, true}
		}
		values, arrays, err := k.arguments(d, count, filled, c.bytes)
		if err != nil {
			return nil, err
		}
		r.arrays = append(r.arrays, arrays...)
		s := replayed{launch: &device.Launch{
			Grid: k.shape.Grid, Block: k.shape.Block, Cluster: k.shape.Cluster,
			Shared: k.shape.Shared,
			Values: values, Programmatic: i > 0,
		}}
		for _, p := range k.params {
			s.launch.Places = append(s.launch.Places, p.offset)
		}
		if s.kernel, err = d.Kernel(loaded.Module, k.fn.Name, len(k.params)); err != nil {
			return nil, err
		}
		r.steps = append(r.steps, s)
	}
	return r, nil
}

// successful returns the first count for which an emulated launch succeeds, and whether it
// succeeds with nonzero numbers in the arrays. If no launch succeeds, it returns the first count.
// If several blocks synchronize, the arrays are zero, because they may contain flags and
// counters.
func (k *kernel) successful() (count uint64, filled bool) {
	s, contents := k.schedules()[0], []bool{true, false}
	if k.betweenBlocks() {
		contents = contents[1:]
	}
	k.chooseBlock(s)
	for _, n := range k.counts() {
		for _, filled := range contents {
			if x := k.chooseElement(s, k.launch(s, n, filled)); x.fault == nil && x.err == nil {
				return n, filled
			}
		}
	}
	return k.counts()[0], false
}

// Once sets the arrays to their initial contents, launches the kernels, waits for them, and returns
// a hash of the arrays. Hashes are comparable within a process.
func (r *Replay) Once() (uint64, error) {
	for _, a := range r.arrays {
		if err := r.device.Upload(a.at, unsafe.Pointer(&a.first[0]), int64(len(a.first)), 0,
			false); err != nil {
			return 0, err
		}
	}
	for _, s := range r.steps {
		if err := s.kernel.Launch(s.launch); err != nil {
			return 0, err
		}
	}
	if err := r.device.Synchronize(); err != nil {
		return 0, err
	}
	return fingerprint(r.device, r.arrays)
}
