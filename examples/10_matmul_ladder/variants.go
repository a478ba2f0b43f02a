// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ladder

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// Variants returns one test configuration for each version and swizzle, and for each type.
func Variants() []kerneltest.Variant {
	var list []kerneltest.Variant
	add := func(option, name string, version int, t Tiling) {
		targets := []string{"sm_90", "sm_120a"}
		switch version {
		case 0:
			targets = []string{"sm_80", "sm_90", "sm_120a"}
		case 3, 4:
			targets = []string{"sm_90", "sm_90a", "sm_120a"} // sm_90 has no setmaxnreg
			if t.Stages*(t.M+t.N)*int(t.Swizzle) > 99<<10 {
				targets = targets[:2]
			}
		}
		v := kerneltest.Variant{
			Option: option, Name: name, Targets: targets,
			Build: func(m *dsl.Module) { build(version)(m, t) },
			Check: func(k *kerneltest.T) error { return check(k, version, t) },
			Why:   "the result is rounded, and the sum is truncated to F32 every 16 products",
		}
		if t.Type == isa.S8 {
			v.Why = "integers are exact"
		}
		list = append(list, v)
	}
	options := []string{"v0", "v1 with swizzles of 32, 64 and 128 bytes", "v2",
		"v3: persistent, setmaxnreg, ping-pong", "v4: persistent, eight warps share a tile"}
	for version, option := range options {
		tiling, swizzles := Default, []dsl.Swizzle{dsl.Swizzle128, dsl.Swizzle64, dsl.Swizzle32}
		switch version {
		case 3:
			tiling, swizzles = Persistent, []dsl.Swizzle{dsl.Swizzle64, dsl.Swizzle32}
		case 4:
			tiling, swizzles = Deep, []dsl.Swizzle{dsl.Swizzle128, dsl.Swizzle64}
		}
		for i, s := range swizzles {
			name := fmt.Sprintf("v%d", version)
			if i > 0 {
				name += fmt.Sprintf(".swizzle%d", s)
			}
			add(option, name, version, tiling.Swizzled(s))
		}
		if version == 4 {
			swizzles = swizzles[1:]
		}
		tiling.Type = isa.F16
		add("F16", fmt.Sprintf("v%d.f16", version), version, tiling.Swizzled(swizzles[0]))
		tiling.Type = isa.S8
		add("INT8", fmt.Sprintf("v%d.s8", version), version, tiling.Swizzled(swizzles[0]))
	}
	return append(list, oneSource()...)
}

// oneSource returns the test configurations that build all versions from the same Go source.
func oneSource() []kerneltest.Variant {
	first := kerneltest.Variant{
		Option: "sm_90 and sm_120 builds of one source", Name: "all versions",
		Targets: []string{"sm_90", "sm_120a"},
		Build: func(m *dsl.Module) {
			for version, tiling := range []Tiling{Default, Default, Default, Persistent,
				Deep.Swizzled(dsl.Swizzle64)} {
				build(version)(m, tiling)
			}
		},
		Check: func(t *kerneltest.T) error { return check(t, 2, Default) },
		Why:   "the result is rounded, and the sum is truncated to F32 every 16 products",
	}
	second := first
	second.Option = "one host program for all rungs"
	return []kerneltest.Variant{first, second}
}
