// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

// TensorOutput is Output for boxes of tensors. The staging buffers hold a box of x, and StoreBox
// can store them to x and to other tensors that have equal boxes.
//
//	out := k.TensorOutput("out", dk, 2)
//	...
//	out.StoreBox(dk, changes, 0, half, head, row, k.U32(0))
//	out.StoreBox(dv, weights, 0, half, head, row, k.U32(0))
//	out.Wait()
func (k *Kernel) TensorOutput(name string, x *Tensor, groups int) *Output {
	k = k.sound()
	if x.kernel() == nil {
		return k.Output(name, nil, groups)
	}
	return k.Output(name, x.m, groups)
}

// StoreBox writes one part of an accumulator, 64 rows, to a box of a tensor as Store does. The
// coordinates are those of Tensor.Store.
func (o *Output) StoreBox(x *Tensor, acc *Accumulator, part int, group Reg[U32], at ...Reg[U32]) {
	k := o.kernel()
	if !checkCreated(k, "output in StoreBox", x.kernel(), acc.kernel(), group.k) ||
		!o.checkStore(acc, group) {
		return
	}
	switch {
	case x.kernel() == nil:
		k.fault(&ruleValue, "tensor in StoreBox is a zero value, not created by a builder call")
		return
	case x.m.tile != o.to.tile:
		k.fault(&ruleShape, "tensor %s has boxes of %s, but the output has tiles of %s", x.m.name,
			x.m.tile, o.to.tile)
		return
	}
	o.storePart(acc, part, group, func(tile SharedTile) { x.Store(tile, at...) })
}
