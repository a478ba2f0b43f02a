// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import "fmt"

// override replaces the address, the sizes and the strides of a tensor map by operands of the
// copy (.override::global_address, .override::global_dim, .override::global_dim_stride). It
// returns an error message if they are invalid, or "".
func (t *tensorStep) override(w *warp, l int, m *tensorMap, start [maxDims]int64) string {
	value := func(r *ref) uint64 { return w.value(r, &w.scratch[2])[l] }
	if t.base == nil {
		return ""
	}
	if m.address = value(t.base); m.address%16 != 0 {
		return fmt.Sprintf("the address override 0x%x of the tensor map is not a "+
			"multiple of 16", m.address)
	}
	for i := range t.sizes {
		size := value(&t.sizes[i]) & 0xff
		switch {
		case size == 0:
			return fmt.Sprintf("the size override of dimension %d is 0", i)
		case start[i] != 0:
			return fmt.Sprintf("a copy with size overrides starts at coordinate "+
				"%d in dimension %d, expected 0", start[i], i)
		}
		m.sizes[i] = size
	}
	if len(t.sizes) > 0 {
		n := m.together()
		m.sizes[0] = (m.sizes[0] + n - 1) / n
	}
	for i := range t.low {
		upper := value(t.high) >> (4 * i) & 15
		m.strides[i+1] = (value(&t.low[i])&0xffffffff | upper<<32) << 4
	}
	return ""
}
