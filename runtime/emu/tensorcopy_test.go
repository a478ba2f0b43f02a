// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu_test

import (
	"fmt"
	"testing"

	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// A tensorTest copies a box to shared memory or back, and compares all words of the destination.
type tensorTest struct {
	name, version, target string
	sizes, box            []int // in words, outermost first; box is for a tiled map
	words                 int   // of the tensor's buffer, or 0 for the product of the sizes
	options               []runtime.MapOption
	window                *runtime.Window // for an im2col map
	channels, pixels      int
	// Runs before the copy, by one thread; %d7 is the address of the map.
	before string
	copy   string // copies words to or from s, with the map at %d7
	bytes  int    // number of bytes to copy
	stores bool
	// want returns the word of the target at an index: shared memory, or the tensor. The tensor
	// holds the index plus 1 at each place, shared memory the index plus 1000 before a store.
	want func(i int) uint32
}

// outside is the expected value where nothing was written.
const outside = 0xdeadbeef

// run runs the test and returns the words of the destination.
func (x *tensorTest) run(t *testing.T) []uint32 {
	d := open(t, emu.Options{Target: x.target})
	n := 1
	for _, s := range x.sizes {
		n *= s
	}
	words := make([]uint32, max(n, x.words))
	for i := range words {
		words[i] = uint32(i + 1)
	}
	tensor, err := runtime.Upload(d, words)
	if err != nil {
		t.Fatal(err)
	}
	var m *runtime.TensorMap
	if x.window != nil {
		m, err = runtime.Im2col(tensor, x.sizes, *x.window, x.channels, x.pixels, x.options...)
	} else {
		m, err = runtime.Tiled(tensor, x.sizes, x.box, x.options...)
	}
	if err != nil {
		t.Fatal(err)
	}
	finish := fmt.Sprintf("mbarrier.arrive.expect_tx.shared.b64 %%d5, [bar], %d;\n%s\n", x.bytes,
		x.copy)
	wait := "bar.sync 0;\n" + waitBar
	if x.stores {
		finish = "fence.proxy.async;\n" + x.copy +
			"\ncp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n"
		wait = "bar.sync 0;\n"
	}
	text := fmt.Sprintf(".version %s\n.target %s\n.address_size 64\n", x.version, x.target) +
		".shared .align 1024 .b8 s[4096];\n.shared .align 8 .b64 bar;\n.shared .align 128 .b8 own[128];\n.global .align 128 .b8 copied[128];\n" +
		`.visible .entry k(.param .u64 out, .param .align 64 .b8 map[128]) {
.reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<40>; .reg .b64 %d<20>;
ld.param.u64 %d0, [out]; mov.u64 %d7, map; cvta.param.u64 %d7, %d7; mov.u32 %r0, %tid.x; mov.u32 %r1, s; mov.u32 %r2, own; setp.eq.u32 %p0, %r0, 0;
mad.lo.u32 %r3, %r0, 4, %r1;
` + map[bool]string{true: "add.u32 %r4, %r0, 1000;", false: "mov.u32 %r4, 0xdeadbeef;"}[x.stores] + `
fill: st.shared.u32 [%r3], %r4; add.u32 %r3, %r3, 128; add.u32 %r5, %r1, 4096; setp.lt.u32 %p1, %r3, %r5;
` + map[bool]string{true: "add.u32 %r4, %r4, 32;", false: ""}[x.stores] + `
@%p1 bra fill;
@%p0 mbarrier.init.shared.b64 [bar], 1;
bar.sync 0;
` + x.before + "\n@!%p0 bra meet;\n" + finish + "meet: " + wait + `
mov.u32 %r6, 0;
show: shl.b32 %r7, %r0, 2; add.u32 %r7, %r7, %r6; add.u32 %r8, %r1, %r7; ld.shared.u32 %r9, [%r8]; cvt.u64.u32 %d8, %r7; add.u64 %d8, %d0, %d8; st.global.u32 [%d8], %r9;
add.u32 %r6, %r6, 128; setp.lt.u32 %p1, %r6, 4096; @%p1 bra show;
ret;
}
`
	module, err := d.Load(runtime.PTX(text))
	if err != nil {
		t.Fatal(err)
	}
	k, err := module.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	out, err := runtime.Upload(d, make([]uint32, 1024))
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Launch(runtime.Grid(1).Block(32), out, m); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if x.stores {
		out = tensor
	}
	got, err := runtime.Download(out)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

const load2 = "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%d7, {4, -1}], [bar];"

// box2 returns a word of a box of 8 rows and 32 columns. The box starts at column 4 and row -1 of a
// tensor of 16 by 64.
func box2(row, col int) uint32 {
	if row -= 1; row < 0 {
		return 0
	}
	return uint32(row*64 + col + 4 + 1)
}

// swizzledWord returns the row and the column of the word at index i of a box with 128-byte rows,
// when units of the given size are permuted within groups of rows.
func swizzledWord(i, unit int) (row, col int) {
	row, col = i/32, i%32
	units := 128 / unit
	at := col * 4 / unit
	return row, (at^row%units)*unit/4 + col%(unit/4)
}

// replace returns PTX that sets fields of a copy of the tensor map in shared memory, and publishes
// it.
func replace(fields string) string {
	return `cvt.u64.u32 %d9, %r0; shl.b64 %d9, %d9, 2; add.u64 %d10, %d7, %d9; ld.u32 %r10, [%d10]; mad.lo.u32 %r11, %r0, 4, %r2; st.shared.u32 [%r11], %r10; bar.sync 0;
@!%p0 bra done;
` + fields + `
done: bar.sync 0; mov.u64 %d7, copied; cvta.global.u64 %d7, %d7; mov.u64 %d11, own;
tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d7], [%d11], 128;
fence.proxy.tensormap::generic.acquire.gpu [%d7], 128;`
}

// TestTensorCopies compares every mode of tensor copies with plain loops over the tensor.
func TestTensorCopies(t *testing.T) {
	tiled := []int{16, 64}
	for _, x := range []tensorTest{
		{name: "tile", version: "8.3", target: "sm_90a", sizes: tiled, box: []int{8, 32},
			copy: load2, bytes: 1024,
			want: func(i int) uint32 { return box2(i/32, i%32) }},
		{name: "swizzle of 128 bytes", version: "8.3", target: "sm_90a", sizes: tiled,
			box: []int{8, 32}, options: []runtime.MapOption{runtime.Swizzle(128)}, copy: load2,
			bytes: 1024,
			want:  func(i int) uint32 { return box2(swizzledWord(i, 16)) }},
		{name: "swizzle of 64 bytes", version: "8.3", target: "sm_90a", sizes: tiled,
			box: []int{8, 16}, options: []runtime.MapOption{runtime.Swizzle(64)}, copy: load2,
			bytes: 512,
			want:  func(i int) uint32 { return box2(i/16, (i%16/4^i/32%4)*4+i%4) }},
		{name: "swizzle of 32 bytes", version: "8.3", target: "sm_90a", sizes: tiled,
			box: []int{8, 8}, options: []runtime.MapOption{runtime.Swizzle(32)}, copy: load2,
			bytes: 256,
			want:  func(i int) uint32 { return box2(i/8, (i%8/4^i/32%2)*4+i%4) }},
		{name: "atoms of 32 bytes", version: "8.6", target: "sm_100a", sizes: tiled,
			box: []int{8, 32}, options: []runtime.MapOption{runtime.Swizzle(128)}, copy: load2,
			bytes: 1024,
			before: replace(
				"tensormap.replace.tile.swizzle_atomicity.shared::cta.b1024.b32 [%r2], 1;"),
			want: func(i int) uint32 { return box2(swizzledWord(i, 32)) }},
		{name: "another tensor", version: "8.3", target: "sm_90a", sizes: tiled, box: []int{8, 32},
			copy:  "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%d7, {0, 0}], [bar];",
			bytes: 128,
			before: replace(
				`tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r2], 0, 16; tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r2], 1, 2;
tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r2], 0, 12; tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%r2], 0, 512;
tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%r2], 1; tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%r2], 7;`),
			want: func(i int) uint32 {
				switch {
				case i >= 32:
					return outside
				case i%16 >= 12:
					return 0x7ff77ff7
				}
				return uint32(i/16*128 + i%16 + 1)
			}},
		{name: "gather", version: "8.6", target: "sm_100a", sizes: tiled, box: []int{1, 32},
			bytes: 512,
			copy:  "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [s], [%d7, {4, 9, 2, 20, 2}], [bar];",
			want: func(i int) uint32 {
				rows := []int{9, 2, 20, 2}
				switch {
				case i >= 128:
					return outside
				case i/32 == 2:
					return 0
				}
				return uint32(rows[i/32]*64 + 4 + i%32 + 1)
			}},
		{name: "scatter", version: "8.6", target: "sm_100a", sizes: tiled, box: []int{1, 32},
			stores: true,
			copy:   "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%d7, {4, 9, 2, 20, 0}], [s];",
			want: func(i int) uint32 {
				row, ok := map[int]int{9: 0, 2: 1, 0: 3}[i/64]
				if col := i%64 - 4; ok && col >= 0 && col < 32 {
					return uint32(1000 + row*32 + col)
				}
				return uint32(i + 1)
			}},
		{name: "other sizes and strides", version: "9.4", target: "sm_107a", sizes: tiled,
			box: []int{8, 32}, bytes: 1024,
			// A tensor of 5 rows of 20 words, 512 bytes apart, which starts at row 1 and column 4
			// of the other tensor.
			copy: "add.u64 %d12, %d9, 272; mov.b16 %h1, 20; mov.b16 %h2, 0x4405; mov.b32 %r20, 32; mov.b16 %h3, 0;\n" +
				"cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes.override::global_address.override::global_dim_stride " +
				"[s], [%d7, %d12, {%h1, %h2}, {%r20}, %h3, {0, 0}], [bar];",
			before: "ld.u64 %d9, [%d7];", // a map begins with the address
			want: func(i int) uint32 {
				if row, col := i/32, i%32; row < 5 && col < 20 {
					return uint32((1+2*row)*64 + 4 + col + 1)
				}
				return 0
			}},
		{name: "store with other sizes and strides", version: "9.4", target: "sm_107a",
			sizes: tiled, box: []int{8, 32}, stores: true,
			copy: "add.u64 %d12, %d9, 272; mov.b16 %h1, 20; mov.b16 %h2, 0x4405; mov.b32 %r20, 32; mov.b16 %h3, 0;\n" +
				"cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group.override::global_address.override::global_dim_stride " +
				"[%d7, %d12, {%h1, %h2}, {%r20}, %h3, {0, 0}], [s];",
			before: "ld.u64 %d9, [%d7];",
			want: func(i int) uint32 {
				row, col := i/64-1, i%64-4
				if row >= 0 && row%2 == 0 && row/2 < 5 && col >= 0 && col < 20 {
					return uint32(1000 + row/2*32 + col)
				}
				return uint32(i + 1)
			}},
		{name: "tile store", version: "8.3", target: "sm_90a", sizes: tiled, box: []int{8, 32},
			stores: true,
			copy:   "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%d7, {48, 12}], [s];",
			want: func(i int) uint32 {
				if row, col := i/64-12, i%64-48; row >= 0 && col >= 0 {
					return uint32(1000 + row*32 + col)
				}
				return uint32(i + 1)
			}},
		{name: "tile reduction", version: "8.3", target: "sm_90a", sizes: tiled, box: []int{8, 32},
			stores: true,
			copy:   "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%d7, {0, 8}], [s];",
			want: func(i int) uint32 {
				if row := i/64 - 8; row >= 0 && i%64 < 32 {
					return uint32(i + 1 + 1000 + row*32 + i%64)
				}
				return uint32(i + 1)
			}},
		// Two images of 5 by 6 pixels of 8 channels; a filter of 3 by 3 with a margin of 1.
		{name: "im2col", version: "8.3", target: "sm_90a", sizes: []int{2, 5, 6, 8},
			window:   &runtime.Window{Lower: []int{-1, -1}, Upper: []int{-1, -1}},
			channels: 4, pixels: 40, bytes: 40 * 4 * 4,
			copy: "mov.b16 %h1, 2; mov.b16 %h2, 1; cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [s], [%d7, {4, 1, 2, 0}], [bar], {%h1, %h2};",
			want: func(i int) uint32 {
				if i >= 160 {
					return outside
				}
				n, h, w := 0, 2, 1 // the first pixel
				for range i / 4 {
					if w++; w > 4 {
						w = -1
						if h++; h > 3 {
							h = -1
							n++
						}
					}
				}
				x, y := w+2, h+1
				if n > 1 || x < 0 || x > 5 || y < 0 || y > 4 {
					return 0
				}
				return uint32(((n*5+y)*6+x)*8 + 4 + i%4 + 1)
			}},
	} {
		t.Run(x.name, func(t *testing.T) {
			for i, got := range x.run(t) {
				if !x.stores && i*4 >= 4096 {
					break
				}
				want := x.want
				if !x.stores && x.box != nil && i >= x.bytes/4 {
					want = func(int) uint32 { return outside }
				}
				if got != want(i) {
					t.Fatalf("word %d: %d (%08x), want %d", i, got, got, want(i))
				}
			}
		})
	}
}
