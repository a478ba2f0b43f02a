// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package pressure_test

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/ptxdsl/ptxdsl/internal/ptxas"
	"github.com/ptxdsl/ptxdsl/passes/pressure"
)

// feature returns the value of a feature for the one kernel of a text.
func feature(t *testing.T, text, name string) int {
	t.Helper()
	return int(pressure.Measure(
		module(t, name, text))[0].Features[slices.Index(pressure.Names(), name)])
}

// Kernel bodies, most of which are shared with other tests.
const (
	triad = `
ld.param.u64 %rd1, [p];
mov.u32 %r1, %ctaid.x;
mov.u32 %r2, %ntid.x;
mov.u32 %r3, %tid.x;
mad.lo.s32 %r4, %r1, %r2, %r3;
mul.wide.s32 %rd2, %r4, 4;
add.s64 %rd3, %rd1, %rd2;
ld.global.f32 %f1, [%rd3];
ld.global.f32 %f2, [%rd3+4096];
fma.rn.f32 %f3, %f2, 0f40000000, %f1;
st.global.f32 [%rd3+8192], %f3;
ret;`
	vectors = `
ld.param.u64 %rd1, [p];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd2, %r1, 16;
add.s64 %rd3, %rd1, %rd2;
ld.global.v4.f32 {%f1,%f2,%f3,%f4}, [%rd3];
ld.global.v4.f32 {%f5,%f6,%f7,%f8}, [%rd3+4096];
add.f32 %f1, %f1, %f5;
add.f32 %f2, %f2, %f6;
add.f32 %f3, %f3, %f7;
add.f32 %f4, %f4, %f8;
st.global.v4.f32 [%rd3+8192], {%f1,%f2,%f3,%f4};
ret;`
	divisions = `
ld.param.u64 %rd1, [p];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd2, %r1, 4;
add.s64 %rd3, %rd1, %rd2;
ld.global.f32 %f1, [%rd3];
ld.global.f32 %f2, [%rd3+128];
div.rn.f32 %f3, %f1, %f2;
st.global.f32 [%rd3], %f3;
ret;`
	direct = `
ld.param.u64 %rd1, [p];
ld.global.u32 %r1, [%rd1];
ld.global.u32 %r2, [%rd1+4];
add.s32 %r3, %r1, %r2;
st.global.u32 [%rd1+8], %r3;
ret;`
	bytes = `
ld.param.u64 %rd1, [p];
mov.u32 %r1, %ctaid.x;
mov.u32 %r2, %ntid.x;
mov.u32 %r3, %tid.x;
mad.lo.s32 %r4, %r1, %r2, %r3;
cvt.s64.s32 %rd2, %r4;
add.s64 %rd3, %rd1, %rd2;
ld.global.u8 %r5, [%rd3];
add.s32 %r6, %r5, 1;
st.global.u8 [%rd3+4096], %r6;
ret;`
	widened = `
ld.param.u64 %rd1, [p];
mov.u32 %r1, %ctaid.x;
mov.u32 %r2, %ntid.x;
mov.u32 %r3, %tid.x;
mad.lo.s32 %r4, %r1, %r2, %r3;
mul.wide.s32 %rd2, %r4, 8;
add.s64 %rd3, %rd1, %rd2;
ld.global.s32 %rd4, [%rd3];
st.global.u64 [%rd3+4096], %rd4;
ret;`
	sums = `
ld.param.u64 %rd1, [p];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd2, %r1, 4;
add.s64 %rd3, %rd1, %rd2;
ld.global.u32 %r2, [%rd3];
ld.global.u32 %r3, [%rd3+4];
ld.global.u32 %r4, [%rd3+8];
ld.global.u32 %r5, [%rd3+12];
add.s32 %r6, %r2, %r3;
add.s32 %r7, %r6, %r4;
add.s32 %r8, %r7, %r5;
st.global.u32 [%rd3], %r8;
ret;`
	chained = `
ld.param.u64 %rd1, [p];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd2, %r1, 4;
add.s64 %rd3, %rd1, %rd2;
ld.global.nc.f32 %f1, [%rd3];
ld.global.f32 %f2, [%rd3+4096];
add.f32 %f3, %f1, %f2;
st.global.f32 [%rd3+4096], %f3;
mad.lo.s32 %r2, %r1, 3, %r1;
mul.wide.u32 %rd4, %r2, 4;
add.s64 %rd5, %rd1, %rd4;
ld.global.nc.f32 %f4, [%rd5];
ld.global.f32 %f5, [%rd5+4096];
add.f32 %f6, %f4, %f5;
st.global.f32 [%rd5+4096], %f6;
mad.lo.s32 %r3, %r1, 5, %r1;
mul.wide.u32 %rd6, %r3, 4;
add.s64 %rd7, %rd1, %rd6;
ld.global.nc.f32 %f7, [%rd7];
ld.global.f32 %f8, [%rd7+4096];
add.f32 %f9, %f7, %f8;
st.global.f32 [%rd7+4096], %f9;
ret;`
)

