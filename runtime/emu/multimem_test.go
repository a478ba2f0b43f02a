// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu_test

import (
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/device"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// allReduceText adds the vectors of all devices. Each device reduces one part of the vector at the
// multicast address, stores the sums to all devices, and increments a counter.
const allReduceText = `.version 8.3
.target sm_90
.address_size 64
.visible .entry k(.param .u64 multi, .param .u32 first, .param .u64 count) {
.reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<9>; .reg .pred %p<2>;
ld.param.u64 %d0, [multi]; ld.param.u32 %r1, [first]; ld.param.u64 %d3, [count];
mov.u32 %r0, %tid.x; add.u32 %r0, %r0, %r1; mul.wide.u32 %d1, %r0, 16; add.u64 %d2, %d0, %d1;
multimem.ld_reduce.relaxed.sys.global.add.v4.f32 {%f0, %f1, %f2, %f3}, [%d2];
multimem.st.relaxed.sys.global.v4.f32 [%d2], {%f0, %f1, %f2, %f3};
setp.eq.u32 %p0, %r0, %r1;
@%p0 multimem.red.release.sys.global.add.u32 [%d3], 1;
ret;
}
`

// TestAllReduce reduces vectors over two and three emulated devices that run at the same time.
func TestAllReduce(t *testing.T) {
	for _, devices := range []int{2, 3} {
		const each = 32 * 4 // elements that a device reduces
		n := each * devices
		var backs []*emu.Device
		for i := range devices {
			d, err := emu.New(emu.Options{Number: i})
			if err != nil {
				t.Fatal(err)
			}
			backs = append(backs, d)
		}
		vector, e1 := emu.NewMulticast(int64(4*n), backs...)
		count, e2 := emu.NewMulticast(4, backs...)
		if e1 != nil || e2 != nil {
			t.Fatal(e1, e2)
		}
		var kernels []*runtime.Kernel
		for i, d := range backs {
			list, zero := make([]float32, n), uint32(0)
			for j := range list {
				list[j] = float32((i + 1) * (j + 1))
			}
			if err := d.Upload(vector.Parts[i], unsafe.Pointer(&list[0]), int64(4*n), 0,
				false); err != nil {
				t.Fatal(err)
			}
			if err := d.Upload(count.Parts[i], unsafe.Pointer(&zero), 4, 0, false); err != nil {
				t.Fatal(err)
			}
			m, err := runtime.On(d).Load(runtime.PTX(allReduceText))
			if err != nil {
				t.Fatal(err)
			}
			k, err := m.Kernel("k")
			if err != nil {
				t.Fatal(err)
			}
			kernels = append(kernels, k)
		}
		var all sync.WaitGroup
		errs := make([]error, devices)
		for i, k := range kernels {
			all.Go(func() {
				errs[i] = k.Launch(runtime.Grid(1).Block(32), uint64(vector.Address), uint32(32*i),
					uint64(count.Address))
			})
		}
		all.Wait()
		for i, d := range backs {
			if errs[i] != nil {
				t.Fatal(errs[i])
			}
			got, arrived := make([]float32, n), uint32(0)
			if err := d.Download(unsafe.Pointer(&got[0]), vector.Parts[i], int64(4*n), 0,
				false); err != nil {
				t.Fatal(err)
			}
			if err := d.Download(unsafe.Pointer(&arrived), count.Parts[i], 4, 0,
				false); err != nil {
				t.Fatal(err)
			}
			for j, x := range got {
				if want := float32((j + 1) * devices * (devices + 1) / 2); x != want {
					t.Fatalf("%d devices: device %d, element %d is %v, want %v", devices, i, j, x,
						want)
				}
			}
			if arrived != uint32(devices) {
				t.Errorf("%d devices: device %d has counted %d", devices, i, arrived)
			}
		}
	}
}

// TestMulticastFaults checks that other instructions cannot access a multicast address, and that a
// reduction requires initialized memory on every device.
func TestMulticastFaults(t *testing.T) {
	for body, want := range map[string]string{
		"ld.global.u32 %r1, [%d0];":                                              "an instruction other than multimem accesses a multicast address",
		"st.global.u32 [%d0], 1;":                                                "an instruction other than multimem accesses a multicast address",
		"multimem.ld_reduce.relaxed.sys.global.add.u32 %r1, [%d0];":              "never written: 4 bytes of part 1",
		"multimem.st.relaxed.sys.global.u32 [%d0+4096], 1;":                      "out of bounds",
		"multimem.st.relaxed.sys.global.u32 [%d0], 1; ld.global.u32 %r1, [%d1];": "",
	} {
		a, e1 := emu.New(emu.Options{})
		b, e2 := emu.New(emu.Options{Number: 1})
		if e1 != nil || e2 != nil {
			t.Fatal(e1, e2)
		}
		m, err := emu.NewMulticast(4, a, b)
		if err != nil {
			t.Fatal(err)
		}
		zero := uint32(0)
		if err := a.Upload(m.Parts[0], unsafe.Pointer(&zero), 4, 0, false); err != nil {
			t.Fatal(err)
		}
		text := ".version 8.3\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 m, .param .u64 p) {\n" +
			".reg .b32 %r<9>; .reg .b64 %d<9>;\nld.param.u64 %d0, [m]; ld.param.u64 %d1, [p];\n" +
			body + "\nret;\n}\n"
		module, err := runtime.On(a).Load(runtime.PTX(text))
		if err != nil {
			t.Fatal(err)
		}
		k, err := module.Kernel("k")
		if err != nil {
			t.Fatal(err)
		}
		err = k.Launch(runtime.Grid(1).Block(1), uint64(m.Address), uint64(m.Parts[0]))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
		var word uint32
		if err := b.Download(unsafe.Pointer(&word), device.Address(m.Parts[1]), 4, 0,
			false); err != nil {
			t.Error(err)
		} else if want == "" && word != 1 {
			t.Errorf("%s: the other device has %d", body, word)
		}
	}
}
