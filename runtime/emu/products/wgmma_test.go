// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package products

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// A groupCase is one wgmma.mma_async instruction.
type groupCase struct {
	d, a, b              string
	n, k                 int // k includes the zeros of a sparse A
	sparse, registers    bool
	acrossA, acrossB     bool
	swizzleA, swizzleB   int
	negateA, negateB     bool
	accumulates, exactly bool
	selector             int
	saturates            bool
}

func (c groupCase) opcode() string {
	op := "wgmma.mma_async"
	if c.sparse {
		op += ".sp"
	}
	op += fmt.Sprintf(".sync.aligned.m64n%dk%d", c.n, c.k)
	if c.saturates {
		op += ".satfinite"
	}
	op += "." + c.d + "." + c.a + "." + c.b
	if c.a == "b1" {
		op += ".and.popc"
	}
	return op
}

var byName = map[string]number{
	"f16": f16, "bf16": bf16, "tf32": tf32, "e4m3": e4m3, "e5m2": e5m2, "s8": s8, "u8": u8,
	"b1": {name: "b1", bits: 1, mantissa: 1, integer: true},
}

// sumRegisters returns how many registers of a thread D takes.
func (c groupCase) sumRegisters() int {
	if c.d == "f16" {
		return c.n / 4
	}
	return c.n / 2
}

// groupOffsetB is the offset of B from the first byte of A in shared memory.
const groupOffsetB = 16384

// kernel returns PTX that copies an image of shared memory, multiplies, and stores D.
func (c groupCase) kernel() string {
	regs := c.sumRegisters()
	var s strings.Builder
	s.WriteString(
		".version 8.6\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 memory[];\n" +
			".visible .entry k(.param .u64 image, .param .u64 threads, .param .u64 out) {\n.reg .pred %p<3>;\n.reg .b32 %r<20>;\n.reg .b64 %d<20>;\n")
	fmt.Fprintf(&s, ".reg .b32 %%a<4>;\n.reg .b32 %%s<%d>;\n", regs)
	s.WriteString(
		"ld.param.u64 %d0, [image];\nld.param.u64 %d1, [threads];\nld.param.u64 %d2, [out];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, memory;\n" +
			"shl.b32 %r2, %r0, 4;\nloop:\ncvt.u64.u32 %d3, %r2;\nadd.u64 %d3, %d0, %d3;\nld.global.v4.b32 {%r4,%r5,%r6,%r7}, [%d3];\n" +
			"add.u32 %r3, %r1, %r2;\nst.shared.v4.b32 [%r3], {%r4,%r5,%r6,%r7};\nadd.u32 %r2, %r2, 2048;\nsetp.lt.u32 %p0, %r2, 65536;\n@%p0 bra loop;\n" +
			"fence.proxy.async;\nbar.sync 0;\n")
	// A thread has four registers of A, its metadata and its part of D.
	fmt.Fprintf(&s, "mad.wide.u32 %%d1, %%r0, %d, %%d1;\nld.global.b32 %%r8, [%%d1+16];\n",
		4*(5+regs))
	for i := range 4 {
		fmt.Fprintf(&s, "ld.global.b32 %%a%d, [%%d1+%d];\n", i, 4*i)
	}
	for i := range regs {
		fmt.Fprintf(&s, "ld.global.b32 %%s%d, [%%d1+%d];\n", i, 20+4*i)
	}
	left, right := c.layouts()
	fmt.Fprintf(&s, "cvt.u64.u32 %%d4, %%r1;\nshr.u64 %%d4, %%d4, 4;\nor.b64 %%d5, %%d4, 0x%x;\n",
		left.hopper())
	fmt.Fprintf(&s, "add.u64 %%d4, %%d4, %d;\nor.b64 %%d6, %%d4, 0x%x;\n", groupOffsetB/16,
		right.hopper())
	fmt.Fprintf(&s, "setp.ne.u32 %%p1, %d, 0;\nwgmma.fence.sync.aligned;\n", bit(c.accumulates))
	fmt.Fprintf(&s, "%s {%s}, ", c.opcode(), list("%s", regs))
	if c.registers {
		fmt.Fprintf(&s, "{%s}", list("%a", 4))
	} else {
		s.WriteString("%d5")
	}
	s.WriteString(", %d6")
	if c.sparse {
		fmt.Fprintf(&s, ", %%r8, %d", c.selector)
	}
	s.WriteString(", %p1")
	if c.d != "s32" {
		fmt.Fprintf(&s, ", %d, %d", 1-2*bit(c.negateA), 1-2*bit(c.negateB))
		if byName[c.a].bits == 16 {
			if !c.registers {
				fmt.Fprintf(&s, ", %d", bit(c.acrossA))
			}
			fmt.Fprintf(&s, ", %d", bit(c.acrossB))
		}
	}
	s.WriteString(";\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n")
	fmt.Fprintf(&s, "mad.wide.u32 %%d2, %%r0, %d, %%d2;\n", 4*regs)
	for i := range regs {
		fmt.Fprintf(&s, "st.global.b32 [%%d2+%d], %%s%d;\n", 4*i, i)
	}
	s.WriteString("ret;\n}\n")
	return s.String()
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// list returns a comma-separated list of n numbered names.
func list(name string, n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprint(name, i)
	}
	return strings.Join(all, ", ")
}

