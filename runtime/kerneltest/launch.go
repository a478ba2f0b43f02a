// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package kerneltest

import (
	"bytes"
	"errors"
	"fmt"
	"unsafe"

	"github.com/ptxdsl/ptxdsl/runtime"
)

// An Array is a slice that a launch copies to the device, back from the device, or both.
type Array struct {
	in, out  bool
	sizes    []int
	allocate func(t *T) (buffer, error)
	download func(buffer) error
}

// A buffer is a runtime.Buffer of elements of any type.
type buffer interface {
	runtime.Matrix
	Len() int
	Close() error
}

// guard is the number of elements after the end of an array that are checked for writes on a GPU.
// The emulator reports such writes itself.
const guard = 1024

// In returns an argument that is copied to the device before the launch.
func In[E runtime.Element](x []E) *Array { return array(x, true, false) }

// Out returns an argument that receives the kernel's result after the launch. The kernel must
// write all elements that are compared; their values before the launch are undefined.
func Out[E runtime.Element](x []E) *Array { return array(x, false, true) }

// InOut returns an argument that is copied to the device before the launch and back after it.
func InOut[E runtime.Element](x []E) *Array { return array(x, true, true) }

// Tensor sets the sizes of the tensor, outermost dimension first. If the kernel's parameter is a
// tensor map, Launch passes a tensor map, and otherwise a pointer.
func (a *Array) Tensor(sizes ...int) *Array {
	a.sizes = sizes
	return a
}

func array[E runtime.Element](x []E, in, out bool) *Array {
	return &Array{
		in: in, out: out,
		allocate: func(t *T) (buffer, error) {
			if t.Device.Info().Emulated {
				if in {
					return runtime.Upload(t.Device, x)
				}
				return runtime.Alloc[E](t.Device, len(x))
			}
			// On a GPU the buffer is filled, so that elements that the kernel does not write
			// cannot look like results.
			all := make([]E, len(x)+guard)
			view := bytesOf(all)
			for i := range view {
				view[i] = 0xff
			}
			if in {
				copy(all, x)
			}
			return runtime.Upload(t.Device, all)
		},
		download: func(b buffer) error {
			all, err := runtime.Download(b.(*runtime.Buffer[E]))
			if err != nil {
				return err
			}
			after := bytesOf(all[len(x):])
			if n := len(after) - len(bytes.TrimLeft(after, "\xff")); n < len(after) {
				return fmt.Errorf("the kernel writes %d bytes after the end of %d elements", n+1,
					len(x))
			}
			copy(x, all)
			return nil
		},
	}
}

// bytesOf returns the memory of a slice as bytes.
func bytesOf[E runtime.Element](x []E) []byte {
	if len(x) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), len(x)*int(unsafe.Sizeof(x[0])))
}

// Launch launches a kernel with arguments in the order of its parameters, and waits for it. An
// argument is a slice in In, Out or InOut, or anything that runtime.Kernel.Launch accepts.
func (t *T) Launch(k *runtime.Kernel, c runtime.Config, args ...any) (err error) {
	params := k.Params()
	given := make([]any, len(args))
	var after []func() error
	defer func() {
		for _, f := range after {
			err = errors.Join(err, f())
		}
	}()
	buffers := make(map[*Array]buffer)
	for i, arg := range args {
		given[i] = arg
		a, ok := arg.(*Array)
		if !ok {
			continue
		}
		b, ok := buffers[a]
		if !ok {
			if b, err = a.allocate(t); err != nil {
				return err
			}
			buffers[a] = b
			after = append(after, b.Close)
		}
		given[i] = b
		if i < len(params) && params[i].Box != nil {
			m, err := k.Tensor(params[i].Name, b, a.sizes)
			if err != nil {
				return err
			}
			given[i] = m
		}
	}
	if err := k.Launch(c, given...); err != nil {
		return err
	}
	if err := t.Device.Sync(); err != nil {
		return err
	}
	for _, arg := range args { // in the order of the parameters
		a, ok := arg.(*Array)
		if !ok || !a.out {
			continue
		}
		if err := a.download(buffers[a]); err != nil {
			return fmt.Errorf("%s: %w", k.Name(), err)
		}
	}
	return nil
}
