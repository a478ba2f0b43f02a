// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl/internal/fakecuda"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// saxpyText is a module of two kernels, which the fake driver implements in Go.
const saxpyText = `.version 7.8
.target sm_80
.address_size 64
.visible .entry saxpy(.param .u64 .ptr .global .align 4 x, .param .u64 .ptr .global .align 4 y, .param .f32 a, .param .u32 n)
{
	ret;
}
.visible .entry keep(.param .u64 .ptr .global .align 4 x, .param .b8 raw[4], .param .f64 d, .param .s8 c, .param .b16 h)
.reqntid 32, 1, 1
{
	ret;
}
`

// pretend returns a fake driver for saxpyText.
func pretend() *fakecuda.Driver {
	d := fakecuda.New()
	d.Params["saxpy"], d.Params["keep"] = []int{8, 8, 4, 4}, []int{8, 4, 8, 1, 2}
	d.Kernels["saxpy"] = func(d *fakecuda.Driver, l fakecuda.Launch) {
		n := int(binary.LittleEndian.Uint32(l.Values[20:]))
		x := d.Bytes(binary.LittleEndian.Uint64(l.Values), 4*n)
		y := d.Bytes(binary.LittleEndian.Uint64(l.Values[8:]), 4*n)
		f := func(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }
		for i := 0; i < 4*n; i += 4 {
			binary.LittleEndian.PutUint32(y[i:],
				math.Float32bits(f(l.Values[16:])*f(x[i:])+f(y[i:])))
		}
	}
	return d
}

// playRun runs `ptxdsl run` on a fake device.
func playRun(t *testing.T, d *fakecuda.Driver, stdin string,
	args ...string) (code int, stdout, stderr string) {
	t.Helper()
	// The module cache is a folder of the test.
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	var out, errs bytes.Buffer
	c := &call{stdin: strings.NewReader(stdin), stdout: &output{w: &out}, stderr: &output{w: &errs},
		command: runCommand(), args: args}
	c.flags = flag.NewFlagSet("run", flag.ContinueOnError)
	c.flags.SetOutput(io.Discard)
	c.open = func(name string) (*runtime.Device, error) {
		if name != "" && name != "cuda:0" {
			return runtime.Open("nothing:" + name)
		}
		l, err := d.Library()
		if err != nil {
			return nil, err
		}
		g, err := l.Open(0)
		if err != nil {
			return nil, err
		}
		return runtime.On(g), nil
	}
	code = c.command.run(c)
	for _, kind := range []string{"memory", "module", "event", "context"} {
		if n := d.Open(kind); n != 0 {
			t.Errorf("%d of kind %s are left", n, kind)
		}
	}
	return code, out.String(), errs.String()
}

