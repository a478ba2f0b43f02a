// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package gemm multiplies matrices of any shape on any device, with the kernels of the other
// examples. It chooses a kernel for the device, types and shape, copies operands that the kernel
// cannot read into a layout that it can, and keeps the modules that it loaded:
//
//	g := gemm.New(device)
//	err := gemm.Multiply(g, gemm.By(d, m, n), gemm.By(a, m, k), gemm.By(b, n, k).T(),
//		gemm.Options{})
package gemm

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// A Library multiplies matrices on one device. Its methods may be called concurrently; the calls
// run in order.
type Library struct {
	device  *runtime.Device
	mutex   sync.Mutex
	stream  *runtime.Stream // nil for the default stream
	modules map[string]*runtime.Module
	kernels map[string]*runtime.Kernel
	memory  map[string]memory
	calls   map[any]calls // previous calls by their arguments
	choices *choices      // nil if kernels are not tuned
}

// memory is a buffer that several calls use.
type memory struct {
	buffer any
	n      int
	close  func() error
}

// New returns a library that loads each kernel when it is first needed.
func New(d *runtime.Device) *Library {
	return &Library{
		device: d, modules: make(map[string]*runtime.Module),
		kernels: make(map[string]*runtime.Kernel),
		memory:  make(map[string]memory), calls: make(map[any]calls),
	}
}

// Use selects the stream on which later calls run; nil selects the default stream. All calls
// share the memory of the library, so earlier calls must have completed.
func (l *Library) Use(s *runtime.Stream) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.stream = s
}

// Close unloads the kernels, and frees the memory that the library has allocated.
func (l *Library) Close() error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	var all error
	for _, m := range l.memory {
		all = errors.Join(all, m.close())
	}
	for _, m := range l.modules {
		all = errors.Join(all, m.Close())
	}
	clear(l.memory)
	clear(l.calls)
	clear(l.modules)
	clear(l.kernels)
	return all
}

// E4M3 and E5M2 are FP8 elements, stored as their bits.
type (
	E4M3 uint8
	E5M2 uint8
)

// A Matrix is a matrix in device memory.
type Matrix[E runtime.Element] struct {
	Data       *runtime.Buffer[E]
	Rows, Cols int
	Transposed bool // whether Data is stored by columns
}

// By returns a matrix with the given data, which is stored by rows.
func By[E runtime.Element](data *runtime.Buffer[E], rows, cols int) Matrix[E] {
	return Matrix[E]{Data: data, Rows: rows, Cols: cols}
}

// T returns the transposed matrix, which uses the same data.
func (m Matrix[E]) T() Matrix[E] {
	return Matrix[E]{Data: m.Data, Rows: m.Cols, Cols: m.Rows, Transposed: !m.Transposed}
}

// Options specify what Multiply computes. The zero value selects D = A * B.
type Options struct {
	Alpha float64 // factor of the product; 0 means 1
	Beta  float64 // factor of the old D; D is not read if it is 0
	// If TF32 is set, F32 operands are multiplied as TF32, with 10 bits of mantissa. Otherwise
	// the product is the sum of three TF32 products, which is about as precise as F32.
	TF32 bool
	// ScaleA and ScaleB are the factors of all elements of A and of B, for FP8. Each buffer
	// contains one number, which the kernel reads. Either both are nil or neither is.
	ScaleA, ScaleB *runtime.Buffer[float32]
}

// Multiply computes D = Alpha * A * B + Beta * D. D must be stored by rows.
//
// The products are added in F32 for operands of float32, runtime.F16 and runtime.BF16, in F64 for
// float64, and in 32-bit integers for int8 and uint8. D may have any floating-point type, except
// that operands of float64 require a D of float64 or float32. Integers may also have a D of
// int32, if Alpha is 1 and Beta 0. FP8 requires sm_90a and a D of float32, runtime.F16 or
// runtime.BF16, with Alpha 1 and Beta 0.
func Multiply[D, E runtime.Element](l *Library, d Matrix[D], a, b Matrix[E], o Options) error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	o = o.resolve()
	type call struct {
		d    Matrix[D]
		a, b Matrix[E]
		o    Options
		s    *runtime.Stream
	}
	key := call{d, a, b, o, l.stream}
	c, ok := l.calls[key]
	if !ok {
		p, err := choose(l, d, a, b, o)
		if err != nil {
			return fmt.Errorf("gemm: %w", err)
		}
		c.what = p.String()
		if c.steps, err = steps(l, p, d, a, b, o); err != nil {
			return fmt.Errorf("gemm: %s: %w", p, err)
		}
		l.remember(key, c)
	}
	for _, step := range c.steps {
		if err := step(); err != nil {
			return fmt.Errorf("gemm: %s: %w", c.what, err)
		}
	}
	return nil
}

// calls holds the launches that compute a product. Another call with the same arguments repeats
// them.
type calls struct {
	what  string
	steps []func() error
}

