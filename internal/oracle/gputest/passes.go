// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gputest

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"

	"github.com/ptxdsl/ptxdsl"
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/lower"
	"github.com/ptxdsl/ptxdsl/passes"
	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// compiledModules has modules of the corpus that nvcc compiled from the sources in
// internal/oracle/corpus.
//
//go:embed testdata/kernels/*.ptx.gz
var compiledModules embed.FS

// A launch specifies how the kernels of a module whose names match a pattern are launched.
type launch struct {
	file, kernels           string
	blocks, threads, shared int
	whole                   int // value of every integer parameter
}

// launches returns the launches of modules whose results depend only on the contents of memory.
func launches() []launch {
	return []launch{
		{"arith.sm_75.noopt", ".", 2, 128, 0, 250},
		{"math.sm_80.noopt", ".", 1, 1, 0, 0},
		{"narrow.sm_90.noopt", ".", 1, 1, 0, 0},
		{"intrinsics.sm_90.plain", "integer|rounding|fast|casts|packed", 1, 1, 0, 0},
		{"crypto.sm_90.plain", ".", 1, 1, 0, 7},
		{"warp.sm_90.noopt", "exchange|votes|reduce", 1, 32, 0, 0},
		{"warp.sm_90.noopt", "tree", 1, 64, 0, 200},
		{"control.sm_90.noopt", "nested|divergent", 1, 32, 0, 16},
		{"apps.sm_90.noopt", "stencil|histogram|mandelbrot|softmax", 2, 32, 0, 32},
		{"apps.sm_90.noopt", "bodies|scan", 1, 128, 4096, 128},
		{"apps.sm_90.plain", "stencil|histogram|mandelbrot|softmax", 2, 32, 0, 32},
		{"apps.sm_90.plain", "bodies|scan", 1, 128, 4096, 128},
	}
}

// passChecks returns checks of the clean-up passes: examples after the passes are compared with
// their references, and kernels of nvcc after the passes with the original kernels, bit by bit.
func passChecks() []Check {
	var list []Check
	for _, c := range exampleChecks() {
		list = append(list, Check{"passes", c.Name, func(t *T) error {
			t.Edit = runPasses
			return c.Run(t)
		}})
	}
	for i, l := range launches() {
		list = append(list,
			Check{"passes", fmt.Sprintf("%s_%d", l.file, i),
				func(t *T) error { return t.compareBits(l) }})
	}
	return list
}

// runPasses returns a module after all passes.
func runPasses(m *dsl.Module) (runtime.Source, error) {
	built, faults := m.Build()
	if faults.Errors() == 0 { // otherwise loading reports the errors
		passes.Run(built, passes.List(), nil)
	}
	return m, nil
}

// text returns the PTX of a module before and after the passes. Both have the lowest PTX version
// that supports the module.
func text(file string) (before, after string, err error) {
	version := regexp.MustCompile(`\.version \d+\.\d+`)
	packed, err := compiledModules.ReadFile("testdata/kernels/" + file + ".ptx.gz")
	if err != nil {
		return "", "", err
	}
	from, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return "", "", err
	}
	all, err := io.ReadAll(from)
	if err != nil {
		return "", "", err
	}
	m, findings := ptxdsl.Load(file, string(all))
	if m == nil {
		return "", "", findings.Err()
	}
	changes := 0
	for _, s := range passes.Run(m, passes.List(), nil) {
		changes += s.Changes
	}
	if changes == 0 {
		return "", "", errors.New("the passes change nothing")
	}
	// an older driver may not support the PTX version of nvcc
	m.Version = lower.Version(m)
	return version.ReplaceAllString(string(all), ".version "+m.Version.String()), lower.Text(m), nil
}

