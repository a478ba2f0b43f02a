// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// IndependentSamplers separates textures and samplers (.texmode_independent). Without this option
// each texture has its own sampler, and Sampler cannot be used.
func IndependentSamplers() Option {
	return func(m *Module) {
		m = m.sound()
		m.ir.Options = append(m.ir.Options, "texmode_independent")
	}
}

// Texture declares a texture. Host code binds it by name.
func (m *Module) Texture(name string) Operand { return m.sound().opaque(name, isa.Texref) }

// Sampler declares a sampler. Host code binds it by name. The module needs the option
// IndependentSamplers.
func (m *Module) Sampler(name string) Operand {
	m = m.sound()
	if len(m.ir.Options) == 0 {
		m.fault(&ruleOperand, "Sampler needs the option IndependentSamplers")
	}
	return m.opaque(name, isa.Samplerref)
}

// Surface declares a surface. Host code binds it by name.
func (m *Module) Surface(name string) Operand { return m.sound().opaque(name, isa.Surfref) }

func (m *Module) opaque(name string, t isa.Type) Operand {
	if since := isa.MakeVersion(1, 5); !m.hasVersion(since) {
		m.fault(&ruleLacks, "PTX %s does not support %s, which needs %s", m.version(), t, since)
	}
	switch {
	case !identifier(name):
		m.fault(&ruleKernel, "%q is not a valid %s name", name, strings.TrimPrefix(t.String(), "."))
		name = m.uniqueName("handle")
	case m.names[name]:
		m.fault(&ruleKernel, "%s is already declared in this module", name)
		name = m.uniqueName(name)
	}
	m.names[name] = true
	v := &ir.Var{Name: name, Linkage: ".visible", Space: isa.Global, Type: t, Pos: m.calls.Here()}
	m.ir.Decls = append(m.ir.Decls, v)
	return handle{m, v}
}

type handle struct {
	m *Module
	v *ir.Var
}

func (h handle) operand(k *Kernel) (ir.Operand, bool) {
	if h.m != k.m {
		k.reportForeignModule(h.m, "%s of another module is used in %s", h.v.Name, k.Name())
		return ir.Operand{}, false
	}
	return k.naming(ir.Variable, h.v, 0), true
}
