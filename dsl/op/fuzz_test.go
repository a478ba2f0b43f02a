// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package op_test

import (
	"reflect"
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/dsl/op"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// FuzzInstructions calls generated methods depending on the input: any instruction, any of its
// modifiers in any order and number, and operands of all kinds, including wrong ones. Nothing
// panics, and a module without findings is valid PTX.
func FuzzInstructions(f *testing.F) {
	for i := range 40 {
		seed := make([]byte, 60)
		for j := range seed {
			seed[j] = byte(7*i + 13*j + i*j)
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m := dsl.New("fuzz", "sm_100a")
		k := m.Kernel("k")
		next := func(n int) int {
			if len(b) == 0 {
				return 0
			}
			x := int(b[0])
			if b = b[1:]; len(b) > 0 && n > 256 {
				x, b = x<<8+int(b[0]), b[1:]
			}
			return x % n
		}
		pool := stock(m, k)
		for len(b) > 0 {
			v := reflect.ValueOf(op.On(k))
			v = v.Method(next(v.NumMethod())).Call(nil)[0]
			for range next(8) {
				word := v.Method(next(v.NumMethod()))
				if word.Type().NumIn() == 0 && word.Type().NumOut() == 1 {
					v = word.Call(nil)[0]
				}
			}
			do := v.MethodByName("Do")
			var args []reflect.Value
			for range max(do.Type().NumIn(), next(6)) {
				x := reflect.New(reflect.TypeFor[any]()).Elem()
				if o := pool[next(len(pool))]; o != nil {
					x.Set(reflect.ValueOf(o))
				}
				args = append(args, x)
			}
			if !do.Type().IsVariadic() {
				args = args[:do.Type().NumIn()]
			}
			do.Call(args)
		}
		text, err := m.Text()
		if err != nil {
			return
		}
		if _, list := ptx.Parse("fuzz", text); list.Errors() > 0 {
			t.Errorf("%v\n%s", list, text)
		}
	})
}

// stock returns operands of all kinds.
func stock(m *dsl.Module, k *dsl.Kernel) []any {
	other := dsl.New("other", "sm_90").Kernel("other")
	r, l := dsl.NewReg[dsl.B32](k), dsl.NewReg[dsl.B64](k)
	return []any{
		r, l, dsl.NewReg[dsl.F32](k), dsl.NewReg[dsl.Pred](k), dsl.NewReg[dsl.B16](k),
		dsl.NewByte(k), dsl.NewReg[dsl.B128](k),
		0, 1, -1, int64(1) << 40, float32(1), 2.5, "%clock", "%nothing", "text", nil, struct{}{},
		dsl.Sink,
		dsl.At(l, 8), dsl.Shared[dsl.B32](k, "v", 16).Addr(), dsl.Addr{}, dsl.Addr{}.Symbol(),
		dsl.Addr{}.Unified(), dsl.At(l, 0).Unified(),
		dsl.Bracket(l, []any{r, r}), dsl.Bracket(), dsl.Bracket(nil), []any{r, r}, []any{nil},
		[]dsl.Operand{r, nil}, []dsl.Operand{},
		dsl.Pair(r, dsl.Sink), dsl.Pair(nil, nil), dsl.NotP(dsl.NewReg[dsl.Pred](k)),
		dsl.NotP(dsl.Reg[dsl.Pred]{}), dsl.Minus(r), dsl.Minus(nil),
		dsl.Part(r, "h1"), dsl.Part(dsl.Reg[dsl.B32]{}, ""), dsl.Group(r), dsl.Group(),
		dsl.CallParam[dsl.U32](k, "arg"),
		k.NewLabel("label"), (*dsl.Label)(nil), (*dsl.Func)(nil), k.BranchTargets(),
		k.CallTargets(nil), k.Prototype(0),
		dsl.Reg[dsl.F32]{}, dsl.NewReg[dsl.B32](other), dsl.NewByte(other), other.Prototype(0),
		m.Texture("tex"), m.Surface("srf"),
	}
}
