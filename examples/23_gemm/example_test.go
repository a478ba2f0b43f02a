// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gemm_test

import (
	"errors"
	"fmt"
	"log"

	gemm "github.com/ptxdsl/ptxdsl/examples/23_gemm"
	"github.com/ptxdsl/ptxdsl/runtime"
)

func ExampleMultiply() {
	d, err := runtime.Open("emu:sm_80") // or "" for a GPU
	if err != nil {
		log.Fatal(err)
	}
	l := gemm.New(d)
	a, e1 := runtime.Upload(d, []float64{1, 2, 3, 4, 5, 6})
	b, e2 := runtime.Upload(d, []float64{1, 10, 100})
	c, e3 := runtime.Alloc[float64](d, 2)

	err = gemm.Multiply(l, gemm.By(c, 2, 1), gemm.By(a, 2, 3), gemm.By(b, 3, 1), gemm.Options{})

	product, e4 := runtime.Download(c)
	if err := errors.Join(e1, e2, e3, err, e4); err != nil {
		log.Fatal(err)
	}
	fmt.Println(product)
	// Output: [321 654]
}
