// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package pressure_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl"
	"github.com/ptxdsl/ptxdsl/internal/oracle/roundtrip"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/pressure"
)

// module lifts a text, and fails the test if it has errors.
func module(t testing.TB, name, text string) *ir.Module {
	t.Helper()
	m, list := ptxdsl.Load(name, text)
	if m == nil {
		t.Fatal(list.Err())
	}
	return m
}

// kernel returns the text of a kernel with some registers and a body.
func kernel(target, attributes, body string) string {
	version := "8.7"
	if strings.HasPrefix(target, "sm_107") {
		version = "9.4" // the first PTX version with this target
	}
	return ".version " + version + "\n.target " + target +
		"\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n)\n" + attributes + `
{
	.reg .pred %p<9>;
	.reg .b16 %h<9>;
	.reg .b32 %r<40>;
	.reg .f32 %f<40>;
	.reg .b64 %rd<9>;
	.reg .b128 %q<3>;
` + body + "\n}\n"
}

// TestPoint checks the peak and its live registers in small kernels.
func TestPoint(t *testing.T) {
	for _, test := range []struct{ name, body, want string }{
		{"nothing", "ret;", "0:"},
		{"the address is held, the value put into a register for the store", `
ld.param.u64 %rd1, [p];
cvta.to.global.u64 %rd2, %rd1;
mov.u32 %r1, 7;
st.global.u32 [%rd2], %r1;
ret;`, "3: st.global.u32 %rd1*2"},
		{"an index and a value", `
ld.param.u64 %rd1, [p];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd2, %r1, 4;
add.s64 %rd3, %rd1, %rd2;
ld.global.u32 %r2, [%rd3];
st.global.u32 [%rd3], %r2;
ret;`, "3: st.global.u32 %r2 %rd3*2"},
		{"dead values need none", `
ld.param.u64 %rd1, [p];
mov.u32 %r1, %tid.x;
add.u32 %r2, %r1, 1;
mul.lo.u32 %r3, %r1, %r2;
st.global.u32 [%rd1], %r1;
ret;`, "3: st.global.u32 %r1 %rd1*2"},
		{"moves are copies", `
ld.param.u64 %rd1, [p];
mov.u32 %r1, %tid.x;
mov.u32 %r2, %r1;
mov.b32 %f1, %r2;
st.global.u32 [%rd1], %r1;
st.global.f32 [%rd1+4], %f1;
ret;`, "3: st.global.f32 %r1 %rd1*2"},
		{"parts of a pair are its words", `
ld.param.u64 %rd1, [p];
ld.global.u64 %rd2, [%rd1];
mov.b64 {%r1, %r2}, %rd2;
st.global.u32 [%rd1], %r2;
ret;`, "4: ld.global.u64 %rd1*2 %rd2*2"},
		{"128 bits are four words", `
ld.param.u64 %rd1, [p];
ld.global.b128 %q1, [%rd1];
st.global.b128 [%rd1+16], %q1;
ret;`, "6: st.global.b128 %rd1*2 %q1*4"},
		{"a value of the warp needs no register of the thread", `
ld.param.u64 %rd1, [p];
mov.u32 %r1, %ctaid.x;
add.u32 %r2, %r1, 3;
mov.u32 %r3, %tid.x;
add.u32 %r4, %r2, %r3;
st.global.u32 [%rd1], %r4;
ret;`, "3: st.global.u32 %r4 %rd1*2"},
		{"the base that a loop adds to stays in registers", `
ld.param.u64 %rd1, [p];
ld.param.u32 %r3, [n];
mov.u32 %r1, %tid.x;
L:
mul.wide.s32 %rd2, %r1, 4;
add.s64 %rd3, %rd1, %rd2;
ld.global.u32 %r2, [%rd3];
st.global.u32 [%rd3], %r2;
add.s32 %r1, %r1, 32;
setp.lt.s32 %p1, %r1, %r3;
@%p1 bra L;
ret;`, "6: st.global.u32 %r1 %r2 %rd1*2 %rd3*2"},
		{"a product in a sum that follows is no value of its own, though its factor changes later",
			`
ld.param.u64 %rd1, [p];
mov.u32 %r1, %tid.x;
mul.wide.s32 %rd2, %r1, 4;
add.s64 %rd3, %rd1, %rd2;
add.s32 %r1, %r1, 1;
st.global.u32 [%rd3], %r1;
ret;`, "3: st.global.u32 %r1 %rd3*2"},
		{"the sign of what is loaded is made behind", `
ld.param.u64 %rd1, [p];
ld.global.s8 %rd2, [%rd1];
st.global.u64 [%rd1], %rd2;
ret;`, "4: st.global.u64 %rd1*2 %rd2*2"},
	} {
		m := module(t, test.name, kernel("sm_90", "", test.body))
		k := pressure.Of(m)[0]
		got := fmt.Sprint(k.Peak.Words, ":")
		if k.Peak.Instr != nil {
			got += " " + k.Peak.Instr.Op
		}
		for _, l := range k.Peak.Live {
			got += " " + l.Reg.Name
			if l.Words > 1 {
				got += fmt.Sprint("*", l.Words)
			}
		}
		got = strings.Replace(got, " :", ":", 1)
		if d := cmp.Diff(test.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, d)
		}
	}
}

