// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gpuagree

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval/tensorcore"
)

// In the cases of wgmma, each of the eight warpgroups of a block writes a tile of A and a tile of
// B to shared memory, without swizzle, 16 bytes per thread, and computes 64 rows by 64 columns.

const groupColumns = 64

// groupCases adds a case for each wgmma of 64 columns.
func groupCases(mods []isa.Mod, opcode string, sm int, add func(Case)) error {
	p, err := tensorcore.WgmmaOf(mods, tensorcore.ArchOf(sm))
	if err != nil {
		return err
	}
	if p.N != groupColumns {
		return nil
	}
	selectors := 1
	if p.Sparse && p.A.Bits > 8 {
		selectors = 2
	}
	for s := range selectors {
		id := fmt.Sprintf("%s %d", opcode, s)
		add(Case{ID: id, Opcode: opcode, Family: "wgmma", Immediate: s, Group: p})
	}
	return nil
}

// units returns the number of 16-byte units in a row of depth elements.
func units(depth int, e *tensorcore.Element) int { return depth * e.Bits / 128 }

// groupRegisters returns the number of accumulator registers.
func (c *Case) groupRegisters() int { return groupColumns / 2 * c.Group.D.Bits / 32 }

// tile returns the input columns of a tile: two columns for each 16-byte unit that a thread
// writes.
func (in *Inputs) tile(operand string, e *tensorcore.Element, n int) (columns []int) {
	for i := range 2 * n {
		name := fmt.Sprintf("tile %s %s %d", operand, e.Name, i)
		columns = append(columns, in.column(name, func(r *rand.Rand, row int) (x uint64) {
			for at := 0; at < 64; at += e.Bits {
				x |= elementBits(r, e, row/128*32) & (1<<e.Bits - 1) << at
			}
			return x
		}))
	}
	return columns
}

// accumulators returns the input columns of C.
func (c *Case) accumulators(in *Inputs) (columns []int) {
	d := c.Group.D
	for i := range c.groupRegisters() {
		name := fmt.Sprintf("accumulator %s %d", d.Name, i)
		columns = append(columns, in.column(name, func(r *rand.Rand, row int) (x uint64) {
			for at := 0; at < 32; at += d.Bits {
				x |= elementBits(r, d, row/128*32) & (1<<d.Bits - 1) << at
			}
			return x
		}))
	}
	return columns
}

// groupMetadata returns the input column of the sparsity metadata.
func (in *Inputs) groupMetadata(p *tensorcore.Product) int {
	codes, name := []uint64{4, 8, 9, 12, 13, 14}, "metadata"
	if p.A == tensorcore.TF32 {
		codes, name = []uint64{4, 14}, "metadata tf32"
	}
	return in.column(name, metadataWord(codes))
}

