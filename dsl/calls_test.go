// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// TestCalls calls every method of the builder's types with values of every origin: zero values,
// values of this kernel, of another kernel or module, of scopes that have ended, and after the
// module was built. Nothing panics.
func TestCalls(t *testing.T) {
	for seed := range uint64(120) {
		var b [400]byte
		r := rand.New(rand.NewPCG(seed, 2))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		strangers(t, b[:])
	}
}

// FuzzCalls does the same as TestCalls, with calls that the fuzzer chooses.
func FuzzCalls(f *testing.F) {
	f.Add([]byte("the first calls"))
	// a tile of a zero Pipeline
	f.Add([]byte("0\xec0X1110001X0\x0400001100011000120000001\xc77001101/1"))
	f.Fuzz(strangers)
}

// strangers makes calls from bytes.
func strangers(t *testing.T, b []byte) {
	c := &stranger{bytes: b, pool: make(map[reflect.Type][]reflect.Value)}
	defer func() {
		if r := recover(); r != nil {
			t.Fatalf("%v, in the last of\n%s\n%s", r, strings.Join(c.made, "\n"), debug.Stack())
		}
	}()
	target := []string{"sm_75", "sm_80", "sm_90", "sm_90a", "sm_100a", "sm_120a"}[c.next(6)]
	m, other := dsl.New("m", target), dsl.New("other", "sm_90a")
	for _, m := range []*dsl.Module{m, m, other} {
		c.know(m.Kernel(fmt.Sprintf("k%d", len(c.made)), dsl.Threads(256)))
		c.made = append(c.made, "Kernel")
	}
	c.types = append(c.types, reflect.TypeFor[*dsl.Kernel](), reflect.TypeFor[*dsl.Func]())
	for _, x := range nothings {
		if t := reflect.TypeOf(x); !slices.Contains(c.types, t) {
			c.types = append(c.types, t)
		}
		c.know(x)
	}
	for _, k := range c.pool[reflect.TypeFor[*dsl.Kernel]()] {
		c.seed(k.Interface().(*dsl.Kernel))
	}
	for range 2 { // the second time after the module was built
		for len(c.bytes) > len(b)/4 {
			c.call(0)
		}
		m.Build()
		b = nil
	}
}

// A stranger calls builder methods with arbitrary values of the right type.
type stranger struct {
	bytes []byte
	pool  map[reflect.Type][]reflect.Value
	types []reflect.Type
	made  []string
}

func (c *stranger) next(n int) int {
	if len(c.bytes) == 0 || n == 0 {
		return 0
	}
	b := c.bytes[0]
	c.bytes = c.bytes[1:]
	return int(b) % n
}

func (c *stranger) know(x any) {
	v := reflect.ValueOf(x)
	c.pool[v.Type()] = append(c.pool[v.Type()], v)
}

// seed creates one value of each type.
func (c *stranger) seed(k *dsl.Kernel) {
	tile := dsl.Tile{Type: isa.Bf16, Rows: 64, Cols: 64, Swizzle: dsl.Swizzle128}
	a := k.TensorMap("a", isa.Bf16, dsl.Box{Rows: 64, Cols: 64}, dsl.Swizzle128)
	x := k.Tensor("x", isa.Bf16, []int{2, 32, 64}, dsl.Swizzle128)
	p := k.AsyncPipeline("p", 3, tile, tile)
	w := dsl.NewWarpTile[dsl.F32](k, dsl.MMAFor(isa.Bf16, isa.F32), 16, 16)
	shared := k.SharedTile("shared", tile)
	for _, x := range []any{
		k.U32(1), k.U32(0).Var(), k.F32(1).Var(), k.F16(1), k.U64(8), dsl.Const[dsl.B32](k, 1),
		k.Lane().LTI(3), dsl.Global[dsl.F32](k, "f"), dsl.Shared[dsl.F16](k, "h", 64),
		k.Barriers("b", 2, 1), k.NamedBarrier(64), shared, shared.Transposed(), a, x,
		k.Matrix("m", isa.F32).Sized(k.U32(64), k.U32(64)), k.Matrix("n", isa.F16),
		k.Pipeline("ab", 2, a.Feed(), x.Feed()), p, k.Accumulator(64, 64, isa.F32), w,
		w.LoadFragments(shared, k.U32(0)), w.MMAStep(shared, k.U32(0), shared, k.U32(0)),
		k.TMEM("t", 128, 64, 2), k.TMEMOperand("f", isa.Bf16, 64, 2), k.Output("o", a, 1),
		k.Reduction(dsl.Global[dsl.F32](k, "sums"), 64, 1),
		k.Persistent(k.U32(3), k.U32(3), 2), k.OnlineSoftmax(2, k.F32(1)),
		k.PersistentBalanced(k.U32(3), k.U32(3), 2, true), k.DynamicSchedule(k.U32(3), k.U32(3), 2),
		k.NewLabel("l"), tile,
		k.Semaphore(dsl.Global[dsl.U32](k, "flags"), k.U32(1)),
		k.PersistentGroups(dsl.Global[dsl.U32](k, "starts"), k.U32(2), 64, k.U32(3), 2),
		k.StreamK(k.U32(2), k.U32(3), k.U32(4), 2, 1, dsl.Global[dsl.F32](k, "parts"),
			dsl.Global[dsl.U32](k, "done")),
		dsl.MMAFor(isa.F16, isa.F32), dsl.MXFP8,
	} {
		c.know(x)
	}
	k.If(k.Lane().LTI(3), func() {
		c.know(k.Lane().AddI(5))
		c.know(k.F32(0).Var())
		c.know(shared.Part(k.Lane(), 2))
	})
}

