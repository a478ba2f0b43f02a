// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/runtime"
)

// An interleaved test copies a box of a tensor with interleaved channels. The expected results are
// those of an H100 (80GB HBM3, driver 580.159.04).
type interleaved struct {
	name                      string
	leave, swizzle            int
	sizes, strides, box, step []int // innermost first; strides in bytes
	at                        []int
	// the corner of an im2col map in all dimensions, or 0 for a tiled one
	upper int
	nan   bool
	// The units of 16 bytes of shared memory, as offsets in the tensor. "40*3" is 40, 50 and 60, z
	// are zeros and n NaN. A store has pairs of offsets instead: in the tensor, and in shared
	// memory.
	want   string
	stores bool
}

// TestInterleaved compares copies of tensors with interleaved channels with an H100.
func TestInterleaved(t *testing.T) {
	two, three := []int{8, 5, 48, 3}, []int{8, 3, 3, 48, 3}
	wide := []int{256, 4096, 65536}
	for _, x := range []interleaved{
		{name: "slice 1", leave: 16, sizes: two, strides: wide, box: []int{8, 3, 16, 2},
			at:   []int{1, 1, 1, 1},
			want: "11110*7 z 11210*7 z 11310*7 z 21110*7 z 21210*7 z 21310*7 z"},
		{name: "slices of 32 bytes", leave: 32, swizzle: 32, sizes: two, strides: wide,
			box: []int{8, 3, 32, 2}, at: []int{1, 1, 1, 1},
			want: "11120*8 111b0 111a0 111d0 111c0 111f0 111e0 z*2 11220*8 112b0 112a0 112d0 112c0 112f0 112e0 z*2 11320*8 113b0 113a0 113d0 113c0 113f0 113e0 z*2 21120*8 211b0 211a0 211d0 211c0 211f0 211e0 z*2 21220*8 212b0 212a0 212d0 212c0 212f0 212e0 z*2 21320*8 213b0 213a0 213d0 213c0 213f0 213e0 z*2"},
		{name: "swizzle of 32 bytes", leave: 16, swizzle: 32, sizes: two, strides: wide,
			box: []int{8, 3, 16, 2}, at: []int{0, 0, 0, 0},
			want: "0*8 110 100 130 120 150 140 170 160 200*8 10010 10000 10030 10020 10050 10040 10070 10060 10100*8 10210 10200 10230 10220 10250 10240 10270 10260"},
		{name: "swizzle of 128 bytes", leave: 16, swizzle: 128, sizes: two, strides: wide,
			box: []int{8, 3, 16, 2}, at: []int{0, 0, 0, 0},
			want: "0*8 110 100 130 120 150 140 170 160 220*2 200*2 260*2 240*2 10030 10020 10010 10000 10070 10060 10050 10040 10140*4 10100*4 10250 10240 10270 10260 10210 10200 10230 10220"},
		{name: "five dimensions", leave: 16, sizes: three, strides: []int{256, 1024, 4096, 65536},
			box: []int{8, 2, 2, 16, 2}, at: []int{1, 1, 1, 1, 1},
			want: "11510*7 z 11610*7 z 11910*7 z 11a10*7 z 21510*7 z 21610*7 z 21910*7 z 21a10*7 z"},
		{name: "steps", leave: 16, sizes: []int{9, 48, 3}, strides: wide[1:], box: []int{8, 32, 2},
			step: []int{3, 1, 1}, at: []int{1, 0, 0},
			want: "10 40 70 10010 10040 10070"},
		{name: "steps of 32 bytes", leave: 32, swizzle: 32, sizes: []int{9, 48, 3},
			strides: wide[1:], box: []int{8, 32, 2}, step: []int{3, 1, 1}, at: []int{1, 0, 0},
			want: "20*2 80*2 e0*2 10020*2 10090 10080 100f0 100e0"},
		{name: "steps of all dimensions", leave: 16, sizes: []int{6, 48, 3}, strides: wide[1:],
			box: []int{8, 32, 2}, step: []int{2, 2, 2}, at: []int{0, 0, 0},
			want: "0 20 40 z"},
		{name: "before the tensor", leave: 16, sizes: []int{6, 24, 3}, strides: wide[1:],
			box: []int{8, 16, 2}, at: []int{-2, 1, -1},
			want: "z*10 1000*6"},
		{name: "last slice", leave: 16, sizes: []int{8, 24, 3}, strides: wide[1:],
			box: []int{8, 8, 1}, at: []int{0, 23, 0}, want: "17000*8"},
		{name: "slice after the last", leave: 16, sizes: []int{8, 24, 3}, strides: wide[1:],
			box: []int{8, 8, 1}, at: []int{0, 24, 0}, want: "z*8"},
		{name: "slice before the first", leave: 16, sizes: []int{8, 24, 3}, strides: wide[1:],
			box: []int{8, 8, 1}, at: []int{0, -1, 0}, want: "z*8"},
		{name: "NaN", leave: 16, nan: true, sizes: two, strides: wide, box: []int{8, 3, 16, 2},
			at:   []int{3, 3, 5, 1},
			want: "15330*5 n*3 15430*5 n*11 25330*5 n*3 25430*5 n*11"},
		{name: "im2col", leave: 16, sizes: []int{6, 5, 48, 3}, strides: wide, upper: -1,
			at: []int{1, 1, 1, 0}, want: "1220*4 1310*4"},
		{name: "im2col, next image", leave: 16, sizes: []int{6, 5, 48, 3}, strides: wide, upper: -1,
			at: []int{4, 3, 0, 0}, want: "450 10110*5 10210*2"},
		{name: "im2col, 32 bytes", leave: 32, swizzle: 32, sizes: []int{6, 5, 96, 3}, strides: wide,
			upper: -1, at: []int{4, 3, 0, 0},
			want: "4a0*2 10120*6 10190 10180 101b0 101a0 10230 10220 10250 10240"},
		{name: "im2col, steps", leave: 16, sizes: []int{6, 5, 48, 3}, strides: wide, upper: -1,
			step: []int{1, 2, 1, 1}, at: []int{0, 0, 0, 0}, want: "110*5 310*3"},
		{name: "im2col, three dimensions", leave: 16, sizes: []int{6, 48, 3}, strides: wide[1:],
			upper: -1, at: []int{0, 0, 0}, want: "10*5 10010*3"},
		{name: "im2col, slice after the last", leave: 16, sizes: []int{6, 5, 48, 3}, strides: wide,
			upper: -1, at: []int{0, 0, 56, 0}, want: "z*8"},
		{name: "store", leave: 16, stores: true, sizes: two, strides: wide, box: []int{8, 3, 16, 2},
			at:   []int{3, 3, 5, 1},
			want: "15330=0 15340=10 15350=20 15360=30 15370=40 15430=80 15440=90 15450=a0 15460=b0 15470=c0 25330=180 25340=190 25350=1a0 25360=1b0 25370=1c0 25430=200 25440=210 25450=220 25460=230 25470=240"},
		{name: "store of 32 bytes", leave: 32, swizzle: 32, stores: true, sizes: two, strides: wide,
			box: []int{8, 3, 32, 2}, at: []int{3, 3, 5, 1},
			want: "15360=0 15370=10 15380=20 15390=30 153a0=40 153b0=50 153c0=60 153d0=70 153e0=90 153f0=80 15460=100 15470=110 15480=120 15490=130 154a0=140 154b0=150 154c0=160 154d0=170 154e0=190 154f0=180 25360=300 25370=310 25380=320 25390=330 253a0=340 253b0=350 253c0=360 253d0=370 253e0=390 253f0=380 25460=400 25470=410 25480=420 25490=430 254a0=440 254b0=450 254c0=460 254d0=470 254e0=490 254f0=480"},
		{name: "store after the last slice", leave: 16, stores: true, sizes: two, strides: wide,
			box: []int{8, 3, 16, 2}, at: []int{0, 0, 56, 0}},
	} {
		t.Run(x.name, func(t *testing.T) { x.compare(t) })
	}
}

