// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// place assigns addresses and initial values to the variables of global and constant memory.
func (m *module) place(mem *memory) error {
	named := make(map[string]*ir.Var)
	constants := uint64(0)
	var placed []*ir.Var
	for _, v := range m.variables {
		size := v.Size()
		space := v.Space.Base()
		if space != isa.Global && space != isa.Const || v.Linkage == ".extern" {
			continue
		}
		if v.Type.Class() == isa.Opaque {
			continue // textures and surfaces are not emulated
		}
		if size == 0 && v.Init != nil {
			size = int64(v.Type.Bits()/8) * int64(len(v.Init.Args()))
		}
		if size < 0 || size > mem.total {
			return fmt.Errorf("variable %s has %d bytes", v.Name, size)
		}
		named[v.Name] = v
		placed = append(placed, v)
		if space == isa.Const {
			constants = up(constants, uint64(v.Alignment()))
			m.addresses[v] = constWindow + constants
			constants += uint64(size)
			continue
		}
		r, ok := mem.allocate(v.Name, size)
		if !ok {
			return fmt.Errorf("variable %s of %d bytes does not fit into the memory of the device",
				v.Name, size)
		}
		r.init, r.variable = nil, true
		m.addresses[v], m.globals[v.Name] = r.base, r
	}
	if constants > maxConstantBytes {
		return fmt.Errorf("module has %d bytes of constants, expected at most %d", constants,
			maxConstantBytes)
	}
	m.constants = newRegion("constant memory", constWindow, int(constants))
	m.constants.init, m.constants.fixed = nil, true
	for _, v := range placed {
		if v.Space.Base() == isa.Const {
			m.constants.named = append(m.constants.named,
				symbol{v.Name, m.addresses[v] - constWindow, uint64(v.Size())})
		}
	}
	for _, v := range m.variables {
		if w := named[v.Name]; w != nil && v.Linkage == ".extern" {
			m.addresses[v] = m.addresses[w]
		}
	}
	for _, v := range placed {
		if err := m.initialize(v); err != nil {
			return fmt.Errorf("variable %s: %w", v.Name, err)
		}
	}
	return nil
}

// maxConstantBytes is the maximum constant memory of a module: ten banks of 64 KiB.
const maxConstantBytes = 10 << 16

// initialize writes the initial value of a variable.
func (m *module) initialize(v *ir.Var) error {
	if v.Init == nil {
		return nil
	}
	var data []byte
	if v.Space.Base() == isa.Const {
		data = m.constants.data[m.addresses[v]-constWindow:]
	} else {
		data = m.globals[v.Name].data
	}
	width := uint64(v.Type.Bits() / 8)
	dims := v.Dims
	if v.Vec > 1 {
		dims = append(dims[:len(dims):len(dims)], int64(v.Vec))
	}
	return m.value(data, v.Init, width, dims)
}

// value writes an initial value of an array to the start of data.
func (m *module) value(data []byte, o *ir.Operand, width uint64, dims []int64) error {
	if o.Kind == ir.Vector {
		step := width
		for _, d := range dims[min(1, len(dims)):] {
			step *= uint64(max(d, 1))
		}
		for i := range o.Args() {
			at := uint64(i) * step
			if at+width > uint64(len(data)) {
				return fmt.Errorf("variable has more initial values than elements")
			}
			if err := m.value(data[at:], &o.Args()[i], width,
				dims[min(1, len(dims)):]); err != nil {
				return err
			}
		}
		return nil
	}
	x, err := m.scalar(o)
	if err != nil {
		return err
	}
	if width == 0 || width > uint64(len(data)) {
		return fmt.Errorf("initial value does not fit into its element")
	}
	put(data, min(width, 8), x)
	return nil
}

// scalar returns the bits of an initial value.
func (m *module) scalar(o *ir.Operand) (uint64, error) {
	switch o.Kind {
	case ir.Int, ir.Single, ir.Double:
		return uint64(o.Value), nil
	case ir.Variable:
		v := o.Var()
		at, ok := m.addresses[v]
		if !ok {
			return 0, fmt.Errorf("the address of %s is unknown", v.Name)
		}
		if v.Space.Base() == isa.Const {
			at -= constWindow
		}
		return at + uint64(o.Value), nil
	case ir.Function:
		if at := m.functionAddress(o); at != 0 {
			return at, nil
		}
	case ir.Apply:
		if parts := o.Args(); len(parts) == 1 {
			x, err := m.scalar(&parts[0])
			if v := parts[0].Var(); v != nil && v.Space.Base() == isa.Const &&
				o.Text() == "generic" {
				x += constWindow
			}
			var keep uint64
			if n, _ := fmt.Sscanf(o.Text(), "0x%x", &keep); n == 1 && keep != 0 {
				for ; keep&0xff == 0; keep >>= 8 {
					x >>= 8
				}
				x &= keep
			}
			return x, err
		}
	}
	return 0, fmt.Errorf("this kind of initial value is not emulated")
}