// compareBits launches the kernels of a module before and after the passes on equal memory, and
// compares the resulting memory.
func (t *T) compareBits(l launch) error {
	before, after, err := text(l.file)
	if err != nil {
		return err
	}
	a, e1 := t.Device.Load(runtime.PTX(before), runtime.Name(l.file+".ptx"))
	b, e2 := t.Device.Load(runtime.PTX(after), runtime.Name(l.file+".ptx"))
	if err := errors.Join(e1, e2); err != nil {
		return err
	}
	pattern := regexp.MustCompile(l.kernels)
	n, changed := 0, 0
	for _, name := range a.Kernels() {
		if !pattern.MatchString(name) {
			continue
		}
		n++
		was, e1 := a.Kernel(name)
		is, e2 := b.Kernel(name)
		if err := errors.Join(e1, e2); err != nil {
			return err
		}
		for _, fill := range []func(*T) []byte{bits, floatBytes} {
			some, err := t.compareLaunch(l, was, is, fill)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			if some {
				changed++
			}
		}
	}
	if n == 0 || changed < n {
		return fmt.Errorf("%d kernels found, of which %d runs in %d wrote anything", n, changed,
			2*n)
	}
	t.Note("%d kernels", n)
	return errors.Join(a.Close(), b.Close())
}

const bufferBytes = 64 << 10 // bytes per pointer parameter

// bits returns random bytes for a buffer.
func bits(t *T) []byte {
	var list []byte
	for _, x := range t.Uint32s(bufferBytes / 4) {
		list = binary.LittleEndian.AppendUint32(list, x)
	}
	return list
}

// floatBytes returns bytes for a buffer that are numbers in [-1, 1] both as float32 and as
// float64.
func floatBytes(t *T) []byte {
	var list []byte
	for _, x := range t.Float32s(bufferBytes / 4) {
		list = binary.LittleEndian.AppendUint32(list, math.Float32bits(x))
	}
	return list
}

// compareLaunch launches two kernels on equal memory and compares the results. It reports whether
// the kernels changed the memory.
func (t *T) compareLaunch(l launch, was, is *runtime.Kernel,
	fill func(*T) []byte) (wrote bool, err error) {
	var args []any
	var memory [][]byte
	for _, p := range was.Params() {
		switch {
		case p.Type == "u64":
			memory = append(memory, fill(t))
			args = append(args, nil)
		case p.Count > 0:
			args = append(args, fill(t)[:p.Size])
		case p.Type == "f32":
			args = append(args, float32(0.03125))
		case p.Type == "f64":
			args = append(args, -0.75+float64(len(args))/16)
		default:
			args = append(args, l.whole)
		}
	}
	one, err := t.memoryAfter(l, was, args, memory)
	if err != nil {
		return false, err
	}
	other, err := t.memoryAfter(l, is, args, memory)
	if err != nil {
		return false, fmt.Errorf("after the passes: %w", err)
	}
	for i := range memory {
		wrote = wrote || !bytes.Equal(one[i], memory[i])
		if err := kerneltest.Equal(t.T, fmt.Sprintf("buffer %d after the passes", i), other[i],
			one[i]); err != nil {
			return wrote, err
		}
	}
	return wrote, nil
}

// memoryAfter returns the contents of memory after a launch.
func (t *T) memoryAfter(l launch, k *runtime.Kernel, args []any,
	memory [][]byte) ([][]byte, error) {
	given := make([]any, len(args))
	var buffers []*runtime.Buffer[uint8]
	for i, a := range args {
		if given[i] = a; a == nil {
			b, err := runtime.Upload(t.Device, memory[len(buffers)])
			if err != nil {
				return nil, err
			}
			defer b.Close()
			buffers = append(buffers, b)
			given[i] = b
		}
	}
	if err := k.Launch(runtime.Grid(l.blocks).Block(l.threads).Shared(l.shared),
		given...); err != nil {
		return nil, err
	}
	var left [][]byte
	for _, b := range buffers {
		xs, err := runtime.Download(b)
		if err != nil {
			return nil, err
		}
		left = append(left, xs)
	}
	return left, nil
}
