// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

// Zero values of modules and kernels. A zero value becomes usable and reports itself; a nil pointer
// is replaced by a throwaway, so that nothing panics.

// sound returns k, or a replacement if k was not created by a builder call.
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

// sound returns m, or a replacement if m was not created by New.
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

// body returns the kernel that f builds its body into.
func (f *Func) body() *Kernel {
	if f == nil {
		return nil
	}
	return f.Kernel
}

// made reports whether a module created f.
func (f *Func) made() bool { return f != nil && f.Kernel != nil && f.m != nil }

// foreign reports a value of another kernel that is used in k. The findings of a zero kernel are
// lost, so the other kernel gets the finding too.
func (k *Kernel) foreign(what string, of *Kernel) {
	k.fault(&ruleForeign, "%s of kernel %s is used in %s", what, of.Name(), k.Name())
	if k.m.stray && !of.m.stray {
		of.fault(&ruleForeign, "%s of kernel %s is used in a zero Kernel", what, of.Name())
	}
}

// alien reports a value of another module that is used in k. If k is a zero kernel, the other
// module gets the finding too, as with foreign.
func (k *Kernel) alien(m *Module, format string, args ...any) {
	k.fault(&ruleForeign, format, args...)
	if k.m.stray && m != nil && !m.stray {
		m.fault(&ruleForeign, format, args...)
	}
}
