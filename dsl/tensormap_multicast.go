// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	mathbits "math/bits"
	"slices"

	"github.com/ptxdsl/ptxdsl/dsl/internal/source"
)

// A share specifies which blocks of a cluster need the same tile. Each of these blocks loads a
// part of the tile and multicasts the part to the others.
type share uint8

const (
	unshared     share = iota
	wholeCluster       // all blocks of the cluster
	sameRow            // blocks whose output tiles are in the same row
	sameCol            // blocks whose output tiles are in the same column
	sameHalf           // the same column, and the same half of the columns in a CTA pair
)

// sharers returns the mask of the blocks of a cluster that share a tile with the block of the
// given rank. Ranks increase along x first, and blocks along x have the same row of the output.
func (k *Kernel) sharers(s share, rank int) (mask uint32) {
	high := max(1, k.cluster[0])
	for other := range k.clusterSize() {
		same := s == wholeCluster || other == rank
		switch s {
		case sameRow:
			same = other%high == rank%high
		case sameCol:
			same = other/high == rank/high
		case sameHalf:
			same = other/high == rank/high && (other-rank)%2 == 0
		}
		if same {
			mask |= 1 << other
		}
	}
	return mask
}

// shareSize returns the number of blocks that share a tile.
func (k *Kernel) shareSize(s share) int { return mathbits.OnesCount32(k.sharers(s, 0)) }

// shareRank returns the rank of the thread's block among the blocks that share a tile, and the
// mask of those blocks.
func (k *Kernel) shareRank(s share) (part Reg[U32], mask Reg[U16]) {
	rank := k.ClusterRank()
	if k.shareSize(s) == k.clusterSize() {
		return rank, Const[U16](k, 1<<k.clusterSize()-1)
	}
	high := int64(k.cluster[0])
	up := rank.RemI(high)
	switch s {
	case sameRow:
		part = rank.DivI(high)
	case sameCol:
		part = up
	case sameHalf:
		part = up.ShrI(1)
	}
	return part, To[U16](k.shareMask(s, false))
}

// shareMask returns the mask of the blocks that share a tile with the thread's block, or with
// either block of its CTA pair if pair is set.
func (k *Kernel) shareMask(s share, pair bool) Reg[U32] {
	first, rank := k.sharers(s, 0), k.ClusterRank()
	if pair {
		first |= k.sharers(s, 1)
	}
	if mathbits.OnesCount32(first) == k.clusterSize() {
		return k.U32(int(first))
	}
	shift, up := rank, rank.RemI(int64(k.cluster[0]))
	switch s {
	case sameRow:
		shift = up
	case sameCol:
		shift = rank.Sub(up)
	case sameHalf:
		if shift = rank.Sub(up); !pair {
			shift = shift.Add(rank.AndI(1))
		}
	}
	if pair && (s == unshared || s == sameRow) {
		shift = shift.AndI(0xfffffffe)
	}
	return k.U32(int(first)).Shl(shift)
}

// shares returns the distinct shares of the pipeline's feeds that are larger than one block. If
// no feed has such a share, the result is unshared.
func (p *Pipeline) shares() (all []share) {
	for _, f := range p.feeds {
		if p.k.shareSize(f.share) > 1 && !slices.Contains(all, f.share) {
			all = append(all, f.share)
		}
	}
	if len(all) == 0 {
		all = append(all, unshared)
	}
	return all
}

// neighborMask returns the mask of the blocks that share a tile of the pipeline with the
// thread's block or its CTA pair, including the block itself. The block must signal them when it
// has released a stage.
func (p *Pipeline) neighborMask() Reg[U32] {
	var mask Reg[U32]
	for i, s := range p.shares() {
		if one := p.k.shareMask(s, p.pair); i == 0 {
			mask = one
		} else {
			mask = mask.Or(one)
		}
	}
	return mask
}

// commit makes the corresponding mbarriers of the blocks in neighborMask track the completion of
// the MMAs that the thread has started.
func (p *Pipeline) commit(b Barrier) {
	k := p.k
	mask := To[U16](p.neighborMask())
	k.When(k.Leader(), func() {
		k.ins("tcgen05.commit."+k.tmem.ctaGroup()+
			".mbarrier::arrive::one.shared::cluster.multicast::cluster.b64", k.arg(b.at),
			k.arg(mask))
	})
}

// remoteArrivals returns the number of blocks that arrive on the empty mbarrier of a stage. In a
// CTA pair only the even block arrives.
func (p *Pipeline) remoteArrivals() int {
	var mask uint32
	for _, s := range p.shares() {
		mask |= p.k.sharers(s, 0)
		if p.pair {
			mask |= p.k.sharers(s, 1)
		}
	}
	n := mathbits.OnesCount32(mask)
	if p.pair {
		n /= 2
	}
	return n
}

