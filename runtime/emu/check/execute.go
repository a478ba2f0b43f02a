// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"encoding/binary"
	"errors"
	"hash/maphash"
	"unsafe"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/device"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
	"github.com/ptxdsl/ptxdsl/runtime/emu/race"
)

// launch runs the kernel once. Arrays, and dynamic shared memory of unknown size, grow until all
// accesses are in bounds.
func (k *kernel) launch(s seeding, count uint64, filled bool) *run {
	for bytes := firstArray; ; bytes *= 8 {
		x := k.once(s, count, filled, bytes)
		if x.beyond && k.guessedShared && k.shape.Shared == dynamicShared {
			k.shape.Shared = k.maxShared()
			y := k.once(s, count, filled, bytes)
			if y.err == nil {
				x = y
			} else {
				k.shape.Shared = dynamicShared
			}
		}
		if !x.outside || bytes >= maxArray || len(k.shape.Args) > 0 {
			return x
		}
	}
}

// maxInstructions returns the limit of instructions for the next launch.
func (k *kernel) maxInstructions() int64 {
	switch {
	case k.limit != 0:
		return k.limit
	case k.slow:
		return maxWork / 4
	}
	return maxWork
}

// maxShared returns the maximum dynamic shared memory of a block, in bytes.
func (k *kernel) maxShared() uint32 {
	static := int64(0)
	for _, v := range k.variables() {
		if v.Space.Base() == isa.Shared {
			static += v.Size() + int64(max(1, v.Alignment()))
		}
	}
	if n := int64(k.sharedOptIn) - static; n > dynamicShared {
		return uint32(n) &^ 127
	}
	return dynamicShared
}

// once runs the kernel with arrays of the given number of bytes.
func (k *kernel) once(s seeding, count uint64, filled bool, bytes int) *run {
	detector, watch := race.New(), k.watch
	var fragments race.Fragments
	if k.fragments {
		watch = append(watch, &fragments)
	}
	x := &run{schedule: s, count: count, filled: filled, inputs: k.inputs,
		limit:   k.maxInstructions(),
		reached: detector.Reached}
	d, err := emu.New(emu.Options{
		Target: k.target(), Seed: s.seed, Completion: s.completion, Interleave: true, Workers: 1,
		Unchecked: !k.values, Limit: k.maxInstructions(), Scattered: k.scattered,
		Impatient: s.impatient,
		Observer:  emu.Observers(append([]emu.Observer{detector}, watch...)...),
	})
	if err != nil {
		x.err = err
		return x
	}
	k.sharedOptIn = d.Info().SharedOptIn
	loaded, err := d.LoadProgram(k.program)
	if err != nil {
		x.err = err
		return x
	}
	launched, err := d.Kernel(loaded.Module, k.fn.Name, -1)
	if err != nil {
		x.err = err
		return x
	}
	values, arrays, err := k.arguments(d, count, filled, bytes)
	if err != nil {
		x.err = err
		return x
	}
	l := &device.Launch{Grid: k.shape.Grid, Block: k.shape.Block, Cluster: k.shape.Cluster,
		Shared: k.shape.Shared, Values: values}
	err = launched.Launch(l)
	if !errors.As(err, &x.fault) {
		x.err = err
	}
	x.races, x.skipped, x.events = append(detector.Races(), fragments.Races()...),
		detector.Skipped(), detector.Events()
	if x.fault != nil && x.fault.Has(emu.CauseBounds) {
		// the size of a variable is known, the size of an array is not
		x.outside = x.fault.Has(emu.CauseGlobalAddress) && !x.fault.Has(emu.CauseVariable)
		x.beyond = x.fault.Has(emu.CauseSharedAddress)
	}
	if x.fault == nil && err == nil {
		x.result, x.err = fingerprint(d, arrays)
	}
	return x
}

// target returns the target of the module as a device name.
func (k *kernel) target() string { return k.module.Target.String() }

// An array is a global memory allocation of a launch.
type array struct {
	at    device.Address
	first []byte // initial contents of the array
}

// seedOfHashes is the common seed of all fingerprints, so that they can be compared within a
// process.
var seedOfHashes = maphash.MakeSeed()

// fingerprint returns a hash of the contents of arrays.
func fingerprint(d device.Device, arrays []array) (uint64, error) {
	var h maphash.Hash
	h.SetSeed(seedOfHashes)
	for _, a := range arrays {
		b := make([]byte, len(a.first))
		if err := d.Download(unsafe.Pointer(&b[0]), a.at, int64(len(b)), 0, false); err != nil {
			return 0, err
		}
		h.Write(b)
	}
	return h.Sum64(), nil
}

// arguments returns the bytes of the parameters, and the arrays that they point to. An array has
// the name of its parameter.
func (k *kernel) arguments(d device.Device, count uint64, filled bool,
	bytes int) ([]byte, []array, error) {
	var values []byte
	var arrays []array
	put := func(p *param, b []byte) {
		for len(values) < p.offset+int(p.size) {
			values = append(values, 0)
		}
		copy(values[p.offset:p.offset+int(p.size)], b)
	}
	upload := func(p *param, contents []byte) (device.Address, error) {
		at, err := allocate(d, k.shortName(p), int64(len(contents)))
		if err == nil {
			err = d.Upload(at, unsafe.Pointer(&contents[0]), int64(len(contents)), 0, false)
			arrays = append(arrays, array{at, contents})
		}
		return at, err
	}
	for i, p := range k.params {
		if p.kind == paramBytes {
			put(p, nil)
		}
		if i >= len(k.shape.Args) {
			continue
		}
		a := k.shape.Args[i]
		if a.Array == nil {
			put(p, a.Value)
			continue
		}
		at, err := upload(p, a.Array)
		if err != nil {
			return nil, nil, err
		}
		put(p, binary.LittleEndian.AppendUint64(nil, uint64(at)))
	}
	if len(k.shape.Args) > 0 {
		return values, arrays, nil
	}
	for i, p := range k.leaves {
		switch p.kind {
		case paramPointer:
			at, known := k.pool[p.shared(i)]
			var err error
			if !known {
				at, err = upload(p, contents(bytes, filled || k.inputs && p.input))
			}
			if err != nil {
				return nil, nil, err
			}
			if k.pool != nil {
				k.pool[p.shared(i)] = at
			}
			put(p, binary.LittleEndian.AppendUint64(nil, uint64(at)))
		case paramMap:
			at, err := upload(p, contents(mapBytes, filled))
			if err != nil {
				return nil, nil, err
			}
			b, err := k.tensorMap(d, p, at)
			if err != nil {
				return nil, nil, err
			}
			put(p, b)
		default:
			put(p, k.value(p, count))
		}
	}
	return values, arrays, nil
}

// allocate allocates an array. Messages of the emulator call it by its name.
func allocate(d device.Device, name string, bytes int64) (device.Address, error) {
	if e, ok := d.(*emu.Device); ok {
		return e.AllocateNamed(name, bytes)
	}
	return d.Allocate(bytes)
}

// contents returns the initial contents of an array: zeros, or small numbers that differ between
// words.
func contents(n int, filled bool) []byte {
	b := make([]byte, n)
	if filled {
		for i := 0; i+4 <= n; i += 4 {
			binary.LittleEndian.PutUint32(b[i:], uint32(i/4)%61+1)
		}
	}
	return b
}
