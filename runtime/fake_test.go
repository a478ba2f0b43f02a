// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package runtime_test

import (
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/internal/fakecuda"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/device"
)

// open returns a device of a fake driver. Closing the device must free everything that the test
// leaves open.
func open(t *testing.T, d *fakecuda.Driver) *runtime.Device {
	t.Helper()
	declare(d)
	l, err := d.Library()
	if err != nil {
		t.Fatal(err)
	}
	c, err := l.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	dev := runtime.On(c)
	t.Cleanup(func() {
		if err := dev.Close(); err != nil && !errors.Is(err, runtime.ErrClosed) {
			t.Error(err)
		}
		for _, kind := range []string{"memory", "host", "stream", "event", "graph", "exec",
			"module", "context"} {
			if n := d.Open(kind); n != 0 {
				t.Errorf("%d of kind %s are left when the device is closed", n, kind)
			}
		}
	})
	return dev
}

// declare sets the parameters of the kernels below in the fake driver.
func declare(d *fakecuda.Driver) {
	d.Params["vecadd"] = []int{8, 8, 8, 4}
	d.Params["mixed"] = []int{1, 2, 4, 8, 128, 8, 5}
	d.Params["clustered"] = []int{4}
}

// must returns a function that fails the test on an error.
func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// check fails the test on an error.
func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// refused checks that an error contains words and is of a kind.
func refused(t *testing.T, err error, kind error, words string) {
	t.Helper()
	switch {
	case err == nil:
		t.Errorf("no error; one with %q is expected", words)
	case !strings.Contains(err.Error(), words):
		t.Errorf("%q does not say %q", err, words)
	case kind != nil && !errors.Is(err, kind):
		t.Errorf("%q is not of the kind %q", err, kind)
	}
}

const vecadd = `.version 7.8
.target sm_80
.address_size 64
.visible .entry vecadd(
	.param .u64 .ptr .global .align 16 a,
	.param .u64 .ptr .global .align 16 b,
	.param .u64 .ptr .global .align 16 c,
	.param .u32 n
)
.reqntid 256, 1, 1
{
	ret;
}
.visible .entry mixed(.param .u8 b, .param .s16 h, .param .f32 f, .param .u64 l, .param .align 64 .b8 m[128], .param .f64 d, .param .b8 s[5])
.maxntid 64, 1, 1
{
	ret;
}
.visible .entry clustered(.param .b32 x)
.reqntid 128, 1, 1
.explicitcluster
.reqnctapercluster 2, 1, 1
{
	ret;
}
.global .u32 counter[16];
`

// addFake implements vector addition in the fake driver.
func addFake(d *fakecuda.Driver) {
	d.Kernels["vecadd"] = func(d *fakecuda.Driver, l fakecuda.Launch) {
		word := func(i int) uint64 { return binary.LittleEndian.Uint64(l.Values[8*i:]) }
		n := int(binary.LittleEndian.Uint32(l.Values[24:]))
		a, b, c := d.Bytes(word(0), 4*n), d.Bytes(word(1), 4*n), d.Bytes(word(2), 4*n)
		if a == nil || b == nil || c == nil {
			d.Lose()
			return
		}
		f := func(p []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(p)) }
		for i := 0; i < 4*n; i += 4 {
			binary.LittleEndian.PutUint32(c[i:], math.Float32bits(f(a[i:])+f(b[i:])))
		}
	}
}

// quietDevice ignores launches.
type quietDevice struct{ device.Device }

func (d quietDevice) Kernel(module device.Handle, name string, params int) (device.Kernel, error) {
	k, err := d.Device.Kernel(module, name, params)
	return quietKernel{k}, err
}

type quietKernel struct{ device.Kernel }

func (quietKernel) Launch(*device.Launch) error { return nil }