// call calls a method of some value with some arguments.
func (c *stranger) call(depth int) {
	of := c.pool[c.types[c.next(len(c.types))]]
	if len(of) == 0 {
		c.next(1)
		return
	}
	v := of[c.next(len(of))]
	if v.NumMethod() == 0 {
		return
	}
	i := c.next(v.NumMethod())
	method, name := v.Method(i), v.Type().Method(i).Name
	c.made = append(c.made, fmt.Sprintf("%s%s.%s", strings.Repeat("\t", depth), v.Type(), name))
	t := method.Type()
	var args []reflect.Value
	for n := range t.NumIn() {
		if t.IsVariadic() && n == t.NumIn()-1 {
			for range c.next(3) {
				args = append(args, c.argument(t.In(n).Elem(), depth))
			}
			continue
		}
		args = append(args, c.argument(t.In(n), depth))
	}
	for _, out := range method.Call(args) {
		c.result(out, depth)
	}
}

// result keeps a result for later calls. If the result is an iterator, it runs the loop.
func (c *stranger) result(out reflect.Value, depth int) {
	t := out.Type()
	switch {
	case t.Kind() == reflect.Func && t.NumIn() == 1 && t.In(0).Kind() == reflect.Func:
		if depth < 4 && !out.IsNil() {
			out.Call([]reflect.Value{c.argument(t.In(0), depth)})
		}
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Array:
		for i := range min(out.Len(), 4) {
			c.result(out.Index(i), depth)
		}
	case t.Kind() == reflect.Pointer && out.IsNil():
	default:
		if k := t.Kind(); (k == reflect.Struct || k == reflect.Pointer) && len(c.pool[t]) < 40 {
			c.pool[t] = append(c.pool[t], out)
		}
	}
}

// argument returns a value of a type.
func (c *stranger) argument(t reflect.Type, depth int) reflect.Value {
	if list := c.pool[t]; len(list) > 0 {
		return list[c.next(len(list))]
	}
	x := reflect.New(t).Elem()
	switch t.Kind() {
	case reflect.Int, reflect.Int64, reflect.Int32:
		x.SetInt([]int64{0, 1, 2, 4, 8, 16, 32, 64, 128, -1, 3, 300}[c.next(12)])
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		x.SetUint(uint64(c.next(70)))
	case reflect.Float64:
		x.SetFloat(float64(c.next(9)) - 4)
	case reflect.Bool:
		x.SetBool(c.next(2) == 1)
	case reflect.String:
		x.SetString(
			[]string{"", "add", "a", "%tid.x", "rn", fmt.Sprintf("n%d", len(c.made))}[c.next(6)])
	case reflect.Slice:
		for range c.next(4) {
			x = reflect.Append(x, c.argument(t.Elem(), depth))
		}
	case reflect.Array:
		for i := range t.Len() {
			x.Index(i).Set(c.argument(t.Elem(), depth))
		}
	case reflect.Func:
		if loop := t.NumOut() == 1 && t.Out(0).Kind() == reflect.Bool; !loop && c.next(8) == 0 {
			return x
		}
		return reflect.MakeFunc(t, func(in []reflect.Value) (out []reflect.Value) {
			for _, v := range in {
				c.result(v, depth)
			}
			if depth < 4 {
				for range c.next(3) {
					c.call(depth + 1)
				}
			}
			for i := range t.NumOut() {
				if t.Out(i).Kind() == reflect.Bool { // the loop continues
					out = append(out, reflect.ValueOf(c.next(5) > 0))
				} else {
					out = append(out, c.argument(t.Out(i), depth))
				}
			}
			return out
		})
	case reflect.Interface:
		if v := reflect.ValueOf(c.operand()); v.Type().Implements(t) {
			x.Set(v)
		}
	}
	return x
}

// operand returns a random operand.
func (c *stranger) operand() any {
	list := c.pool[reflect.TypeFor[dsl.Reg[dsl.U32]]()]
	return list[c.next(len(list))].Interface()
}
