// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/ptxdsl/ptxdsl/runtime"
)

// Target and PTX version of all programs.
const (
	Target  = "sm_90a"
	Version = "8.8"
)

// All returns the programs in a fixed order.
func All() (all []Program) {
	for _, list := range []func() []Program{Accesses, Atomics, Barriers, Clusters, Copies, Flows,
		Matrices, Mbarriers, Tensors, Warpgroups, Warps} {
		all = append(all, list()...)
	}
	return all
}

// Module returns the PTX of a module with the kernels of the given programs, which are named k0,
// k1 and so on.
func Module(programs []Program) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".version %s\n.target %s\n.address_size 64\n", Version, Target)
	for i := range programs {
		b.WriteString(programs[i].Text(fmt.Sprintf("k%d", i)))
	}
	return b.String()
}

// Run launches kernel k, which was generated from p, and returns the final contents of Out.
func (p *Program) Run(dev *runtime.Device, k *runtime.Kernel) ([]byte, error) {
	in, err := runtime.Upload(dev, p.In)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	out, err := runtime.Upload(dev, p.Out)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	args := []any{in, out}
	for i := range p.Maps {
		m, err := p.Maps[i].encode(in, out)
		if err != nil {
			return nil, err
		}
		args = append(args, m)
	}
	c := runtime.Grid(max(p.Grid, 1)).Block(max(p.Block, 32))
	if p.Cluster > 0 {
		c = c.Cluster(p.Cluster)
	}
	if err := k.Launch(c, args...); err != nil {
		return nil, err
	}
	return runtime.Download(out)
}

func (m *Map) encode(in, out *runtime.Buffer[uint8]) (*runtime.TensorMap, error) {
	b := in
	if m.Output {
		b = out
	}
	options := []runtime.MapOption{runtime.As(m.Type), runtime.Swizzle(m.Swizzle)}
	if m.NaN {
		options = append(options, runtime.NaN())
	}
	if m.Pixels > 0 {
		w := runtime.Window{Lower: m.Lower, Upper: m.Upper}
		return runtime.Im2col(b, m.Sizes, w, m.Channels, m.Pixels, options...)
	}
	if m.Steps != nil {
		options = append(options, runtime.Steps(m.Steps...))
	}
	return runtime.Tiled(b, m.Sizes, m.Box, options...)
}

// Emulate runs the program on an emulated device, and returns the final contents of Out.
func (p *Program) Emulate(dev *runtime.Device) ([]byte, error) {
	m, err := dev.Load(runtime.PTX(Module([]Program{*p})))
	if err != nil {
		return nil, err
	}
	defer m.Close()
	k, err := m.Kernel("k0")
	if err != nil {
		return nil, err
	}
	return p.Run(dev, k)
}

// hash returns a hash of bytes.
func hash(b []byte) uint64 {
	h := fnv.New64a()
	h.Write(b)
	return h.Sum64()
}

// firstDifference describes the first byte that differs, and the number of bytes that differ.
func firstDifference(got, want []byte) string {
	if want == nil {
		return "differs"
	}
	n, first := 0, -1
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			if n++; first < 0 {
				first = i &^ 7
			}
		}
	}
	if first < 0 {
		return fmt.Sprintf("%d bytes, want %d", len(got), len(want))
	}
	end := min(first+16, len(got), len(want))
	return fmt.Sprintf("%d of %d bytes differ; at %d % x, the GPU has % x", n, len(got), first,
		got[first:end], want[first:end])
}
