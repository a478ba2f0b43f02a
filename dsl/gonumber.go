// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

// AddF returns x + v.
func (x Reg[T]) AddF(v float64) Reg[T] { return x.Add(likeF(x, v)) }

// SubF returns x - v.
func (x Reg[T]) SubF(v float64) Reg[T] { return x.Sub(likeF(x, v)) }

// MulF returns x * v.
func (x Reg[T]) MulF(v float64) Reg[T] { return x.Mul(likeF(x, v)) }

// DivF returns x / v, as Div does. MulF(1/v) is faster but rounds twice.
func (x Reg[T]) DivF(v float64, mods ...Mod) Reg[T] { return x.Div(likeF(x, v), mods...) }

// MinF returns the smaller of x and v.
func (x Reg[T]) MinF(v float64) Reg[T] { return x.Min(likeF(x, v)) }

// MaxF returns the larger of x and v.
func (x Reg[T]) MaxF(v float64) Reg[T] { return x.Max(likeF(x, v)) }