// warpgroup emits the kernel of a wgmma case.
func (c *Case) warpgroup(k *kernel, in *Inputs) {
	p := c.Group
	ua, ub := units(p.DepthA(), p.A), units(p.K, p.B)
	bytes := 2048 * (1 + ub/2)
	fmt.Fprintf(&k.regs, "\t.shared .align 128 .b8 tiles[%d];\n", 8*bytes)
	fmt.Fprintf(&k.regs, "\t.reg .b32 %%t, %%g, %%tile, %%x;\n")
	fmt.Fprintf(&k.regs, "\t.reg .b64 %%da, %%db, %%w0, %%w1;\n\t.reg .pred %%one;\n")
	k.line("and.b32 %%t, %%thread, 127;")
	k.line("shr.u32 %%g, %%thread, 7;")
	k.line("mov.u32 %%tile, tiles;")
	k.line("mad.lo.u32 %%tile, %%g, %d, %%tile;", bytes)
	k.line("mad.lo.u32 %%x, %%t, 16, %%tile;")
	fill := func(columns []int, at int) {
		for i := 0; i < len(columns); i += 2 {
			k.line("ld.global.b64 %%w0, [%%in+%d];", columns[i]*Rows*8)
			k.line("ld.global.b64 %%w1, [%%in+%d];", columns[i+1]*Rows*8)
			k.line("st.shared.v2.b64 [%%x+%d], {%%w0, %%w1};", at+i/2*2048)
		}
	}
	fill(in.tile("a", p.A, ua/2), 0)
	fill(in.tile("b", p.B, ub/2), 2048)
	descriptor := func(name string, at, n int) {
		k.line("add.u32 %%x, %%tile, %d;", at)
		k.line("bfe.u32 %%x, %%x, 4, 14;")
		k.line("cvt.u64.u32 %s, %%x;", name)
		k.line("or.b64 %s, %s, %#x;", name, name, uint64(128>>4)<<16|uint64(n*128>>4)<<32)
	}
	descriptor("%da", 0, ua)
	descriptor("%db", 2048, ub)
	var d []string
	for i, column := range c.accumulators(in) {
		d = append(d, k.load(column, "b32", fmt.Sprintf("%%d%d", i)))
	}
	operands := []string{"{" + strings.Join(d, ", ") + "}", "%da", "%db"}
	if p.Sparse {
		operands = append(operands, k.load(in.groupMetadata(p), "b32", "%e"),
			fmt.Sprint(c.Immediate))
	}
	operands = append(operands, "%one")
	if !p.A.Integer {
		operands = append(operands, "1", "1")
	}
	if p.A.Bits == 16 {
		operands = append(operands, "0", "0")
	}
	k.line("setp.eq.u32 %%one, 0, 0;")
	k.line("fence.proxy.async;")
	k.line("bar.sync 0;")
	k.line("wgmma.fence.sync.aligned;")
	k.line("%s %s;", c.Opcode, strings.Join(operands, ", "))
	k.line("wgmma.commit_group.sync.aligned;")
	k.line("wgmma.wait_group.sync.aligned 0;")
	for i := range d {
		k.store(i, "b32", d[i])
	}
}

// expectGroup computes the expected results of the eight warpgroups.
func (c *Case) expectGroup(in *Inputs, out []uint64) {
	p := c.Group
	ua, ub := units(p.DepthA(), p.A), units(p.K, p.B)
	ta, tb := in.tile("a", p.A, ua/2), in.tile("b", p.B, ub/2)
	accumulators := c.accumulators(in)
	for g := range Rows / 128 {
		read := func(columns []int) tensorcore.Reader {
			return func(address uint32, to *[16]byte) error {
				unit := int(address / 16)
				for i := range 16 {
					word := in.data[columns[unit/128*2+i/8]][g*128+unit%128]
					to[i] = byte(word >> (i % 8 * 8))
				}
				return nil
			}
		}
		p.Begin(p.M, p.N)
		matrix := func(n int) tensorcore.Matrix {
			return tensorcore.Matrix{Leading: 128, Stride: uint32(n * 128)}
		}
		// the reader never returns an error
		_ = p.LoadA(matrix(ua), false, false, 0, p.M, read(ta))
		_ = p.LoadB(matrix(ub), false, false, 0, p.N, read(tb))
		for row := 0; p.Sparse && row < p.M; row++ {
			for chunk := range p.Chunks() {
				at := p.Metadata(row%16, chunk, c.Immediate)
				word := in.data[in.groupMetadata(p)][g*128+row/16*32+at.Lane]
				p.SetPlaces(chunk, word>>at.Bit&15)
			}
		}
		p.Ready()
		half := p.D == tensorcore.F16
		for row := range p.M {
			for col := range p.N {
				warp, at := tensorcore.WgmmaD(half, row, col)
				thread := g*128 + warp*32 + at.Lane
				code := in.data[accumulators[at.Register]][thread] >> at.Bit
				if half {
					code &= 0xffff
				}
				out[at.Register*Rows+thread] |= p.Element(row, col, code&(1<<32-1)) << at.Bit
			}
		}
	}
}