// TestSimulation compares the simulation, without the fitted correction, with the counts of ptxas,
// on one-block kernels for which they are equal.
func TestSimulation(t *testing.T) {
	tool, err := ptxas.Find()
	if err != nil {
		t.Fatal(err)
	}
	used := regexp.MustCompile(`Used (\d+) registers`)
	for _, test := range []struct{ name, target, body string }{
		{"triad", "sm_80", triad},
		{"triad", "sm_90", triad},
		{"triad", "sm_120", triad},
		{"vectors", "sm_90", vectors},
		{"vectors", "sm_75", vectors},
		{"direct", "sm_75", direct},
		{"direct", "sm_80", direct},
		{"divisions", "sm_90", divisions},
		{"bytes", "sm_75", bytes},
		{"bytes", "sm_100", bytes},
		{"bytes", "sm_107", bytes},
		{"bytes", "sm_120", bytes},
		{"widened", "sm_86", widened},
		{"widened", "sm_107", widened},
		{"widened", "sm_120", widened},
		{"sums", "sm_80", sums},
		{"sums", "sm_100", sums},
		{"chained", "sm_75", chained},
		{"chained", "sm_86", chained},
		{"chained", "sm_120", chained},
	} {
		text := kernel(test.target, "", test.body)
		_, v, err := tool.Assemble(context.Background(), text, ptxas.Options{Flags: []string{"-v"}})
		if err != nil {
			t.Fatal(err)
		}
		count := 0
		for _, m := range v.Messages {
			if found := used.FindStringSubmatch(m.Text); found != nil {
				count, _ = strconv.Atoi(found[1])
			}
		}
		if got := feature(t, text, "rested") + 2; got != count {
			t.Errorf("%s for %s: %d registers, ptxas uses %d", test.name, test.target, got, count)
		}
	}
}

// TestUnrolled checks which loops ptxas unrolls.
func TestUnrolled(t *testing.T) {
	loop := func(start, step, bound, work string) string {
		return kernel("sm_90", "", `
ld.param.u64 %rd1, [p];
ld.param.u32 %r2, [n];
mov.u32 %r1, `+start+`;
mov.u32 %r3, %laneid;
mov.f32 %f1, 0f00000000;
L: `+work+`
add.s32 %r1, %r1, `+step+`;
setp.lt.s32 %p1, %r1, `+bound+`;
@%p1 bra L;
st.global.f32 [%rd1], %f1;
ret;`)
	}
	const load = "ld.volatile.global.f32 %f2, [%rd1]; add.f32 %f1, %f1, %f2;"
	const plain = "ld.global.f32 %f2, [%rd1]; add.f32 %f1, %f1, %f2;"
	long := ""
	for range 20 {
		long += "fma.rn.f32 %f1, %f1, %f1, 0f3f800000;\n"
	}
	for _, test := range []struct {
		name, text string
		want       int
	}{
		{"a constant step", loop("0", "1", "%r2", plain), 1},
		{"a known number of times", loop("0", "1", "64", plain), 1},
		{"a step that is not constant", loop("0", "%r3", "%r2", plain), 0},
		{"a volatile load", loop("0", "1", "%r2", load), 0},
		{"a division with a subroutine", loop("0", "1", "%r2", "div.rn.f32 %f1, %f1, 0f40400000;"),
			0},
		{"a long body that waits for nothing", loop("0", "1", "%r2", long), 0},
		{"a pragma", loop("0", "1", "%r2", ".pragma \"nounroll\";\n"+plain), 0},
	} {
		if got := feature(t, test.text, "unrolled"); got != test.want {
			t.Errorf("%s: %d loops unrolled, want %d", test.name, got, test.want)
		}
	}
}

// TestSlow checks that nothing is reordered across an op that may call a subroutine: the results of
// later loads need no registers before it.
func TestSlow(t *testing.T) {
	body := func(divide string) string {
		text := "ld.param.u64 %rd1, [p];\nld.global.f32 %f1, [%rd1];\n" + divide +
			" %f2, %f1, 0f40400000;\nst.global.f32 [%rd1], %f2;\n"
		for i := 3; i < 19; i++ {
			text += "ld.global.nc.f32 %f" + strconv.Itoa(i) + ", [%rd1+" + strconv.Itoa(4*i) +
				"];\n"
			text += "add.f32 %f2, %f2, %f" + strconv.Itoa(i) + ";\n"
		}
		return kernel("sm_90", "",
			text+divide+" %f20, %f2, %f1;\nst.global.f32 [%rd1+4], %f20;\nret;")
	}
	exact, quick := body("div.rn.f32"), body("div.approx.f32")
	if n := feature(t, exact, "slow"); n != 2 {
		t.Errorf("%d slow instructions, want 2", n)
	}
	if n := feature(t, quick, "slow"); n != 0 {
		t.Errorf("%d slow instructions, want none", n)
	}
	if a, b := feature(t, exact, "dense"), feature(t, quick, "rested"); a > b {
		t.Errorf("with a subroutine as few registers as can be: %d, without %d", a, b)
	}
}

// TestCopiesInACircle measures registers that are copies of each other, a cycle that no real
// program has.
func TestCopiesInACircle(t *testing.T) {
	text := kernel("sm_90", "",
		"mov.u64 %rd1, %rd2;\nmov.u64 %rd2, %rd1;\nld.global.u32 %r1, [%rd1];\nst.global.u32 [%rd2], %r1;\nret;")
	if n := pressure.Of(module(t, "circle", text))[0].Registers; n < 4 {
		t.Errorf("%d registers", n)
	}
}
