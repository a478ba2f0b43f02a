// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

// Modules and kernels that no builder call made: a zero one becomes one that can be built on and tells what it is, a nil one gives way to one that
// nobody sees, so that nothing panics.

// sound is k, or a kernel in its place if no builder call made k.
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

// strayTarget is what is built for where nobody says.
const strayTarget = "sm_100a"

// sound is m, or a module in its place if New did not make m.
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

// body is the kernel that f builds its body into.
func (f *Func) body() *Kernel {
	if f == nil {
		return nil
	}
	return f.Kernel
}

// made reports whether a module made f.
func (f *Func) made() bool { return f != nil && f.Kernel != nil && f.m != nil }

// foreign records that k is given what belongs to another kernel. A kernel that no builder call made is one that nobody may ask for findings, so the
// other one is told too.
func (k *Kernel) foreign(what string, of *Kernel) {
	k.fault(&ruleForeign, "%s of kernel %s is used in %s", what, of.Name(), k.Name())
	if k.m.stray && !of.m.stray {
		of.fault(&ruleForeign, "%s of kernel %s is used in a zero Kernel", what, of.Name())
	}
}

// alien records that k is given what belongs to another module, as foreign does.
func (k *Kernel) alien(m *Module, format string, args ...any) {
	k.fault(&ruleForeign, format, args...)
	if k.m.stray && m != nil && !m.stray {
		m.fault(&ruleForeign, format, args...)
	}
}
