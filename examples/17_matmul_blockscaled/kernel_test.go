// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package blockscaled

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/golden"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// verify compares the PTX with a golden file, and checks and assembles it.
func verify(t *testing.T, name, target string, build func(*dsl.Module)) {
	t.Helper()
	m := dsl.New(name+"."+target, target)
	build(m)
	golden.Verify(t, m)
}

// TestPTX compares the PTX of one case for each option with a golden file.
func TestPTX(t *testing.T) {
	t.Parallel()
	for _, f := range []Format{nvfp4, mxfp4, mxfp6, mxfp8, mxfp8x4, nvfp4.Zeros(), mxfp4.Zeros(),
		mxfp8.Zeros()} {
		verify(t, f.Name, "sm_100a", func(m *dsl.Module) { Build(m, f, f.Default(false)) })
		verify(t, f.Name+"_pair", "sm_100a", func(m *dsl.Module) { Build(m, f, f.Default(true)) })
	}
	for _, c := range Cases() {
		if c.golden() {
			verify(t, c.Name, c.Target, c.Build)
		}
		if c.Sync && c.common() {
			verify(t, c.Name, "sm_121a", c.Build)
		}
	}
}

// golden reports whether a case has a golden file: one for each option.
func (c Case) golden() bool {
	switch c.Name {
	case "nvfp4", "nvfp4_pair", "nvfp4_c_ignored":
		return false // Default has a larger tile, or another case has the same kernel
	case "mxfp8_columns_pair", "mxfp6_sparse":
		return true
	}
	return c.Sync && c.common() || c.Format.Deep || c.Epilogue.Name != "" ||
		c.Format.Name == "nvfp4" && !strings.Contains(c.Name, "_n")
}

// TestAssembles checks the other cases for hazards, and assembles them.
func TestAssembles(t *testing.T) {
	t.Parallel()
	for _, c := range Cases() {
		if c.golden() {
			continue // TestPTX
		}
		m := dsl.New(c.Name, c.Target)
		c.Build(m)
		golden.Clean(t, m)
		golden.Assemble(t, m)
	}
}

// TestPTXClusters verifies the kernel in clusters whose blocks share loads.
func TestPTXClusters(t *testing.T) {
	verify(t, "nvfp4_cluster", "sm_100a",
		func(m *dsl.Module) {
			Build(m, nvfp4, Tiling{N: 192, Stages: 3, Group: 8, Rows: 2, Cols: 2})
		})
	verify(t, "mxfp8_pair_cluster", "sm_100a", func(m *dsl.Module) {
		Build(m, mxfp8, Tiling{N: 256, Stages: 3, Group: 8, Pair: true, Rows: 4, Cols: 2})
	})
}

// TestRun runs the kernels in the emulator and compares the results with the reference.
func TestRun(t *testing.T) {
	t.Parallel()
	kerneltest.Run(t, Check, Targets...).Tight(t, 4)
}

// TestTiling checks that a tile is rejected if its scale factors are not whole layout units.
func TestTiling(t *testing.T) {
	m := dsl.New("m", "sm_100a")
	Build(m, Formats[0], Tiling{N: 160, Stages: 2, Group: 8})
	if _, err := m.Text(); err == nil || !strings.Contains(err.Error(), "expected a multiple of 128 rows, or 64 or 192") {
		t.Error(err)
	}
}

// TestCompress decodes the output of Compress as the tensor cores do: eight bytes per lane and
// instruction.
func TestCompress(t *testing.T) {
	random := &kerneltest.T{Rand: rand.New(rand.NewPCG(1, 2))}
	for _, f := range Formats {
		if !f.Sparse {
			continue
		}
		together := f.together()
		n := f.random(random, f.A, 300, 640*together)
		n.drop(random, together)
		kept, metadata := n.Compress(together)
		got := make([]uint8, len(n.Codes))
		instructions := n.Cols / (64 * together)
		atoms := (instructions + 1) / 2
		for row := range n.Rows {
			for i := range instructions {
				lane := metadata[2048*(row/128*atoms+i/2):][row%128*16+i%2*8:][:8]
				for j := range 32 { // half of 64 units are kept
					place := int(lane[j/4] >> (j % 4 * 2) & 3)
					from := kept.Codes[row*kept.Cols+(32*i+j)*together:][:together]
					copy(got[row*n.Cols+(64*i+j/2*4+place)*together:], from)
				}
			}
		}
		if !bytes.Equal(got, n.Codes) {
			t.Errorf("%s: the matrix is not what was compressed", f.Name)
		}
		checkRows(t, f, n)
		if tail := metadata[2048*(2*atoms)+(300-256)*16]; tail != 0x44 {
			t.Errorf("%s: beyond the last row the places are %#x", f.Name, tail)
		}
	}
}

// checkRows decodes the output of CompressRows, with padding to tiles of 128 rows and 1024 columns.
func checkRows(t *testing.T, f Format, n Numbers) {
	together := f.together()
	kept, metadata, rows, each := n.CompressRows(together, 128, 1024)
	if rows != 384 || each != 1024*((n.Cols+1023)/1024)/8/together || len(metadata) != rows*each {
		t.Errorf("%s: %d bytes of metadata, %d rows of %d", f.Name, len(metadata), rows, each)
	}
	got := make([]uint8, len(n.Codes))
	for i := range kept.Codes {
		row, col := i/kept.Cols, i%kept.Cols
		unit := col / together // two units of each four are kept
		place := int(metadata[row*each+unit/4] >> (unit % 4 * 2) & 3)
		got[row*n.Cols+(unit/2*4+place)*together+col%together] = kept.Codes[i]
	}
	if !bytes.Equal(got, n.Codes) {
		t.Errorf("%s: the matrix is not what CompressRows was given", f.Name)
	}
	if metadata[299*each+each-1] != 0x44 || metadata[300*each] != 0x44 {
		t.Errorf("%s: the metadata beyond the matrix is invalid", f.Name)
	}
}

// TestPacked checks that the first number has the lowest bits.
func TestPacked(t *testing.T) {
	six := Numbers{Type: isa.E2m3, Codes: []uint8{1, 2, 3, 63}}
	if got, want := six.Packed(), []byte{0x81, 0x30, 0xfc}; !bytes.Equal(got, want) {
		t.Errorf("got % x, want % x", got, want)
	}
}