// layouts returns the layouts of A and B.
func (c groupCase) layouts() (left, right layout) {
	bits := byName[c.a].bits
	kept := c.k
	if c.sparse {
		kept /= 2
	}
	left = layoutFor(c.acrossA, c.swizzleA, 64, kept*bits/8, kept, bits)
	return left, layoutFor(c.acrossB, c.swizzleB, c.n, c.k*bits/8, c.k, bits)
}

// The fragment layouts of the PTX manual (9.7.15.5.1.1): which thread of the warpgroup holds which
// elements.

// sumPlace returns the thread, the register and the lowest bit of an element of D.
func sumPlace(half bool, row, col int) (thread, register, shift int) {
	thread = row/16*32 + row%8*4 + col%8/2
	if half {
		return thread, col/8*2 + row/8%2, col % 2 * 16
	}
	return thread, col/8*4 + row/8%2*2 + col%2, 0
}

// leftPlace does the same for an element of A. A register holds 32 bits of a row.
func leftPlace(bits, row, i int) (thread, register, shift int) {
	per := 32 / bits
	return row/16*32 + row%8*4 + i/per%4, i/(4*per)*2 + row/8%2, i % per * bits
}

// metaPlace returns the thread and the lowest bit of the four metadata bits of a chunk
// (9.7.14.5.2). For elements of 16 and 32 bits, the selector chooses the pair of threads of a quad
// that holds them. For 8 bits, all four threads do.
func metaPlace(bits, row, chunk, selector int) (thread, shift int) {
	thread = row/16*32 + row%8*4
	if bits == 8 {
		return thread + row/8%2 + chunk/8*2, chunk % 8 * 4
	}
	return thread + selector*2 + chunk/4, chunk%4*4 + row/8%2*16
}

// run multiplies and returns an error if the result is wrong.
func (c groupCase) run(dev *runtime.Device, r *rand.Rand) error {
	na, nb := byName[c.a], byName[c.b]
	memory := make([]byte, 65536)
	regs := c.sumRegisters()
	each := 5 + regs
	threads := make([]uint32, 128*each)
	a, b := randomCodes(r, na, 64, c.k, c.exactly), randomCodes(r, nb, c.n, c.k, c.exactly)
	kept := a
	if c.sparse {
		var places [][]uint64
		kept, places = sparsify(r, a, na, 1)
		for row := range places {
			for chunk, four := range places[row] {
				t, at := metaPlace(na.bits, row, chunk, c.selector)
				threads[t*each+4] |= uint32(four) << at
			}
		}
	}
	left, right := c.layouts()
	if c.registers {
		for row := range kept {
			for i, x := range kept[row] {
				t, reg, at := leftPlace(na.bits, row, i)
				threads[t*each+reg] |= uint32(x) << at
			}
		}
	} else {
		left.place(memory, 1024, na, false, kept) // the start of dynamic shared memory
	}
	right.place(memory, 1024+groupOffsetB, nb, false, b)
	half := c.d == "f16"
	before := func(row, col int) (t, reg, at int, x float64) {
		t, reg, at = sumPlace(half, row, col)
		return t, reg, at, float64((row*7+col*3)%17-8) / 4
	}
	for row := range 64 {
		for col := range c.n {
			t, reg, at, x := before(row, col)
			var bits uint32
			switch c.d {
			case "f16":
				bits = uint32(toHalf(x))
			case "f32":
				bits = math.Float32bits(float32(x))
			default:
				bits = uint32(int32(x * 4))
			}
			threads[t*each+5+reg] |= bits << at
		}
	}
	out, err := launchGroup(dev, c.kernel(), memory[1024:], threads, 128*regs)
	if err != nil {
		return err
	}
	for row := range 64 {
		for col := range c.n {
			t, reg, at, x := before(row, col)
			if c.d == "s32" {
				x *= 4
			}
			if err := c.compare(out[t*regs+reg]>>at, x, a[row], b[col]); err != nil {
				return fmt.Errorf("row %d, column %d: %w", row, col, err)
			}
		}
	}
	return nil
}

