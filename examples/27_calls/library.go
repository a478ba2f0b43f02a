// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package calls computes row functions, attention and its gradients, mixtures of experts, top-k,
// and block-scaled and sparse matrix products on device memory, and adds the vectors of several
// devices, in one call each. A call chooses the kernel for the device, the types and the sizes.
// Example 23_gemm has the call for other matrix products.
package calls

import (
	"errors"
	"fmt"
	"sync"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// A Library holds the kernels of one device. Its functions may be called concurrently; the
// launches run in order.
type Library struct {
	device  *runtime.Device
	mutex   sync.Mutex
	modules map[string]*runtime.Module
	peers   map[*runtime.Device]bool // devices whose memory kernels can access
}

// New returns a library that loads each kernel when it is first needed.
func New(d *runtime.Device) *Library {
	return &Library{device: d, modules: make(map[string]*runtime.Module),
		peers: make(map[*runtime.Device]bool)}
}

// Device returns the device of the library.
func (l *Library) Device() *runtime.Device { return l.device }

// Close unloads the kernels.
func (l *Library) Close() error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	var all error
	for _, m := range l.modules {
		all = errors.Join(all, m.Close())
	}
	clear(l.modules)
	return all
}

// A plan is a kernel and its launch configuration.
type plan struct {
	name   string // name of the kernel
	key    string // identifies the kernel together with its options
	build  func(*dsl.Module)
	config runtime.Config
}

// run launches the kernel of a plan. It loads the kernel if it is not loaded. known has an
// argument for each parameter name; an argument of type tensor is the data for a tensor map and
// its sizes.
func (l *Library) run(p plan, known map[string]any) error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	loaded := l.modules[p.key]
	if loaded == nil {
		m := dsl.New(p.key, l.device.Info().Target)
		p.build(m)
		var err error
		if loaded, err = l.device.Load(m); err != nil {
			return err
		}
		l.modules[p.key] = loaded
	}
	k, err := loaded.Kernel(p.name)
	if err != nil {
		return err
	}
	var args []any
	for _, param := range k.Params() {
		arg, ok := known[param.Name]
		if !ok {
			return fmt.Errorf("%s needs %s, which the call does not have", p.name, param.Name)
		}
		if x, ok := arg.(tensor); ok {
			arg = x.data
			if param.Box != nil {
				if arg, err = k.Tensor(param.Name, x.data, x.sizes); err != nil {
					return err
				}
			}
		}
		args = append(args, arg)
	}
	return k.Launch(p.config, args...)
}

// A tensor is an argument for a tensor map or for a pointer.
type tensor struct {
	data  runtime.Matrix
	sizes []int
}

// typeOf returns the PTX type of a floating-point element, or 0 for other types.
func typeOf[E runtime.Element]() isa.Type {
	switch any(*new(E)).(type) {
	case runtime.F16:
		return isa.F16
	case runtime.BF16:
		return isa.Bf16
	case float32:
		return isa.F32
	}
	return 0
}

// holds returns an error if a buffer is nil, or does not have n elements.
func holds[E runtime.Element](name string, b *runtime.Buffer[E], n int) error {
	switch {
	case b == nil:
		return fmt.Errorf("%s has no data", name)
	case b.Len() != n:
		return fmt.Errorf("%s has %d elements, expected %d", name, b.Len(), n)
	}
	return nil
}