// remember stores the launches of a product under its key.
func (l *Library) remember(key any, c calls) {
	const most = 256
	if len(l.calls) >= most {
		clear(l.calls)
	}
	l.calls[key] = c
}

// resolve returns the options with defaults filled in.
func (o Options) resolve() Options {
	if o.Alpha == 0 {
		o.Alpha = 1
	}
	return o
}

// plain reports whether the result is the product, without factors and without the old D.
func (o Options) plain() bool { return o.Alpha == 1 && o.Beta == 0 }

// steps returns the launches that prepare the operands, multiply them and convert the result.
func steps[D, E runtime.Element](l *Library, p *plan, d Matrix[D], a, b Matrix[E],
	o Options) ([]func() error, error) {
	list, err := product(l, p, d, a, b, o)
	if err != nil || p.direct {
		return list, err
	}
	var last func() error
	switch p.sums {
	case isa.F64:
		last, err = finish[float64](l, p, d, o)
	case isa.S32:
		last, err = finish[int32](l, p, d, o)
	default:
		last, err = finish[float32](l, p, d, o)
	}
	return append(list, last), err
}

// product returns the launches that prepare the operands, and then the launch of the kernel that
// multiplies them.
func product[D, E runtime.Element](l *Library, p *plan, d Matrix[D], a, b Matrix[E],
	o Options) (list []func() error, err error) {
	left, first, e1 := prepare(l, p, "a", a, p.m, p.turnA)
	right, second, e2 := prepare(l, p, "b", b.T(), p.width, p.turnB)
	k, e3 := l.kernel(p.name, p.kernel, p.build)
	var result runtime.Matrix = d.Data
	var e4 error
	if !p.direct {
		result, e4 = p.scratch(l)
	}
	if err := errors.Join(e1, e2, e3, e4); err != nil {
		return nil, err
	}
	multiply, err := l.launcher(k, p, left, right, result, o)
	for _, step := range []func() error{first, second, multiply} {
		if step != nil {
			list = append(list, step)
		}
	}
	return list, err
}

// scratch returns memory for the product in the type of its sums.
func (p *plan) scratch(l *Library) (runtime.Matrix, error) {
	switch p.sums {
	case isa.F64:
		return reserve[float64](l, "x", p.m*p.width)
	case isa.S32:
		return reserve[int32](l, "x", p.m*p.width)
	}
	return reserve[float32](l, "x", p.m*p.width)
}

// finish returns the launch that converts the product from the memory of the library to D.
func finish[X, D runtime.Element](l *Library, p *plan, d Matrix[D],
	o Options) (func() error, error) {
	x, err := reserve[X](l, "x", p.m*p.width)
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("finish %s %s %t", p.sums, p.result, o.Beta != 0)
	k, err := l.kernel(name, "finish", finishKernel(p.sums, p.result, o.Beta != 0))
	if err != nil {
		return nil, err
	}
	grid := l.grid(tiles(p.m, p.n))
	var alpha, beta any = float32(o.Alpha), float32(o.Beta)
	switch p.precision() {
	case isa.F64:
		alpha, beta = o.Alpha, o.Beta
	case isa.S32:
		alpha, beta = int32(o.Alpha), int32(o.Beta)
	}
	return func() error {
		return k.Launch(grid, d.Data, x, alpha, beta, uint32(p.m), uint32(p.n), uint32(p.width))
	}, nil
}

// prepare returns an operand in the layout that the kernel needs: stored by rows, with the given
// height and the depth of the plan. It also returns the launch that copies the operand to this
// layout, or nil if the operand can be used as it is. turned is set if the kernel reads the
// operand as it is stored, transposed.
func prepare[E runtime.Element](l *Library, p *plan, name string, m Matrix[E], height int,
	turned bool) (*runtime.Buffer[E], func() error, error) {
	if turned || !p.copies(m.Transposed, m.Rows, m.Cols, height) {
		return m.Data, nil, nil
	}
	to, err := reserve[E](l, name, height*p.depth)
	if err != nil {
		return nil, nil, err
	}
	kind := "pad"
	if m.Transposed {
		kind = "transpose"
	}
	k, err := l.kernel(fmt.Sprintf("%s %d", kind, p.operand.Bits()), kind,
		copyKernel(kind, p.operand))
	if err != nil {
		return nil, nil, err
	}
	grid, depth := l.grid(tiles(height, p.depth)), uint32(p.depth)
	return to, func() error {
		return k.Launch(grid, to, m.Data, uint32(m.Rows), uint32(m.Cols), uint32(height), depth)
	}, nil
}

// tiles returns the number of tiles of a matrix for the kernels that copy matrices.
func tiles(rows, cols int) int { return (rows + side - 1) / side * ((cols + side - 1) / side) }

// grid returns the configuration of a launch with the given number of blocks on the stream of the
// library.
func (l *Library) grid(blocks int) runtime.Config {
	c := runtime.Grid(blocks)
	if l.stream != nil {
		c = c.On(l.stream)
	}
	return c
}