// compare checks an element of D against the sum over a row and a column.
func (c groupCase) compare(got uint32, before float64, a, b []uint64) error {
	na, nb := byName[c.a], byName[c.b]
	var want sum
	if c.accumulates {
		want.add(before)
	}
	sign := float64((1 - 2*bit(c.negateA)) * (1 - 2*bit(c.negateB)))
	for k, x := range a {
		want.add(sign * na.worth(x) * nb.worth(b[k]))
	}
	var is float64
	fraction, mantissa := 25, 23
	switch c.d {
	case "s32":
		if is = float64(int32(got)); is != want.value {
			return fmt.Errorf("%v, want %v", is, want.value)
		}
		return nil
	case "f16":
		is, mantissa = f16.worth(uint64(got&0xffff)), 10
	default:
		is = float64(math.Float32frombits(got))
	}
	if na.bits == 8 { // Hopper keeps 13 bits
		fraction, mantissa = 13, min(mantissa, 13)
	}
	exact := c.exactly && na.bits != 8 && c.d == "f32"
	if overflow := mantissa == 10 && math.Abs(want.value) > 60000; overflow {
		return nil
	}
	if exact && is != want.value || !want.near(is, len(a), fraction, mantissa) {
		return fmt.Errorf("%v, want %v, the largest term is %v", is, want.value, want.largest)
	}
	return nil
}

// launchGroup runs a kernel with one warpgroup.
func launchGroup(dev *runtime.Device, text string, image []byte, threads []uint32,
	words int) ([]uint32, error) {
	m, err := dev.Load(runtime.PTX(text))
	if err != nil {
		return nil, err
	}
	k, err := m.Kernel("k")
	if err != nil {
		return nil, err
	}
	image = append(image, make([]byte, 65536-len(image))...)
	in, err := runtime.Upload(dev, image)
	if err != nil {
		return nil, err
	}
	t, err := runtime.Upload(dev, threads)
	if err != nil {
		return nil, err
	}
	out, err := runtime.Alloc[uint32](dev, words)
	if err != nil {
		return nil, err
	}
	if err := k.Launch(runtime.Grid(1).Block(128).Shared(65536), in, t, out); err != nil {
		return nil, err
	}
	return runtime.Download(out)
}

// groupCases returns wgmma instructions of every type, with random shapes, layouts and modifiers.
func groupCases(r *rand.Rand) (all []groupCase) {
	types := [][3]string{
		{"f32", "f16", "f16"}, {"f16", "f16", "f16"}, {"f32", "bf16", "bf16"},
		{"f32", "tf32", "tf32"},
		{"f32", "e4m3", "e4m3"}, {"f32", "e4m3", "e5m2"}, {"f32", "e5m2", "e4m3"},
		{"f32", "e5m2", "e5m2"},
		{"f16", "e4m3", "e4m3"}, {"f16", "e5m2", "e4m3"},
		{"s32", "s8", "s8"}, {"s32", "u8", "u8"}, {"s32", "s8", "u8"}, {"s32", "u8", "s8"},
		{"s32", "b1", "b1"},
	}
	swizzles := []int{0, 32, 64, 128}
	flip := func() bool { return r.IntN(2) == 0 }
	for _, t := range types {
		for i := range 16 {
			bits := byName[t[1]].bits
			c := groupCase{d: t[0], a: t[1], b: t[2], n: 8 * (1 + r.IntN(32)), k: 256 / bits,
				accumulates: flip(), exactly: i%2 == 0}
			if t[0] == "s32" && c.n > 32 {
				c.n = c.n / 16 * 16
			} else if t[0] == "s32" && c.n == 24 {
				c.n = 32
			}
			c.sparse = i%4 > 1 && bits > 1
			c.registers = i/4%2 == 1
			c.swizzleA, c.swizzleB = swizzles[r.IntN(4)], swizzles[r.IntN(4)]
			if c.sparse {
				c.k *= 2
				if c.selector = r.IntN(2); bits == 8 {
					c.selector = 0
				}
				if c.swizzleB == 32 { // the depth of two instructions is wider
					c.swizzleB = 64
				}
			}
			if bits == 16 {
				c.acrossA, c.acrossB = flip() && !c.registers, flip()
				if c.acrossB && c.swizzleB > 0 {
					c.n = max(c.n/(c.swizzleB/2), 1) * (c.swizzleB / 2)
				}
			}
			if t[0] != "s32" {
				c.negateA, c.negateB = flip(), flip()
			} else {
				c.saturates = flip() && bits == 8
			}
			all = append(all, c)
		}
	}
	return all
}

// TestGroups runs kernels with wgmma and compares the results with matrix products of the decoded
// operands.
func TestGroups(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	all := groupCases(r)
	for i, c := range all {
		d, err := emu.New(
			emu.Options{Target: "sm_90a", Workers: 1, Completion: emu.Completion(i % 3),
				Seed: uint64(i)})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.run(runtime.On(d), r); err != nil {
			t.Errorf("%s, %+v: %v", c.opcode(), c, err)
		}
	}
	t.Logf("%d instructions", len(all))
}
