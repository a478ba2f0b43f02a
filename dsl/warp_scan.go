// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

// WarpScan returns the inclusive scan of x over the lanes of the warp. combine must be
// associative, but need not be commutative; its first argument comes from the lower lanes.
func (x Reg[T]) WarpScan(combine func(a, b Reg[T]) Reg[T]) Reg[T] {
	k := x.k
	if k == nil || !k.checkFunctions("WarpScan", combine != nil) {
		return x
	}
	k.checkFullWarps("WarpScan")
	lane := k.Lane()
	for n := int64(1); n < 32; n *= 2 {
		there := lane.GEI(n)
		x = Select(there, combineLanes("WarpScan", combine, x.ShuffleUp(n), x), x)
	}
	return x
}

// WarpExclusiveScan returns the exclusive scan of x over the lanes of the warp. Lane 0 gets the
// value first.
func (x Reg[T]) WarpExclusiveScan(first Reg[T], combine func(a, b Reg[T]) Reg[T]) Reg[T] {
	if x.k == nil {
		return x
	}
	return Select(x.k.Lane().EQI(0), first, x.WarpScan(combine).ShuffleUp(1))
}

// BlockScan returns the inclusive scan of x over the threads of the block, and the combination of
// all x. See BlockReduce and WarpScan for the requirements.
func BlockScan[T Scalar](x Reg[T], name string,
	combine func(a, b Reg[T]) Reg[T]) (scan, all Reg[T]) {
	if x.k != nil && !x.k.checkFunctions("BlockScan", combine != nil) {
		return x, x
	}
	if x.k != nil {
		if _, ok := x.k.checkWholeWarps("BlockScan"); !ok {
			return x, x
		}
		x.k.annotateCollective("BlockScan", true)
	}
	scan = x.WarpScan(combine)
	before, all := scanWarps(scan, name, combine)
	if k := x.k; k != nil && before.k != nil {
		scan = Select(k.WarpIndex().EQI(0), scan, combine(before, scan))
	}
	return scan, all
}

// BlockExclusiveScan returns the exclusive scan of x over the threads of the block, and the
// combination of all x. Thread 0 gets the value first.
func BlockExclusiveScan[T Scalar](x, first Reg[T], name string,
	combine func(a, b Reg[T]) Reg[T]) (scan, all Reg[T]) {
	if x.k != nil && !x.k.checkFunctions("BlockExclusiveScan", combine != nil) {
		return x, x
	}
	if x.k != nil {
		if _, ok := x.k.checkWholeWarps("BlockExclusiveScan"); !ok {
			return x, x
		}
		x.k.annotateCollective("BlockExclusiveScan", true)
	}
	upTo := x.WarpScan(combine)
	before, all := scanWarps(upTo, name, combine)
	k := x.k
	if k == nil {
		return x, all
	}
	own := upTo.ShuffleUp(1) // combination of the preceding lanes; undefined in lane 0
	if before.k == nil {
		return Select(k.Lane().EQI(0), first, own), all
	}
	start := Select(k.WarpIndex().EQI(0), first, before)
	// The first combine must not count an element twice, so lane 0 does not add an element of its
	// own warp.
	inner := Select(k.WarpIndex().EQI(0), own, combine(before, own))
	return Select(k.Lane().EQI(0), start, inner), all
}

// scanWarps returns the combination over all preceding warps, and over all warps. scan must hold
// the warp's total in the last lane of each warp. before is meaningless in the first warp, and
// undefined if the block has one warp.
func scanWarps[T Scalar](scan Reg[T], name string,
	combine func(a, b Reg[T]) Reg[T]) (before, all Reg[T]) {
	k := scan.k
	if k == nil {
		return scan, scan
	}
	warps, ok := k.checkWholeWarps("BlockScan")
	switch {
	case !ok:
		return scan, scan
	case warps == 1:
		return Reg[T]{}, scan.ShuffleFrom(k.U32(31))
	}
	parts := k.partialsName(name)
	sums := Shared[T](k, parts, warps)
	k.If(k.Lane().EQI(31), func() { sums.Store(k.WarpIndex(), scan) })
	k.Sync()
	// Each warp scans the totals of all warps. The remaining lanes repeat the last total; their
	// results are unused.
	each := sums.Load(k.Lane().MinI(int64(warps - 1))).WarpScan(combine)
	return each.ShuffleFrom(k.WarpIndex().MaxI(1).SubI(1)), each.ShuffleFrom(k.U32(warps - 1))
}

// checkWholeWarps returns the number of warps of the block, for a call that all of them must
// execute. It reports a block with a partial warp, and a call in a role.
func (k *Kernel) checkWholeWarps(what string) (warps int, ok bool) {
	warps = k.BlockThreads() / 32
	switch {
	case warps == 0 || k.BlockThreads()%32 != 0:
		k.fault(&ruleShape,
			"%s needs a block size that is a multiple of 32, declared with Threads; this block has %v threads",
			what, k.threads)
	case k.role != nil:
		k.fault(&ruleRole, "deadlock: %s in role %s waits for all threads of the block", what,
			k.role.name)
	default:
		return warps, true
	}
	return 0, false
}

// partialsName returns the name of the shared variable in which warps store partial results. In a
// loop it first emits a barrier, so that all threads have read the results of the previous
// iteration.
func (k *Kernel) partialsName(name string) string {
	if len(k.loops) > 0 {
		k.Sync()
	}
	return unique(name, k.names)
}
