// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command gpubench measures the examples on a GPU, compares them with the installed libraries,
// and prints a table. With -out it also writes the tables and plots of bench/results to a
// directory.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/bench"
	attention "github.com/ptxdsl/ptxdsl/examples/18_attention"
	gemm "github.com/ptxdsl/ptxdsl/examples/23_gemm"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// settings holds the values of the flags.
type settings struct {
	device, only, sizes, types, layouts, rows, libraries, tuning, file, out, from string
	rounds, repeats                                                               int
	trials                                                                        bool
}

func main() {
	var s settings
	flag.StringVar(&s.device, "device", "cuda:0", "device, as runtime.Open takes it")
	flag.IntVar(&s.rounds, "rounds", 51, "rounds in which the contenders take turns")
	flag.StringVar(&s.only, "only",
		"copy,rmsnorm,softmax,rows,w4a16,matmul,multistage,gemm,layers,attention,attentionbackward,attentionbatch,attentionfp8",
		"what to measure")
	flag.StringVar(&s.sizes, "sizes", "1024,2048,4096,6144,8192", "sizes of the square matrices")
	flag.StringVar(&s.types, "types", "bf16,f16,tf32,s8,e4m3", "types of the products of gemm")
	flag.StringVar(&s.layouts, "layouts", "TN,NN,NT,TT",
		"layouts of the products of 16-bit types of gemm")
	flag.StringVar(&s.rows, "rows", "1,16,64,256,1024,4096,8192", "rows of the products of layers")
	flag.StringVar(&s.libraries, "libs", os.Getenv("PTXDSL_LIBS"),
		"folders with cuBLAS, with colons between; without it, $PTXDSL_LIBS, and then where PyTorch and the toolkit put it")
	flag.StringVar(&s.tuning, "tuning", "",
		"folder with the measured choices of the library call; without it, the user's cache")
	flag.BoolVar(&s.trials, "trials", false, "print the times of all kernels of the library call")
	flag.IntVar(&s.repeats, "repeats", 0,
		"how often our kernels of gemm, rows, rmsnorm, softmax and attention run again, to compare the bits of their results")
	flag.StringVar(&s.file, "json", "", "file for the results as JSON")
	flag.StringVar(&s.out, "out", "", "folder for the tables and plots")
	flag.StringVar(&s.from, "from", "",
		"files of -json, with commas between; their results are written with -out, and nothing is measured")
	flag.Parse()
	if err := s.run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func (s settings) run() (err error) {
	if s.rounds < 1 {
		return fmt.Errorf("%d rounds: one or more is expected", s.rounds)
	}
	if s.from != "" {
		r, err := bench.Load(strings.Split(s.from, ",")...)
		if err != nil {
			return err
		}
		return s.write(r)
	}
	d, err := runtime.Open(s.device)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	b, err := bench.New(d, s.rounds)
	if err != nil {
		return err
	}
	defer b.Close()
	if b.Repeats = s.repeats; s.trials {
		b.Trials = os.Stdout
	}
	l, err := bench.NewBLAS(b, bench.Folders(s.libraries))
	if err != nil {
		return err
	}
	call, err := gemm.Tuned(d, s.tuning)
	if err != nil {
		return err
	}
	info := b.Device.Info()
	r := &bench.Report{Device: info.Name + " (" + info.Target + ")", Driver: info.Driver,
		Rounds: s.rounds, Origin: append(l.Origin, b.Meter())}
	r.Header(os.Stdout)
	m := measurer{settings: s, b: b, l: l, call: call, report: r}
	for _, what := range strings.Split(s.only, ",") {
		if err := m.measure(what); err != nil {
			return err
		}
	}
	return errors.Join(s.write(r), m.firstError())
}

// write writes the results to the files that the flags name.
func (s settings) write(r *bench.Report) error {
	if s.out != "" {
		if err := r.Files(s.out); err != nil {
			return err
		}
	}
	if s.file == "" {
		return nil
	}
	f, err := os.Create(s.file)
	if err != nil {
		return err
	}
	return errors.Join(r.JSON(f), f.Close())
}

// A measurer measures groups of jobs and collects the results.
type measurer struct {
	settings
	b      *bench.Bench
	l      *bench.BLAS
	call   *gemm.Library
	report *bench.Report
	errs   []error
}

// record prints and stores results. An error is printed and stored, and the measurements
// continue.
func (m *measurer) record(list []bench.Result, err error) {
	m.report.Results = append(m.report.Results, list...)
	if err = errors.Join(err, bench.Table(os.Stdout, list)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		m.errs = append(m.errs, err)
	}
}

// firstError returns an error if a measurement failed.
func (m *measurer) firstError() error {
	if len(m.errs) > 0 {
		return errors.New("not everything was measured")
	}
	return nil
}

// measure measures the group of jobs with a name.
func (m *measurer) measure(what string) error {
	switch what {
	case "copy":
		m.record(bench.Copy(m.b))
	case "rmsnorm":
		for _, s := range bench.Shapes() {
			m.record(bench.RMSNorm(m.b, s[0], s[1]))
		}
	case "softmax":
		for _, s := range bench.Shapes() {
			m.record(bench.Softmax(m.b, s[0], s[1]))
		}
	case "rows":
		for _, name := range []string{"RMSNorm", "LayerNorm", "softmax", "cross-entropy",
			"quantize"} {
			for _, cols := range bench.Lengths() {
				m.record(bench.RowFamily(m.b, name, cols))
			}
		}
	case "w4a16":
		for _, rows := range []int{1, 4, 8, 16} {
			m.record(bench.FewRows(m.b, rows))
		}
	case "matmul", "multistage":
		measure := bench.Matmul
		if what == "multistage" {
			measure = bench.Multistage
		}
		return m.squares(func(n int) { m.record(measure(m.b, m.l, n)) })
	case "attention", "attentionbackward":
		m.attention(what == "attentionbackward")
	case "attentionbatch":
		for _, width := range []int{64, 128, 256} {
			for _, causal := range []bool{false, true} {
				for _, s := range bench.BatchSequences() {
					m.record(bench.AttentionBatch(m.b, s, width, causal))
				}
			}
		}
	case "attentionfp8":
		m.attentionFP8()
	case "gemm":
		return m.gemm()
	case "layers":
		rows, err := numbers(m.rows)
		for _, weights := range bench.Weights() {
			for _, n := range rows {
				m.record(m.product(bench.Product{M: n, N: weights[0], K: weights[1], Layout: "TN",
					Group: "layers"}))
			}
		}
		return err
	default:
		return fmt.Errorf(
			"-only %q: copy, rmsnorm, softmax, rows, w4a16, matmul, multistage, gemm, layers, attention, attentionbackward, attentionbatch and attentionfp8 are known",
			what)
	}
	return nil
}

// attention measures the forward or the backward pass of attention for several shapes and lengths.
// The backward pass supports widths up to 128.
func (m *measurer) attention(backward bool) {
	for _, width := range []int{64, 128, 256} {
		for _, causal := range []bool{false, true} {
			s := attention.Shape{Type: isa.Bf16, Width: width, Causal: causal}
			for _, length := range []int{4096, 8192, 16384} {
				switch {
				case !backward:
					m.record(bench.Attention(m.b, s, length))
				case width <= 128:
					m.record(bench.AttentionBackward(m.b, s, length))
				}
			}
		}
	}
}

// attentionFP8 measures the forward pass of attention with E4M3 beside that with BF16.
func (m *measurer) attentionFP8() {
	for _, width := range []int{64, 128, 256} {
		for _, causal := range []bool{false, true} {
			for _, length := range []int{4096, 8192, 16384} {
				s := attention.Shape{Width: width, Causal: causal}
				m.record(bench.AttentionFP8(m.b, s, length))
			}
		}
	}
}

// squares calls measure with each size of -sizes.
func (m *measurer) squares(measure func(n int)) error {
	sizes, err := numbers(m.sizes)
	if err != nil {
		return err
	}
	for _, n := range sizes {
		if n < 256 || n%256 != 0 {
			return fmt.Errorf("size %d: a multiple of 256 is expected", n)
		}
		measure(n)
	}
	return nil
}

// gemm measures the library call of example 23 for square matrices.
func (m *measurer) gemm() error {
	for _, name := range strings.Split(m.types, ",") {
		typ, ok := bench.ProductTypes[name]
		if !ok {
			return fmt.Errorf("-types %q is not known", name)
		}
		layouts := "TN"
		if typ.Bits() == 16 {
			layouts = m.layouts
		}
		for _, layout := range strings.Split(layouts, ",") {
			err := m.squares(func(n int) {
				m.record(m.product(bench.Product{M: n, N: n, K: n, Type: typ, Layout: layout,
					Group: name}))
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// product measures a product.
func (m *measurer) product(p bench.Product) ([]bench.Result, error) {
	return p.Measure(m.b, m.l, m.call)
}

// numbers parses a comma-separated list of positive integers.
func numbers(list string) (all []int, err error) {
	for _, word := range strings.Split(list, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q: a positive number is expected", word)
		}
		all = append(all, n)
	}
	return all, nil
}