// isEvenBlock returns a predicate that is true in the even block of a CTA pair, which issues the
// MMAs for both blocks.
func (k *Kernel) isEvenBlock() Reg[Pred] { return k.pairRank().EQI(0) }

// pairRank returns the block's index in its CTA pair, 0 or 1.
func (k *Kernel) pairRank() Reg[U32] {
	if k.clusterSize() == 2 {
		return k.ClusterRank()
	}
	return k.ClusterRank().AndI(1)
}

// evenRank returns the rank in the cluster of the pair's even block.
func (k *Kernel) evenRank() Reg[U32] {
	if k.clusterSize() == 2 {
		return k.U32(0)
	}
	return k.ClusterRank().AndI(0xfffffffe)
}

// MulticastRow returns the feed shared by the blocks of the cluster whose output tiles are in the
// same row: each of them loads a part of the A operand for all.
func (f Feed) MulticastRow() Feed { return f.withShare(sameRow) }

// MulticastCol returns the feed shared by the blocks of the cluster whose output tiles are in the
// same column: each of them loads a part of the B operand for all. Both blocks of a CTA pair load
// the whole tile in this way, as the scale factors of B require.
func (f Feed) MulticastCol() Feed { return f.withShare(sameCol) }

// MulticastHalf returns the feed shared as by MulticastCol, for the B operand of CTA pairs, of
// which each block holds half of the columns: the even blocks share one half, the odd blocks the
// other. See [Kernel.CTAPair].
func (f Feed) MulticastHalf() Feed { return f.withShare(sameHalf) }

func (f Feed) withShare(s share) Feed {
	f.share = s
	return f
}

// splitLoad makes each block that shares a feed load a part of its tile: some rows, or some
// columns if there are few rows and no swizzle.
func (p *Pipeline) splitLoad(f Feed) {
	k, m := p.k, f.from
	t, n := m.tile, k.shareSize(f.share)
	bytes := t.Cols / n * t.Type.Bits() / 8 // bytes of a row in each part
	switch {
	case f.share == sameHalf && !k.tmem.pair:
		k.fault(&ruleProtocol,
			"MulticastHalf is used for %s without CTAPair; MulticastCol shares whole tiles",
			m.name).
			withFix(source.Rename("MulticastHalf", "MulticastCol"))
	case f.share != unshared && f.share != wholeCluster && k.cluster[2] > 1:
		k.fault(&ruleProtocol,
			"%s is multicast along rows and columns in a cluster of %d x %d x %d blocks, expected at most two dimensions",
			m.name, k.cluster[0], k.cluster[1], k.cluster[2])
	case n == 1:
		return
	case t.Rows%(8*n) == 0:
		m.boxRows = t.Rows / n
	case t.Swizzle == NoSwizzle && t.elementBits() == t.Type.Bits() && t.Cols%n == 0 &&
		bytes%128 == 0 &&
		lineBox(t.Cols/n) <= 256:
		m.boxRows, m.boxCols = 1, lineBox(t.Cols/n)
		m.splitsColumns = true
	default:
		k.fault(&ruleShape,
			"%d rows of %s cannot be split into groups of eight rows for a cluster of %d blocks",
			t.Rows, m.name, n)
	}
	p.isClusterWide = true
}

// lineBox returns the number of columns per copy for a row of n columns that needs several
// copies. The result is at most 256, unless n cannot be halved often enough.
func lineBox(n int) int {
	if n > 256 && n%256 == 0 {
		return 256
	}
	for n > 256 && n%2 == 0 {
		n /= 2
	}
	return n
}

// loadShared starts the copies of this block's part of a shared tile, whose first element is at
// row and col of the matrix.
func (m *TensorMap) loadShared(s share, to SharedTile, row, col Reg[U32], full Barrier) {
	k, t := m.k, m.tile
	n := k.shareSize(s)
	part, mask := k.shareRank(s)
	if !m.splitsColumns {
		high := t.Rows / n
		to.at = to.at.add(part.MulI(int64(high * t.Pitch())))
		row = part.MadI(int64(high), row)
		k.When(k.Leader(), func() { m.load(to, 0, high, row, col, full, []Reg[U16]{mask}) })
		return
	}
	wide := t.Cols / n
	at := to.at.add(part.MulI(int64(wide * t.Type.Bits() / 8)))
	col = part.MadI(int64(wide), col)
	k.When(k.Leader(), func() {
		copyTo := m.newCopy(full, []Reg[U16]{mask})
		for line := range t.Rows {
			for from := 0; from < wide; from += m.boxCols {
				place := at.Plus(int64(line*t.Pitch() + from*t.Type.Bits()/8))
				copyTo(place, row.AddI(int64(line)), col.AddI(int64(from)))
			}
		}
	})
}
