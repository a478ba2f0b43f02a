// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/lower"
)

// This file returns properties of kernels that are not part of the PTX. Package runtime uses them
// to check launches.

// Place returns the Go position that emitted a line of the module's text, and the call stack that
// led there, innermost call first. ok is false if the position is unknown.
func (m *Module) Place(line int) (at diag.Place, from []diag.Place, ok bool) {
	m = m.sound()
	text, err := m.Text()
	if err != nil {
		return diag.Place{}, nil, false
	}
	return lower.MapOf(m.ir, text).Place(line)
}

// DynamicShared returns the bytes of dynamic shared memory that a launch of the named kernel must
// provide. ok is false if the module has no such kernel.
func (m *Module) DynamicShared(kernel string) (bytes int, ok bool) {
	m = m.sound()
	if k := m.kernel(kernel); k != nil {
		return k.DynamicShared(), true
	}
	return 0, false
}

// Element returns the PTX name of the element type of a pointer parameter of the named kernel,
// such as "bf16".
func (m *Module) Element(kernel, param string) (ptx string, ok bool) {
	m = m.sound()
	k := m.kernel(kernel)
	if k == nil {
		return "", false
	}
	t, ok := k.elements[param]
	return strings.TrimPrefix(t.String(), "."), ok
}

// Box describes a tensor map parameter of the named kernel: the element type in PTX, the box
// sizes of one copy, outermost dimension first, and the swizzle in bytes. In im2col mode all
// sizes are zero except the last, the number of channels, and pixels is the number of pixels;
// otherwise pixels is zero. ok is false if there is no such parameter.
func (m *Module) Box(kernel, param string) (ptx string, sizes []int, pixels, swizzle int, ok bool) {
	m = m.sound()
	k := m.kernel(kernel)
	if k == nil {
		return "", nil, 0, 0, false
	}
	for _, t := range k.maps {
		if t.name != param {
			continue
		}
		sizes, pixels = t.copySizes()
		return t.element(), sizes, pixels, int(t.tile.Swizzle), true
	}
	return "", nil, 0, 0, false
}

// copySizes returns the sizes of the box of one copy, outermost dimension first, and the number of
// pixels in im2col mode, as [Module.Box] does.
func (m *TensorMap) copySizes() (sizes []int, pixels int) {
	switch box := m.CopyBox(); {
	case m.tensor == nil:
		return []int{box.Rows, box.Cols}, 0
	case m.tensor.im2col:
		sizes, pixels = slices.Clone(m.tensor.box), m.tile.Rows
	default:
		sizes = slices.Clone(m.tensor.box)
	}
	sizes[len(sizes)-1] = m.boxCols
	return sizes, pixels
}

// element returns the PTX name of the map's element type, such as "bf16" or "b4x16_p64".
func (m *TensorMap) element() string {
	switch t := m.tile; {
	case t.Type.Bits() == 6:
		return "b6x16_p32"
	case t.Padded:
		return "b4x16_p64"
	}
	return strings.TrimPrefix(m.tile.Type.String(), ".")
}

// kernel returns the kernel with the given name, or nil.
func (m *Module) kernel(name string) *Kernel {
	for _, k := range m.kernels {
		if k.f.Kernel && k.f.Name == name {
			return k
		}
	}
	return nil
}
