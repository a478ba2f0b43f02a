// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"reflect"
	"runtime/debug"
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
)

// nothings are values that no builder call created: zero values and nil pointers. TestStrays covers
// kernels, functions and modules.
var nothings = []any{
	dsl.Reg[dsl.U32]{}, dsl.Reg[dsl.F32]{}, dsl.Reg[dsl.Pred]{}, dsl.Reg[dsl.F16]{},
	dsl.Reg[dsl.U64]{}, dsl.Reg[dsl.B32]{}, dsl.Array[dsl.F32]{}, dsl.Array[dsl.F16]{},
	dsl.Addr{}, dsl.Barrier{}, dsl.NamedBarrier{}, dsl.SharedTile{}, dsl.AsyncStage{},
	dsl.MMAStep{}, dsl.Cell{}, dsl.Role{}, dsl.Feed{}, dsl.Tile{}, dsl.MMA{}, dsl.BlockScale{},
	dsl.Box{}, dsl.TileCoord{}, dsl.Semaphore{}, dsl.StreamTile{}, dsl.GroupTile{},
	&dsl.GroupSchedule{}, &dsl.StreamSchedule{}, (*dsl.GroupSchedule)(nil),
	(*dsl.StreamSchedule)(nil),
	&dsl.TensorMap{}, &dsl.Tensor{}, &dsl.Matrix{}, &dsl.Pipeline{}, &dsl.Stage{},
	&dsl.AsyncPipeline{}, &dsl.Accumulator{}, &dsl.WarpTile[dsl.F32]{}, &dsl.Fragments{},
	&dsl.TMEM{}, &dsl.AccumulatorStage{}, &dsl.TMEMOperand{}, &dsl.TMEMOperandStage{},
	&dsl.RowTile[dsl.F16]{}, (*dsl.RowTile[dsl.F16])(nil),
	&dsl.ScaleCopy{}, (*dsl.ScaleCopy)(nil),
	&dsl.RowStream[dsl.F16]{}, (*dsl.RowStream[dsl.F16])(nil),
	&dsl.Output{}, &dsl.Schedule{}, &dsl.DynamicSchedule{}, &dsl.Label{},
	(*dsl.TensorMap)(nil), (*dsl.Tensor)(nil), (*dsl.Matrix)(nil), (*dsl.Pipeline)(nil),
	(*dsl.Stage)(nil), (*dsl.AsyncPipeline)(nil), (*dsl.Accumulator)(nil),
	(*dsl.WarpTile[dsl.F32])(nil), (*dsl.Fragments)(nil), (*dsl.TMEM)(nil),
	(*dsl.AccumulatorStage)(nil), (*dsl.TMEMOperand)(nil), (*dsl.TMEMOperandStage)(nil),
	(*dsl.Output)(nil),
	(*dsl.Schedule)(nil), (*dsl.DynamicSchedule)(nil), (*dsl.Label)(nil),
}

// TestNothings calls every method of these values, once with arguments of a kernel and once with
// zero values, and checks that none panics.
func TestNothings(t *testing.T) {
	k := dsl.New("m", "sm_100a").Kernel("k", dsl.Threads(256))
	some := &stranger{pool: make(map[reflect.Type][]reflect.Value)}
	some.know(k)
	some.seed(k)
	none := &stranger{pool: make(map[reflect.Type][]reflect.Value)}
	none.know(k)
	for _, x := range nothings {
		none.know(x)
	}
	for _, x := range nothings {
		v := reflect.ValueOf(x)
		for i := range v.NumMethod() {
			some.nothing(t, v, i)
			none.nothing(t, v, i)
		}
	}
}

// nothing calls the i-th method of a value.
func (c *stranger) nothing(t *testing.T, v reflect.Value, i int) {
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("%s.%s: %v\n%s", v.Type(), v.Type().Method(i).Name, r, debug.Stack())
		}
	}()
	const depth = 3 // callbacks make no further calls
	method := v.Method(i)
	var args []reflect.Value
	for n := range method.Type().NumIn() {
		if !method.Type().IsVariadic() || n < method.Type().NumIn()-1 {
			args = append(args, c.argument(method.Type().In(n), depth))
		}
	}
	for _, out := range method.Call(args) {
		c.result(out, depth)
	}
}
