// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

// This file makes zero values of modules and kernels usable: the first use reports the zero
// value. A nil pointer is replaced by a new module or kernel that is discarded, so that no call
// panics.

// sound returns k, or a replacement that is discarded if k was not created by a builder call.
func (k *Kernel) sound() *Kernel {
	if k != nil && k.m != nil {
		return k
	}
	return k.stray()
}

func (k *Kernel) stray() *Kernel {
	if k == nil {
		k = new(Kernel)
	}
	m := New("stray", strayTarget)
	m.stray = true
	m.fault(&ruleKernel, "Kernel is a zero value; create it with Module.Kernel")
	*k = *m.function("stray")
	m.kernels[0] = k
	k.f.Kernel, k.f.HasParams, k.f.Linkage = true, true, ".visible"
	return k
}

// strayTarget is the target of modules that were not created by New.
const strayTarget = "sm_100a"

// sound returns m, or a replacement that is discarded if m was not created by New.
func (m *Module) sound() *Module {
	if m != nil && m.ir != nil {
		return m
	}
	return m.begun()
}

func (m *Module) begun() *Module {
	if m == nil {
		m = new(Module)
	}
	m.stray = true
	m.start("stray", strayTarget, nil)
	m.fault(&ruleTarget, "Module is a zero value without a target; create it with dsl.New")
	return m
}

// body returns the kernel to which f appends instructions, or nil if f is nil.
func (f *Func) body() *Kernel {
	if f == nil {
		return nil
	}
	return f.Kernel
}

// isCreated reports whether f was created by Module.Func.
func (f *Func) isCreated() bool { return f != nil && f.Kernel != nil && f.m != nil }

// reportForeignKernel reports a value of kernel of that is used in k. If k is a zero value, whose
// findings are lost, it reports the use in the other kernel too.
func (k *Kernel) reportForeignKernel(what string, of *Kernel) {
	k.fault(&ruleForeign, "%s of kernel %s is used in %s", what, of.Name(), k.Name())
	if k.m.stray && !of.m.stray {
		of.fault(&ruleForeign, "%s of kernel %s is used in a zero Kernel", what, of.Name())
	}
}

// reportForeignModule reports a value of module m that is used in k. If k is a zero value, whose
// findings are lost, it reports the use in module m too.
func (k *Kernel) reportForeignModule(m *Module, format string, args ...any) {
	k.fault(&ruleForeign, format, args...)
	if k.m.stray && m != nil && !m.stray {
		m.fault(&ruleForeign, format, args...)
	}
}