// compare runs the copy and compares its destination.
func (x *interleaved) compare(t *testing.T) {
	copied := &tensorTest{version: "8.3", target: "sm_90a", sizes: reversed(x.sizes),
		stores: x.stores,
		options: []runtime.MapOption{runtime.As("u32"), runtime.Interleave(x.leave),
			runtime.Swizzle(x.swizzle)}}
	strides := []int{}
	last := x.leave
	for i, s := range x.strides {
		strides = append(strides, s/4)
		last += (x.sizes[i+1] - 1) * s
	}
	copied.words = (last + (x.sizes[0]-1)*x.leave) / 4
	copied.options = append(copied.options, runtime.Strides(reversed(strides)...))
	if x.nan {
		copied.options = append(copied.options, runtime.NaN(), runtime.As("f32"))
	}
	if x.step != nil {
		copied.options = append(copied.options, runtime.Steps(reversed(x.step)...))
	}
	rank, at := len(x.sizes), strings.Trim(strings.ReplaceAll(fmt.Sprint(x.at), " ", ", "), "[]")
	switch {
	case x.stores:
		copied.box = reversed(x.box)
		copied.copy = fmt.Sprintf(
			"cp.async.bulk.tensor.%dd.global.shared::cta.bulk_group [%%d7, {%s}], [s];", rank, at)
	case x.box != nil:
		copied.box = reversed(x.box)
		copied.copy = fmt.Sprintf(
			"cp.async.bulk.tensor.%dd.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%%d7, {%s}], [bar];",
			rank, at)
	default:
		copied.window = &runtime.Window{Lower: make([]int, rank-2),
			Upper: slices.Repeat([]int{x.upper}, rank-2)}
		copied.channels, copied.pixels = 8, 8
		copied.copy = fmt.Sprintf(
			"mov.b16 %%h1, 1; cp.async.bulk.tensor.%dd.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [s], [%%d7, {%s}], [bar], {%s};",
			rank, at, strings.Join(slices.Repeat([]string{"%h1"}, rank-2), ", "))
	}
	want := x.words(t)
	if !x.stores {
		copied.bytes = 4 * len(want)
	}
	for i, got := range copied.run(t) {
		expected := uint32(outside)
		switch v, ok := want[i]; {
		case ok:
			expected = v
		case x.stores:
			expected = uint32(i + 1)
		}
		if got != expected {
			t.Fatalf("word %d is %x, and %x on an H100", i, got, expected)
		}
	}
}

// words returns the expected words of the destination by their index.
func (x *interleaved) words(t *testing.T) map[int]uint32 {
	t.Helper()
	offset := func(text string) int {
		n, err := strconv.ParseUint(text, 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		return int(n)
	}
	want := make(map[int]uint32)
	for _, word := range strings.Fields(x.want) {
		if to, from, ok := strings.Cut(word, "="); ok {
			for i := range 4 {
				want[offset(to)/4+i] = uint32(1000 + offset(from)/4 + i)
			}
			continue
		}
		text, times, _ := strings.Cut(word, "*")
		n := 4
		if times != "" {
			count, err := strconv.Atoi(times)
			if err != nil {
				t.Fatal(err)
			}
			n *= count
		}
		for i := range n {
			v := uint32(0)
			switch text {
			case "z":
			case "n":
				v = 0x7ff77ff7
			default:
				v = uint32(offset(text)/4 + i + 1)
			}
			want[len(want)] = v
		}
	}
	return want
}

// reversed returns a list in reverse order.
func reversed(list []int) []int {
	list = slices.Clone(list)
	slices.Reverse(list)
	return list
}
