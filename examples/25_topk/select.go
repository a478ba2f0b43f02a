// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package topk

import (
	"math"

	"github.com/ptxdsl/ptxdsl/dsl"
)

// keyOf returns an unsigned integer that is ordered like x. NaN has the smallest key, and both
// zeros have the same key.
func keyOf(x f32) u32 {
	k := x.Kernel()
	bits := dsl.Bits[dsl.U32](x)
	flip := dsl.Select(x.GEF(0), k.U32(1<<31), k.U32(math.MaxUint32))
	key := dsl.Select(x.EQF(0), k.U32(1<<31), bits.Xor(flip))
	return dsl.Select(x.IsNaN(), k.U32(0), key)
}

// valueOf returns the number that has the key.
func valueOf(key u32) f32 {
	k := key.Kernel()
	flip := dsl.Select(key.GEI(1<<31), k.U32(1<<31), k.U32(math.MaxUint32))
	return dsl.Bits[dsl.F32](key.Xor(flip))
}

func plus(a, b u32) u32 { return a.Add(b) }

// threshold returns the key of the element at position count in descending order (least), and the
// number of elements with this key among the first count elements (equal). Each of four passes
// finds eight bits of the key from a histogram of the elements that have the same preceding bits.
func threshold(k *dsl.Kernel, cols u32, count int, key func(u32) u32) (least, equal u32) {
	bins, found := dsl.Shared[dsl.U32](k, "bins", Threads), dsl.Shared[dsl.U32](k, "found", 2)
	own := k.Thread()
	bin := k.U32(Threads - 1).Sub(own) // thread 0 reads the bin of the largest values
	least, equal = k.U32(0), k.U32(count)
	for shift := int64(24); shift >= 0; shift -= 8 {
		k.Comment("bits %d to %d of the key", shift, shift+7)
		bins.Store(own, k.U32(0))
		k.Sync()
		for col := range k.RangeStep(own, cols, k.U32(Threads)) {
			x := key(col)
			add := func() { bins.Reduce("add", x.ShrI(shift).AndI(255), k.U32(1)) }
			if shift == 24 {
				add()
			} else {
				k.If(x.Xor(least).ShrI(shift+8).EQI(0), add)
			}
		}
		k.Sync()
		here := bins.Load(bin)
		upTo, _ := dsl.BlockScan(here, "scan", plus)
		above := upTo.Sub(here)
		k.If(above.LT(equal), func() {
			k.If(upTo.GE(equal), func() {
				found.StoreI(0, least.Or(bin.ShlI(shift)))
				found.StoreI(1, equal.Sub(above))
			})
		})
		k.Sync()
		least, equal = found.LoadI(0), found.LoadI(1)
		k.Sync()
	}
	return least, equal
}

// gather returns the keys and columns of the first count elements: those whose key is greater
// than least, and then the first equal elements whose key is least, both in the order of the
// columns.
func gather(k *dsl.Kernel, cols u32, count int, key func(u32) u32,
	least, equal u32) (keys, places dsl.Array[dsl.U32]) {
	keys, places = dsl.Shared[dsl.U32](k, "keys", Threads),
		dsl.Shared[dsl.U32](k, "places", Threads)
	own, above := k.Thread(), k.U32(count).Sub(equal)
	larger, same := k.U32(0).Var(), k.U32(0).Var() // numbers of elements in the preceding columns
	for start := range k.RangeStep(k.U32(0), cols, k.U32(Threads)) {
		col := start.Add(own)
		x := key(col.Min(cols.SubI(1)))
		inside := func(p pred) u32 { return dsl.Select(col.LT(cols), one(p), k.U32(0)) }
		isLarger, isSame := inside(x.GT(least)), inside(x.EQ(least))
		// each of the two counts of a block fits into 16 bits
		before, all := dsl.BlockExclusiveScan(isLarger.Or(isSame.ShlI(16)), k.U32(0), "before",
			plus)
		at := larger.Add(before.AndI(0xffff))
		k.If(isLarger.EQI(1), func() {
			keys.Store(at, x)
			places.Store(at, col)
		})
		order := same.Add(before.ShrI(16))
		k.If(isSame.EQI(1), func() {
			k.If(order.LT(equal), func() {
				keys.Store(above.Add(order), x)
				places.Store(above.Add(order), col)
			})
		})
		larger.Set(larger.Add(all.AndI(0xffff)))
		same.Set(same.Add(all.ShrI(16)))
	}
	k.Sync()
	return keys, places
}

// sample returns the position of the sampled element in the descending order.
func sample(k *dsl.Kernel, count int, sorted dsl.Array[dsl.F32],
	temperature, topP, random f32) u32 {
	own := k.Thread()
	most, x := sorted.LoadI(0), sorted.Load(own.MinI(int64(count-1)))
	// an infinite element has the whole probability
	weight := dsl.Select(x.EQ(most), k.F32(1),
		x.Sub(most).Div(temperature, dsl.Full).MulF(math.Log2E).Exp2(dsl.Approx))
	weight = dsl.Select(own.LTI(int64(count)), weight, k.F32(0))
	upTo, all := dsl.BlockScan(weight, "weights", func(a, b f32) f32 { return a.Add(b) })
	kept := dsl.Select(upTo.Sub(weight).LT(topP.Mul(all)), upTo, k.F32(0))
	target := dsl.BlockReduce(kept, "kept", func(a, b f32) f32 { return a.Max(b) }).Mul(random)
	passed := dsl.Select(upTo.LE(target), k.U32(1), k.U32(0))
	return dsl.BlockReduce(passed, "passed", plus).MinI(int64(count - 1))
}

// one returns 1 if p is true, and 0 otherwise.
func one(p pred) u32 { return dsl.Select(p, p.Kernel().U32(1), p.Kernel().U32(0)) }
