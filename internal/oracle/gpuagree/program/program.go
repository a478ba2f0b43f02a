// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
)

// A Program is a kernel, its launch and its inputs. The kernel reads In, writes Out, and may copy
// through tensor maps. Its result is the final contents of Out.
type Program struct {
	ID      string
	Family  string
	Grid    int // number of blocks; 0 means 1
	Block   int // threads per block; 0 means 32
	Cluster int // blocks per cluster; 0 means 1
	In      []byte
	Out     []byte // contents before the launch
	Maps    []Map
	body    string
	globals string // module-scope declarations; NAME is replaced by the kernel's name
}

// A Map is a tensor map over In or Out.
type Map struct {
	Type       string // PTX type
	Output     bool
	Sizes, Box []int // outermost first
	Steps      []int
	Swizzle    int
	NaN        bool
	// An im2col map has these fields instead of Box.
	Lower, Upper     []int
	Channels, Pixels int
}

// random returns a random generator that is seeded with the ID of a program.
func random(id string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(id))
	return rand.New(rand.NewPCG(h.Sum64(), 75))
}

// noise returns n random bytes.
func noise(r *rand.Rand, n int) []byte {
	b := make([]byte, n+8)
	for i := 0; i < n; i += 8 {
		binary.LittleEndian.PutUint64(b[i:], r.Uint64())
	}
	return b[:n:n]
}

// pattern returns n bytes that a program is unlikely to store.
func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(0xa5 ^ i*29)
	}
	return b
}

// A code is the text of a kernel's body, which grows line by line.
type code struct {
	text strings.Builder
	n    int // number of labels and registers that have been created
}

func (c *code) line(format string, args ...any) {
	fmt.Fprintf(&c.text, "\t"+format+"\n", args...)
}

// label returns a new label.
func (c *code) label() string {
	c.n++
	return fmt.Sprintf("L%d", c.n)
}

// reg declares a new register and returns its name.
func (c *code) reg(class string) string {
	c.n++
	name := fmt.Sprintf("%%%s_%d", strings.TrimPrefix(class, "."), c.n)
	c.line(".reg .%s %s;", class, name)
	return name
}

// Text returns the kernel under a name. In the body, %in and %out hold the addresses of the input
// and the output, %th the thread index, %ln the lane, %rank the block's cluster rank, and %map0
// the address of the first tensor map.
func (p *Program) Text(name string) string {
	var params, loads strings.Builder
	fmt.Fprintf(&params, ".param .u64 %s_in, .param .u64 %s_out", name, name)
	fmt.Fprintf(&loads, "\tld.param.u64 %%in, [%s_in];\n\tld.param.u64 %%out, [%s_out];\n", name,
		name)
	for i := range p.Maps {
		fmt.Fprintf(&params, ", .param .align 64 .b8 %s_map%d[128]", name, i)
		fmt.Fprintf(&loads, "\t.reg .b64 %%map%d;\n\tmov.b64 %%map%d, %s_map%d;\n", i, i, name, i)
		fmt.Fprintf(&loads, "\tcvta.param.u64 %%map%d, %%map%d;\n", i, i)
	}
	text := fmt.Sprintf(`%s.visible .entry %s(%s)
.reqntid %d
{
	.reg .b64 %%in, %%out;
	.reg .b32 %%th, %%ln, %%rank;
%s	mov.u32 %%th, %%tid.x;
	and.b32 %%ln, %%th, 31;
	mov.u32 %%rank, %%ctaid.x;
%s	ret;
}
`, p.globals, name, params.String(), max(p.Block, 32), loads.String(), p.body)
	return strings.ReplaceAll(text, "NAME", name)
}