func TestRun(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("m.ptx", []byte(saxpyText), 0o644); err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	five := &array{"f32", []int{5}, make([]byte, 20)}
	for i := range 5 {
		five.set(i, float64(i+1), 0)
	}
	if err := errors.Join(five.write(&file),
		os.WriteFile("y.npy", file.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
	saxpy := []string{"m.ptx", "-kernel", "saxpy", "-block", "32", "-threads", "5", "-arg",
		"f32=1,2,3,4,5", "-arg", "f32[5]=iota", "-arg", "0.5", "-arg", "5"}
	for _, test := range []struct {
		name           string
		args           []string
		code           int
		stdout, stderr string // contained in standard error; all of standard output
	}{
		{"print", append(saxpy, "-print", "y", "-print", "1"), 0,
			"y: 0.5 2 3.5 5 6.5\nx: 1 2 3 4 5\n", ""},
		{"limit", append(saxpy, "-print", "2", "-limit", "2"), 0, "y: 0.5 2 and 3 more\n", ""},
		{"want", append(saxpy, "-want", "y=f32=0.5,2,3.5,5,6.5"), 0, "y: as expected\n", ""},
		{"want other", append(saxpy, "-want", "y=f32=0.5,2,3.5,5,7"), 1,
			"y: 1 of 5 elements differ; the largest difference is at element 4, which is 6.5, expected 7\n",
			""},
		{"tolerance", append(saxpy, "-want", "y=f32=0.5,2,3.5,5,7", "-tolerance", "0.1"), 0,
			"y: as expected\n", ""},
		{"time", append(saxpy, "-time", "3"), 0,
			"time: 1500.00 us, the median of 3 launches (1500.00 to 1500.00)\n", ""},
		{"write", append(saxpy, "-write", "y=out.npy", "-want", "y=f32=0.5,2,3.5,5,6.5"), 0,
			"y: as expected\n", ""},
		{"read", append(saxpy[:7:7], "-arg", "y.npy", "-arg", "f32@y.npy", "-arg", "2", "-arg", "5",
			"-print", "y"), 0, "y: 3 6 9 12 15\n", ""},
		{"values", []string{"m.ptx", "-kernel", "keep", "-grid", "1", "-arg", "u8[4]", "-arg",
			"u8=1,2,3,4", "-arg", "1e300", "-arg", "-7", "-arg", "0xffff", "-print",
			"x"}, 0, "x: 0 0 0 0\n", ""},

		{"no grid", []string{"m.ptx"}, 2, "", "-grid or -threads"},
		{"no file", []string{"-grid", "1"}, 2, "", "expected one file"},
		{"two files", []string{"m.ptx", "n.ptx"}, 2, "", "expected one file"},
		{"missing", []string{"no.ptx", "-grid", "1"}, 2, "", "no.ptx"},
		{"bad grid", []string{"m.ptx", "-grid", "1,b"}, 2, "", "-grid 1,b"},
		{"bad threads", []string{"m.ptx", "-threads", "-3"}, 2, "", "-threads -3"},
		{"both", []string{"m.ptx", "-threads", "3", "-grid", "1"}, 2, "",
			"cannot be used together"},
		{"which kernel", []string{"m.ptx", "-grid", "1"}, 2, "",
			"several kernels (keep, saxpy); choose one with -kernel"},
		{"no kernel", []string{"m.ptx", "-grid", "1", "-kernel", "saxpi"}, 2, "",
			"did you mean saxpy?"},
		{"too few", []string{"m.ptx", "-grid", "1", "-kernel", "saxpy", "-arg", "1"}, 2, "",
			"has 4 parameters, but -arg is given 1 times: x: a pointer"},
		{"no pointer", append(saxpy[:7:7], "-arg", "7", "-arg", "f32[5]", "-arg", "1", "-arg", "1"),
			2, "", "a pointer parameter takes an array"},
		{"no number", append(saxpy[:11:11], "-arg", "x", "-arg", "1"), 2, "",
			`"x" is not a value of type f32`},
		{"out of range", append(saxpy[:11:11], "-arg", "1", "-arg", "-1"), 2, "",
			`"-1" is not a value of type u32`},
		{"no block",
			[]string{"m.ptx", "-kernel", "saxpy", "-grid", "1", "-arg", "f32[1]", "-arg", "f32[1]",
				"-arg", "1", "-arg", "1"}, 2, "", "the block size is unknown; set it with Config.Block (-block of ptxdsl run)"},
		{"bad array",
			append(saxpy[:7:7], "-arg", "f31[5]", "-arg", "f32[5]", "-arg", "1", "-arg", "1"), 2,
			"", `"f31" is not a type`},
		{"bad filling",
			append(saxpy[:7:7], "-arg", "f32[5]=ones", "-arg", "f32[5]", "-arg", "1", "-arg", "1"),
			2, "", "cannot fill an array"},
		{"no such array", append(saxpy, "-print", "z"), 2, "",
			"no argument has that name or index"},
		{"print a number", append(saxpy, "-print", "n"), 2, "", "is not an array"},
		{"write nowhere", append(saxpy, "-write", "y"), 2, "", "array=file.npy"},
		{"want nothing", append(saxpy, "-want", "y"), 2, "", "array=argument"},
		{"want a lie", append(saxpy, "-want", "y=f32[4]"), 1, "y: 5 elements, expected 4\n", ""},
		{"no device", append(saxpy, "-device", "x"), 2, "", `"nothing:x" is not a device`},
		{"not a file of NumPy",
			append(saxpy[:7:7], "-arg", "f32@m.ptx", "-arg", "f32[5]", "-arg", "1", "-arg", "1"), 2,
			"", "m.ptx: not a .npy file"},
		{"a flag that is none", append(saxpy, "-gird", "1"), 2, "", "did you mean -grid?"},
	} {
		t.Run(test.name, func(t *testing.T) {
			code, stdout, stderr := playRun(t, pretend(), "", test.args...)
			if code != test.code || !strings.Contains(stderr, test.stderr) {
				t.Errorf("exit %d, not %d; standard error, where %q is expected:\n%s", code,
					test.code, test.stderr, stderr)
			}
			if d := cmp.Diff(test.stdout, stdout); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestRunWrites checks that a written array can be read back.
func TestRunWrites(t *testing.T) {
	t.Chdir(t.TempDir())
	args := []string{"-", "-kernel", "saxpy", "-block", "32", "-threads", "3", "-arg", "f32=1,2,3",
		"-arg", "f32[3]", "-arg", "2", "-arg", "3"}
	for _, more := range [][]string{{"-write", "y=y.npy"}, {"-want", "y=y.npy"}} {
		if code, _, stderr := playRun(t, pretend(), saxpyText,
			append(args, more...)...); code != 0 || stderr != "" {
			t.Errorf("%v: exit %d, %s", more, code, stderr)
		}
	}
	a, err := readArray("y.npy")
	if err != nil || a.typ != "f32" || a.text(2) != "6" {
		t.Errorf("%v, %v", a, err)
	}
}

// TestRunRefused checks the output for a module that does not assemble.
func TestRunRefused(t *testing.T) {
	d := pretend()
	d.Log = "ptxas application ptx input, line 4; error   : Unknown modifier '.u33'\n"
	code, _, stderr := playRun(t, d,
		".version 7.0\n.target sm_80\n.visible .entry k() {\n\tadd.u33 !;\n}\n", "-grid", "1",
		"-block", "1", "-")
	for _, want := range []string{"4:2: error driver: Unknown modifier '.u33'", "add.u33 !;",
		"CUDA_ERROR_INVALID_PTX"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("no %q in:\n%s", want, stderr)
		}
	}
	if code != exitFindings {
		t.Errorf("exit %d", code)
	}
}

// TestRunShared checks the message for a kernel that needs dynamic shared memory when the launch
// gives none.
func TestRunShared(t *testing.T) {
	text := strings.Replace(saxpyText, "{\n\tret;",
		"{\n\t.reg .b32 %r1;\n\tmov.u32 %r1, tiles;\n\tret;", 1)
	text = strings.Replace(text, ".visible",
		".extern .shared .align 16 .b8 tiles[];\n.extern .shared .b8 other[];\n.visible", 1)
	args := []string{"-", "-kernel", "saxpy", "-block", "32", "-threads", "3", "-arg", "f32=1,2,3",
		"-arg", "f32[3]", "-arg", "2", "-arg", "3"}
	if code, _, stderr := playRun(t, pretend(), text, args...); code != 0 ||
		!strings.Contains(stderr,
			"uses dynamic shared memory (tiles), but the launch gives none: set its size with -shared") {
		t.Errorf("exit %d, %s", code, stderr)
	}
	if code, _, stderr := playRun(t, pretend(), text,
		append(args, "-shared", "1024")...); code != 0 || stderr != "" {
		t.Errorf("exit %d, %s", code, stderr)
	}
	if names := launchShared(text, "keep"); names != nil {
		t.Errorf("kernel keep uses %v", names)
	}
}

// TestArrays checks how arguments are parsed to numbers, and their conversion to other types.
func TestArrays(t *testing.T) {
	for _, test := range []struct{ text, as, want string }{
		{"f32[3]=2.5", "", "2.5 2.5 2.5"},
		{"bf16=1,0.1", "", "1 0.100097656"},
		{"f16=65504,-0.5", "f64", "65504 -0.5"},
		{"u8[4]=iota", "f32", "0 1 2 3"},
		{"s64=-9223372036854775808", "", "-9223372036854775808"},
		{"u64=18446744073709551615", "", "18446744073709551615"},
		{"b16=0xff", "", "0x00ff"},
		{"f32=1.75,-2.5", "s8", "1 -2"},
		{"s32=-1", "b32", "0xffffffff"},
		{"f32=300", "u8", `"300" is not a value of type u8`},
		{"u8=256", "", `"256" is not a value of type u8`},
		{"u8[99999999999999]", "", "array length 99999999999999 is out of range"},
		{"f32", "", "is not an array"},
		{"f32[2]=random:x", "", "random:x: expected a number as the seed"},
	} {
		a, err := parseArray(test.text)
		if err == nil && test.as != "" {
			a, err = a.convert(test.as)
		}
		if err != nil {
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: %v", test.text, err)
			}
			continue
		}
		var words []string
		for i := range a.length() {
			words = append(words, a.text(i))
		}
		if got := strings.Join(words, " "); got != test.want {
			t.Errorf("%s as %s: %s, not %s", test.text, test.as, got, test.want)
		}
	}
	x, _ := parseArray("f32[100]=random:7")
	y, _ := parseArray("f32[100]=random:7")
	z, _ := parseArray("f32[100]=random:8")
	if x.describeDifference(y, 0) != "" || z.describeDifference(x, 0.01) == "" {
		t.Error("random numbers do not depend on their seed alone")
	}
}

// TestTensorMapArgument checks the message for a parameter that is a tensor map.
func TestTensorMapArgument(t *testing.T) {
	p := runtime.Param{Name: "x", Type: "b8", Size: 128, Align: 64, Count: 128}
	if _, _, err := argumentFor(p, "1"); err == nil ||
		!strings.HasPrefix(err.Error(), "run cannot pass tensor maps") {
		t.Errorf("got %v", err)
	}
}
