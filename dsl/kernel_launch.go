// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/lower"
)

// The following is known while a module is built and is not part of its PTX. Package runtime uses
// it to check launches.

// Place returns the Go line that emitted a line of the module's text, and its callers. ok is false
// if they are unknown.
func (m *Module) Place(line int) (at diag.Place, from []diag.Place, ok bool) {
	m = m.sound()
	text, err := m.Text()
	if err != nil {
		return diag.Place{}, nil, false
	}
	return lower.MapOf(m.ir, text).Place(line)
}

// DynamicShared returns the bytes of dynamic shared memory that a launch of a kernel needs.
func (m *Module) DynamicShared(kernel string) (bytes int, ok bool) {
	m = m.sound()
	if k := m.kernel(kernel); k != nil {
		return k.DynamicShared(), true
	}
	return 0, false
}

// Element returns the element type of a pointer parameter of the named kernel, such as "bf16".
func (m *Module) Element(kernel, param string) (ptx string, ok bool) {
	m = m.sound()
	k := m.kernel(kernel)
	if k == nil {
		return "", false
	}
	t, ok := k.elements[param]
	return strings.TrimPrefix(t.String(), "."), ok
}

// Box returns, for a tensor map parameter of a kernel, the element type, the box of one copy from
// the outermost dimension, and the bytes of the swizzle. In im2col mode all sizes are zero except
// the last, the channels, and pixels is the number of pixels; otherwise pixels is zero.
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
		switch box := t.CopyBox(); {
		case t.of == nil:
			sizes = []int{box.Rows, box.Cols}
		case t.of.im2col:
			sizes, pixels = slices.Clone(t.of.box), t.tile.Rows
			sizes[len(sizes)-1] = t.box
		default:
			sizes = slices.Clone(t.of.box)
			sizes[len(sizes)-1] = t.box
		}
		return t.element(), sizes, pixels, int(t.tile.Swizzle), true
	}
	return "", nil, 0, 0, false
}

// element returns the name that tensor maps use for the type.
func (m *TensorMap) element() string {
	switch t := m.tile; {
	case t.Type.Bits() == 6:
		return "b6x16_p32"
	case t.Padded:
		return "b4x16_p64"
	}
	return strings.TrimPrefix(m.tile.Type.String(), ".")
}

// kernel returns the kernel with a name, or nil.
func (m *Module) kernel(name string) *Kernel {
	for _, k := range m.kernels {
		if k.f.Kernel && k.f.Name == name {
			return k
		}
	}
	return nil
}