// launcher returns a function that runs the kernel that multiplies. All examples use the same
// names for the parameters of such kernels.
func (l *Library) launcher(k *runtime.Kernel, p *plan, a, b, d runtime.Matrix,
	o Options) (func() error, error) {
	type stored struct {
		data       runtime.Matrix
		rows, cols int
	}
	of := func(data runtime.Matrix, rows int, turned bool) stored {
		if turned {
			return stored{data, p.depth, rows}
		}
		return stored{data, rows, p.depth}
	}
	known := map[string]stored{"a": of(a, p.m, p.turnA), "b": of(b, p.width, p.turnB),
		"d": {d, p.m, p.width}}
	sizes := map[string]int{"m": p.m, "n": p.width, "k": p.depth}
	if p.swapped {
		known["a"], known["b"] = known["b"], known["a"]
		sizes["m"], sizes["n"] = p.width, p.m
	}
	if p.partials > 0 {
		partials, e1 := reserve[float32](l, "partials", p.partials)
		flags, e2 := l.semaphores(p.flags)
		if err := errors.Join(e1, e2); err != nil {
			return nil, err
		}
		known["partials"], known["flags"] = stored{data: partials}, stored{data: flags}
	}
	known["scale_a"], known["scale_b"] = stored{data: o.ScaleA}, stored{data: o.ScaleB}
	var args []any
	for _, param := range k.Params() {
		m, ok := known[param.Name]
		switch {
		case !ok:
			args = append(args, uint32(sizes[param.Name]))
		case param.Box == nil:
			args = append(args, m.data)
		default:
			t, err := k.TensorMap(param.Name, m.data, m.rows, m.cols)
			if err != nil {
				return nil, err
			}
			args = append(args, t)
		}
	}
	grid := l.grid(p.blocks)
	return func() error { return k.Launch(grid, args...) }, nil
}

// semaphores returns n flags for stream-K. They are zero before and after each launch.
func (l *Library) semaphores(n int) (*runtime.Buffer[uint32], error) {
	const most = 4096 // enough for all plans
	_, ok := l.memory["flags uint32"]
	flags, err := reserve[uint32](l, "flags", max(n, most))
	if err != nil || ok {
		return flags, err
	}
	if l.stream != nil {
		flags = flags.On(l.stream)
	}
	return flags, flags.Fill(0)
}

// kernel returns the kernel with the given key. If it is not loaded, kernel builds and loads it.
func (l *Library) kernel(key, name string, build func(*dsl.Module)) (*runtime.Kernel, error) {
	if k := l.kernels[key]; k != nil {
		return k, nil
	}
	m, k, err := l.load(key, name, build)
	if err != nil {
		return nil, err
	}
	l.modules[key], l.kernels[key] = m, k
	return k, nil
}

// load builds a kernel and loads its module.
func (l *Library) load(key, name string,
	build func(*dsl.Module)) (*runtime.Module, *runtime.Kernel, error) {
	m := dsl.New(key, l.device.Info().Target)
	build(m)
	loaded, err := l.device.Load(m)
	if err != nil {
		return nil, nil, err
	}
	k, err := loaded.Kernel(name)
	if err != nil {
		return nil, nil, errors.Join(err, loaded.Close())
	}
	return loaded, k, nil
}

// reserve returns memory for n elements. Each call with the same name and type returns the same
// memory, so the contents do not persist.
func reserve[E runtime.Element](l *Library, name string, n int) (*runtime.Buffer[E], error) {
	key := fmt.Sprintf("%s %T", name, *new(E))
	old, ok := l.memory[key]
	if ok && old.n >= n {
		return old.buffer.(*runtime.Buffer[E]).Slice(0, n)
	}
	if ok {
		delete(l.memory, key)
		clear(l.calls) // the previous calls may use the old memory
		if err := errors.Join(l.device.Sync(), old.close()); err != nil {
			return nil, err
		}
	}
	b, err := runtime.Alloc[E](l.device, n)
	if err != nil {
		return nil, err
	}
	l.memory[key] = memory{b, n, b.Close}
	return b.Slice(0, n)
}

// fits returns an error if the sizes of a matrix are out of range, or if its buffer has a
// different number of elements.
func fits[E runtime.Element](name string, m Matrix[E]) error {
	switch {
	case m.Rows <= 0 || m.Cols <= 0 || m.Rows > math.MaxInt32 || m.Cols > math.MaxInt32:
		return fmt.Errorf("%s has %d rows and %d columns", name, m.Rows, m.Cols)
	case m.Data == nil:
		return fmt.Errorf("%s has no data", name)
	case m.Data.Len() != m.Rows*m.Cols:
		return fmt.Errorf("%s has %d elements for %d rows of %d", name, m.Data.Len(), m.Rows,
			m.Cols)
	}
	return nil
}
