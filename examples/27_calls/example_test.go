// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package calls_test

import (
	"fmt"
	"log"
	"slices"

	"github.com/ptxdsl/ptxdsl/dsl"
	calls "github.com/ptxdsl/ptxdsl/examples/27_calls"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// The examples use an emulated device. runtime.Open("") opens a GPU, if there is one.
func open(device string) *calls.Library {
	d, err := runtime.Open(device)
	check(err)
	return calls.New(d)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// upload returns a buffer with elements.
func upload[E runtime.Element](l *calls.Library, xs ...E) *runtime.Buffer[E] {
	b, err := runtime.Upload(l.Device(), xs)
	check(err)
	return b
}

// show prints the elements of a buffer.
func show[E runtime.Element](b *runtime.Buffer[E]) {
	xs, err := runtime.Download(b)
	check(err)
	fmt.Println(xs)
}

// f16 returns numbers as F16.
func f16(xs ...float64) []runtime.F16 { return kerneltest.F16.Encode(xs) }

func ExampleRMSNorm() {
	l := open("emu:sm_80")
	x, w := upload[float32](l, 3, -3, 3, 1, 1, 1), upload[float32](l, 1, 2, 4)
	y := upload(l, make([]float32, 6)...)

	check(calls.RMSNorm(l, y, x, w, 2, 3, 0)) // 2 rows of 3

	show(y)
	// Output: [1 -2 4 1 2 4]
}

func ExampleAttention() {
	l := open("emu:sm_80")
	const width = 64
	q, k := upload(l, make([]runtime.F16, width)...), upload(l, make([]runtime.F16, 2*width)...)
	v := upload(l, slices.Concat(slices.Repeat(f16(1), width), slices.Repeat(f16(3), width))...)
	o := upload(l, make([]runtime.F16, width)...)

	check(calls.Attention(l, o, q, k, v, calls.Heads{Heads: 1, Queries: 1, Keys: 2, Width: width}))

	mean, err := runtime.Download(o) // the keys are equal
	check(err)
	fmt.Println(kerneltest.F16.Decode(mean[:3]))
	// Output: [2 2 2]
}

func ExampleMultiplyScaled() {
	l := open("emu:sm_100a")
	a, err := calls.Quantize(l, []float32{1, 2, 3, 4, 5, 6}, 2, 3, isa.E4m3, dsl.MXFP8)
	check(err)
	b, err := calls.Quantize(l, []float32{1, 0, 0, 0, 1, 1}, 2, 3, isa.E4m3, dsl.MXFP8)
	check(err)
	d := upload(l, make([]runtime.BF16, 4)...)

	check(calls.MultiplyScaled(l, d, a, b)) // D = A * B'

	xs, err := runtime.Download(d)
	check(err)
	fmt.Println(kerneltest.BF16.Decode(xs))
	// Output: [1 5 4 11]
}

func ExampleMultiplySparse() {
	l := open("emu:sm_80")
	a, err := calls.Compress(l, f16(1, 0, 0, 2, 0, 0, 3, 4), 2, 4)
	check(err)
	b := upload(l, f16(1, 10, 100, 1000)...) // one row of B
	d := upload(l, make([]float32, 2)...)

	check(calls.MultiplySparse(l, d, a, b, 1)) // D = A * B'

	show(d)
	// Output: [2001 4300]
}

func ExampleTopK() {
	l := open("emu:sm_80")
	x, random := upload[float32](l, 0.5, 7, -1, 3), upload[float32](l, 0)
	values := upload(l, make([]float32, 2)...)
	columns, tokens := upload(l, make([]uint32, 2)...), upload[uint32](l, 0)

	check(calls.TopK(l, values, columns, tokens, x, random, 1, 4,
		calls.Sampling{Count: 2, Temperature: 1, TopP: 1}))

	show(values)
	show(columns)
	show(tokens)
	// Output:
	// [7 3]
	// [1 3]
	// [1]
}

func ExampleNormRope() {
	l := open("emu:sm_80")
	const width = 64
	x, w := upload(l, slices.Repeat([]float32{3}, width)...),
		upload(l, slices.Repeat([]float32{1}, width)...)
	y := upload(l, make([]float32, width)...)
	cosines, sines := upload(l, make([]float32, width/2)...),
		upload(l, slices.Repeat([]float32{1}, width/2)...) // a quarter of a turn

	check(calls.NormRope(l, y, x, w, cosines, sines,
		calls.Rotation{Tokens: 1, Heads: 1, Width: 64}))

	xs, err := runtime.Download(y)
	check(err)
	fmt.Println(xs[0], xs[width/2])
	// Output: -1 1
}

func ExampleMLADecode() {
	l := open("emu:sm_80")
	q := upload(l, make([]runtime.F16, 576)...)
	cache := upload(l, slices.Repeat(f16(2), 32*576)...) // one page of 32 tokens
	o := upload(l, make([]runtime.F16, 512)...)

	check(calls.MLADecode(l, o, q, cache, calls.Latent{Heads: 1, Lengths: []int{5},
		PageTokens: 32, Pages: [][]int{{0}}, Scale: 1}))

	xs, err := runtime.Download(o)
	check(err)
	fmt.Println(kerneltest.F16.Decode(xs[:3]))
	// Output: [2 2 2]
}

func ExampleAllReduce() {
	l := open("emu:sm_80")
	x, y := upload[float32](l, 1, 2), upload[float32](l, 10, 20)

	check(calls.AllReduce([]*calls.Library{l, l}, []*runtime.Buffer[float32]{x, y}))

	show(x)
	show(y)
	// Output:
	// [11 22]
	// [11 22]
}

func ExampleSwiGLU() {
	l := open("emu:sm_90a")
	const n, k, one = 8, 16, 0x38 // 1 in E4M3
	matrix := func(rows int) calls.FP8 {
		return calls.FP8{Elements: upload(l, slices.Repeat([]uint8{one}, rows*k)...),
			Factors: upload[float32](l, 1)}
	}
	d := upload(l, make([]runtime.BF16, n)...)

	check(calls.SwiGLU(l, d, matrix(1), matrix(n), matrix(n),
		calls.Experts{Rows: []int{1}, N: n, K: k}))

	xs, err := runtime.Download(d) // silu(16) * 16
	check(err)
	fmt.Println(kerneltest.BF16.Decode(xs[:2]))
	// Output: [256 256]
}
