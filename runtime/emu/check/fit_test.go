// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/runtime/device"
	"github.com/ptxdsl/ptxdsl/runtime/emu/check"
)

// TestFit checks that a launch that does not fit the kernel is an error.
func TestFit(t *testing.T) {
	const kernel = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n) .reqntid 64
{
	.reg .b32 %r<4>; .reg .b64 %d<4>; .reg .pred %p;
	ld.param.u64 %d1, [out]; ld.param.u32 %r1, [n];
	mov.u32 %r2, %tid.x; setp.ge.u32 %p, %r2, %r1; @%p bra e;
	mul.wide.u32 %d2, %r2, 4; add.u64 %d3, %d1, %d2; st.global.u32 [%d3], %r2;
e:	ret;
}
`
	array := check.Arg{Array: make([]byte, 256)}
	long := func(n byte, last byte) check.Arg {
		return check.Arg{Value: []byte{n, 0, 0, 0, 0, 0, 0, last}}
	}
	tests := []struct {
		name   string
		launch check.Launch
		want   string
	}{
		{"right", check.Launch{Args: []check.Arg{array, long(64, 0)}}, ""},
		{"a block that fits", check.Launch{Block: [3]uint32{64, 1, 1}}, ""},
		{"an integer", check.Launch{Integers: map[string]uint64{"n": 5}}, ""},
		{"too few arguments", check.Launch{Args: []check.Arg{array}},
			"it has 1 argument, but the kernel has 2 parameters"},
		{"an array for an integer", check.Launch{Args: []check.Arg{array, array}},
			"argument 2 is an array, but parameter n has 4 bytes"},
		{"a large integer", check.Launch{Args: []check.Arg{array, long(64, 1)}},
			"argument 2 does not fit parameter n, which has 4 bytes"},
		{"another block", check.Launch{Block: [3]uint32{32, 1, 1}},
			"its blocks have 32x1x1 threads, but .reqntid requires 64x1x1"},
		{"an unknown integer", check.Launch{Integers: map[string]uint64{"n": 5, "z": 1, "m": 5}},
			"parameter m cannot be set: no kernel in k.ptx has a parameter of this name"},
		{"an address", check.Launch{Integers: map[string]uint64{"out": 5}},
			"parameter out of kernel k in k.ptx cannot be set: the kernel uses it as an address"},
		{"a field of an integer", check.Launch{Integers: map[string]uint64{"n[4]": 5}},
			"parameter n[4] of kernel k in k.ptx cannot be set: the parameter is not a structure"},
		{"a wide integer", check.Launch{Integers: map[string]uint64{"n": 1 << 32}},
			"parameter n of kernel k in k.ptx cannot be set: 4294967296 does not fit 4 bytes"},
		{"arguments and an integer", check.Launch{Args: []check.Arg{array, long(64, 0)},
			Integers: map[string]uint64{"n": 5}}, "it has arguments, and integers can be set only"},
	}
	for _, test := range tests {
		results, err := check.File("k.ptx", kernel, check.Options{Launch: &test.launch, Search: -1})
		if test.want == "" {
			if err != nil || results[0].Verdict() == "error" {
				t.Errorf("%s: %v %v", test.name, err, results)
			}
			if n, given := test.launch.Integers["n"]; given &&
				!strings.Contains(fmt.Sprint(results[0].Tried), fmt.Sprintf("n = %d", n)) {
				t.Errorf("%s: %v", test.name, results[0].Tried)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", test.name, err, test.want)
		}
	}
}

// A placed is a module whose text is emitted by lines of kernel.go, ten lines below their own.
type placed string

func (p placed) Text() (string, error) { return string(p), nil }

func (p placed) Places(string) func(int) (diag.Place, []diag.Place, bool) {
	return func(line int) (diag.Place, []diag.Place, bool) {
		return diag.Place{File: "kernel.go", Line: line + 10}, nil, true
	}
}

// A failures records the failures of a test.
type failures struct {
	testing.TB
	list    []string
	cleanup func()
}

func (f *failures) Cleanup(end func()) { f.cleanup = end }
func (f *failures) Error(a ...any)     { f.list = append(f.list, fmt.Sprint(a...)) }

func (f *failures) Helper()             {}
func (f *failures) Logf(string, ...any) {}
func (f *failures) Errorf(format string, a ...any) {
	f.list = append(f.list, fmt.Sprintf(format, a...))
}

// TestKernelPlaces checks that the findings of Kernel are at the lines that emitted the PTX.
func TestKernelPlaces(t *testing.T) {
	f := &failures{TB: t}
	check.Kernel(f, placed(body("", `ld.global.u32 %r2, [%d1];
	st.global.u32 [%d1], %r1;`)), nil)
	all := strings.Join(f.list, "\n")
	if !strings.Contains(all, "kernel.go:19: error") || !strings.Contains(all, "(module.ptx:9)") {
		t.Errorf("no error at kernel.go:19:\n%s", all)
	}
	for line := range strings.Lines(all) {
		if strings.HasPrefix(line, "\tmodule.ptx") {
			t.Errorf("a related place is in the PTX: %s", line)
		}
	}
}

// TestDevice checks that a test with a device of check fails if its launches race.
func TestDevice(t *testing.T) {
	const load = "ld.global.u32 %r2, [%d2];"
	const store = `mul.wide.u32 %d2, %r1, 4; add.u64 %d2, %d1, %d2; st.global.u32 [%d2], %r1;`
	for _, test := range []struct{ name, text, want string }{
		{"right", store, ""},
		{"wrong", "xor.b32 %r3, %r1, 32; mul.wide.u32 %d2, %r3, 4; add.u64 %d2, %d1, %d2;" + load +
			store,
			"error E1: data race between warps of a block"},
	} {
		f := &failures{TB: t}
		d := check.Device(f, "sm_90a", 0)
		m := placed(body("", test.text))
		loaded, err := d.Load(device.Image{Name: "module.ptx", PTX: string(m), Place: m.Places("")})
		if err != nil {
			t.Fatal(err)
		}
		k, err := d.Kernel(loaded.Module, "k", 1)
		if err != nil {
			t.Fatal(err)
		}
		at, err := d.Allocate(256)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Fill(at, 0, 4, 64, 0); err != nil {
			t.Fatal(err)
		}
		err = k.Launch(&device.Launch{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{64, 1, 1},
			Values: binary.LittleEndian.AppendUint64(nil, uint64(at)), Places: []int{0}})
		if err != nil {
			t.Fatal(err)
		}
		f.cleanup()
		all := strings.Join(f.list, "\n")
		if test.want == "" && all != "" || !strings.Contains(all, test.want) ||
			test.want != "" && strings.Count(all, "(kernel.go:18)") < 2 {
			t.Errorf("%s: got %s", test.name, all)
		}
	}
}