// TestLimits checks the limits that directives set against the PTX manual.
func TestLimits(t *testing.T) {
	for _, test := range []struct {
		attributes     string
		limit, threads int
	}{
		{"", 0, 0},
		{".maxnreg 40", 40, 0},
		{".maxntid 1024", 64, 1024},
		{".maxntid 32, 4, 2", 255, 256},
		{".reqntid 256\n.minnctapersm 4", 64, 256},
		{".maxntid 384", 168, 384},
		// more threads than possible: ptxas warns and ignores it
		{".maxntid 1024\n.minnctapersm 4", 64, 1024},
		{".maxntid 32\n.minnctapersm 33", 255, 32},
		{".maxnreg 32\n.maxntid 128", 32, 128},
	} {
		k := pressure.Of(module(t, test.attributes, kernel("sm_90", test.attributes, "ret;")))[0]
		if k.Limit != test.limit || k.Threads != test.threads {
			t.Errorf("%q: at most %d registers, %d threads; want %d and %d", test.attributes,
				k.Limit, k.Threads, test.limit, test.threads)
		}
	}
}

// TestShares lists the ways to distribute warpgroups over budgets.
func TestShares(t *testing.T) {
	body := `
mov.u32 %r1, %tid.x;
setp.ge.u32 %p1, %r1, 128;
@%p1 bra MATH;
setmaxnreg.dec.sync.aligned.u32 40;
ret;
MATH:
setmaxnreg.inc.sync.aligned.u32 232;
ret;`
	k := pressure.Of(module(t, "roles", kernel("sm_90a", ".reqntid 384", body)))[0]
	if k.Registers != 168 || k.Budgets.Pool(k.Registers) != 384*168 {
		t.Errorf("%d registers, %d in the pool", k.Registers, k.Budgets.Pool(k.Registers))
	}
	got := fmt.Sprint(k.Budgets.Shares(k.Registers))
	if want := "[{[1 2] 64512} {[2 1] 39936}]"; got != want {
		t.Errorf("shares %s, want %s", got, want)
	}
	k = pressure.Of(module(t, "roles", kernel("sm_90a", ".maxnreg 160\n.reqntid 384", body)))[0]
	got = fmt.Sprint(k.Budgets.Shares(k.Registers))
	if want := "[{[2 1] 39936}]"; k.Registers != 160 || got != want {
		t.Errorf("%d registers, shares %s, want %s", k.Registers, got, want)
	}
}

// TestModel writes a model and parses it again, and rejects malformed models.
func TestModel(t *testing.T) {
	text := pressure.Calibrated().String()
	m, err := pressure.ParseModel(text)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(text, m.String()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	names := strings.Join(pressure.Names(), " ")
	for _, bad := range []string{"", "#\nx\n=1", "#\n" + names + "\n0<3,1,2 =1",
		"#\n" + names + "\n=x", "#\n" + names + "\n999<1,1,2 =1 =2",
		"#\n" + names + "\n0<1,0,1 =1"} {
		if _, err := pressure.ParseModel(bad); err == nil {
			t.Errorf("%q is accepted as a model", bad)
		}
	}
}

// TestCorpus measures real modules: two runs agree, counts are within the limits of a thread, and
// the live words add up.
func TestCorpus(t *testing.T) {
	list, err := roundtrip.Sources("../../internal/oracle/corpus/testdata/corpus.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	kernels := 0
	for i, s := range list {
		if testing.Short() && i%8 != 0 {
			continue
		}
		m := module(t, s.Name, s.Text)
		first, second := pressure.Of(m), pressure.Of(m)
		for j := range first {
			k := &first[j]
			kernels++
			if k.Registers < 4 || k.Registers > 255 || k.Limit > 0 && k.Registers > k.Limit {
				t.Errorf("%s: %s: %d registers, limit %d", s.Name, k.Func.Name, k.Registers,
					k.Limit)
			}
			if k.Registers != second[j].Registers || k.Peak.Instr != second[j].Peak.Instr {
				t.Errorf("%s: %s: not the same again", s.Name, k.Func.Name)
			}
			sum := 0
			for _, l := range k.Peak.Live {
				sum += l.Words
			}
			if sum > k.Peak.Words {
				t.Errorf("%s: %s: %d words in use, %d of them named", s.Name, k.Func.Name,
					k.Peak.Words, sum)
			}
		}
	}
	if kernels < 10 {
		t.Errorf("%d kernels", kernels)
	}
}

// TestManyBlocks measures a kernel of 20,000 blocks with values that are live in all of them.
func TestManyBlocks(t *testing.T) {
	var b strings.Builder
	b.WriteString("ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\n")
	for i := 2; i < 30; i++ {
		fmt.Fprintf(&b, "ld.global.u32 %%r%d, [%%rd1+%d];\n", i, 4*i)
	}
	for i := range 10000 {
		fmt.Fprintf(&b, "setp.eq.u32 %%p1, %%r1, %d;\n@%%p1 bra L%d;\nbar.sync 0;\nL%d:\n", i, i, i)
	}
	for i := 2; i < 30; i++ {
		fmt.Fprintf(&b, "st.global.u32 [%%rd1+%d], %%r%d;\n", 4*i, i)
	}
	b.WriteString("ret;")
	m := module(t, "many", kernel("sm_90", "", b.String()))
	start := time.Now()
	k := pressure.Of(m)[0]
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
	if k.Peak.Words < 28 {
		t.Errorf("%d words in use at most", k.Peak.Words)
	}
}
