// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/runtime/device"
)

// A Kernel is a kernel of a loaded module.
type Kernel struct {
	module  *Module
	name    string
	back    device.Kernel
	info    device.KernelInfo
	sig     signature
	dynamic int // bytes of dynamic shared memory that the source specifies

	packets sync.Pool // pool of *packet
	places  []int     // offsets of the parameters in the parameter space
}

// Kernel returns the kernel with the given name.
func (m *Module) Kernel(name string) (*Kernel, error) {
	if m == nil {
		return nil, argument("cannot return kernel %s: the module is nil", name)
	}
	if err := m.checkOpen(nil); err != nil {
		return nil, err
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if k := m.kernels[name]; k != nil {
		return k, nil
	}
	s, known := m.entries[name]
	if m.entries != nil && !known {
		names := m.Kernels()
		hint := "the module has no kernels"
		if near := diag.Nearest(name, names); near != "" {
			hint = "did you mean " + near + "?"
		} else if len(names) > 0 {
			hint = "it has " + strings.Join(names, ", ")
		}
		return nil, argument("%s has no kernel %q; %s", m.name, name, hint)
	}
	params := -1
	if known {
		params = len(s.params)
	}
	back, err := m.dev.back.Kernel(m.loaded.Module, name, params)
	if err != nil {
		return nil, fmt.Errorf("kernel %s of %s: %w", name, m.name, err)
	}
	k := &Kernel{module: m, name: name, back: back, info: back.Info()}
	switch {
	case known && s.known:
		k.sig = *s
		k.sig.params = slices.Clone(s.params)
	case k.info.Known:
		if known {
			k.sig = *s
		}
		k.sig.params, k.sig.size = nil, 0
		for i, p := range k.info.Params {
			param := Param{Size: p.Size, Offset: p.Offset, Align: 1}
			if known && i < len(s.params) {
				param.Name, param.Type, param.Count = s.params[i].Name, s.params[i].Type,
					s.params[i].Count
			}
			k.sig.params = append(k.sig.params, param)
			k.sig.size = p.Offset + p.Size
		}
	default:
		return nil, fmt.Errorf(
			"kernel %s of %s: the parameters are unknown; load PTX, or use a driver for CUDA 12.4 or later",
			name, m.name)
	}
	k.readSource(m.source)
	for i := range k.sig.params {
		k.places = append(k.places, k.sig.params[i].Offset)
	}
	k.packets.New = func() any { return &packet{values: make([]byte, k.sig.size)} }
	m.kernels[name] = k
	return k, nil
}

// readSource reads properties of the kernel from the source that its text does not contain.
func (k *Kernel) readSource(source Source) {
	if s, ok := source.(dynamicSource); ok {
		k.dynamic, _ = s.DynamicShared(k.name)
	}
	for i := range k.sig.params {
		p := &k.sig.params[i]
		if s, ok := source.(elementSource); ok {
			p.Target, _ = s.Element(k.name, p.Name)
		}
		if s, ok := source.(boxSource); ok {
			if word, sizes, pixels, swizzle, ok := s.Box(k.name, p.Name); ok {
				p.Target, p.Box = word, &Box{sizes, pixels, swizzle}
			}
		}
	}
}

// Name returns the name of the kernel in the PTX.
func (k *Kernel) Name() string { return k.name }

// Params returns the parameters of the kernel, in order.
func (k *Kernel) Params() []Param { return slices.Clone(k.sig.params) }

// KernelInfo has the properties of a loaded kernel.
type KernelInfo = device.KernelInfo

// Info returns the properties of the loaded kernel.
func (k *Kernel) Info() KernelInfo { return k.info }

// Block returns the block size that the kernel declares, or zeros.
func (k *Kernel) Block() (x, y, z int) { return k.sig.block[0], k.sig.block[1], k.sig.block[2] }

// Occupancy returns the number of blocks of a launch that fit on one multiprocessor at the same
// time.
func (k *Kernel) Occupancy(c Config) (int, error) {
	l, err := k.shape(c)
	if err != nil {
		return 0, err
	}
	return k.back.Blocks(int(l.Block[0]*l.Block[1]*l.Block[2]), int(l.Shared))
}

// Clusters returns the number of clusters of a launch that fit on the device at the same time.
func (k *Kernel) Clusters(c Config) (int, error) {
	l, err := k.shape(c)
	if err != nil {
		return 0, err
	}
	if l.Cluster[0] == 0 {
		return 0, argument("kernel %s: the launch has no clusters", k.name)
	}
	return k.back.Clusters(&l)
}
