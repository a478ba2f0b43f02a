// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package blockscaled

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/internal/exampletest"
	"github.com/ptxdsl/ptxdsl/internal/trial"
	"github.com/ptxdsl/ptxdsl/isa"
)

// TestBlockScaled holds the kernel of every format, on one multiprocessor and on two.
func TestBlockScaled(t *testing.T) {
	for _, f := range Formats {
		exampletest.Check(t, f.Name, "sm_100a", func(m *dsl.Module) { Build(m, f, f.Default(false)) })
		exampletest.Check(t, f.Name+"_pair", "sm_100a", func(m *dsl.Module) { Build(m, f, f.Default(true)) })
	}
}

// TestEpilogues holds the kernel with each of its ends.
func TestEpilogues(t *testing.T) {
	for _, e := range Epilogues {
		exampletest.Check(t, "nvfp4"+e.Name, "sm_100a", func(m *dsl.Module) { BuildWith(m, nvfp4, e.tiling(nvfp4.Default(false)), e) })
	}
}

// TestClusters holds the kernel in clusters whose blocks load parts of tiles for one another.
func TestClusters(t *testing.T) {
	exampletest.Check(t, "nvfp4_cluster", "sm_100a", func(m *dsl.Module) { Build(m, nvfp4, Tiling{N: 192, Stages: 3, Group: 8, Rows: 2, Cols: 2}) })
	exampletest.Check(t, "mxfp8_pair_cluster", "sm_100a", func(m *dsl.Module) {
		Build(m, mxfp8, Tiling{N: 256, Stages: 3, Group: 8, Pair: true, Rows: 4, Cols: 2})
	})
}

// TestSync holds the kernel of every format that mma.sync has.
func TestSync(t *testing.T) {
	for _, f := range SyncFormats {
		exampletest.Targets(t, "sync_"+f.Name, func(m *dsl.Module) { BuildSync(m, f, SyncDefault) }, "sm_120a", "sm_121a")
	}
}

// TestTiling: tiles that scale factors do not come for are refused.
func TestTiling(t *testing.T) {
	m := dsl.New("m", "sm_100a")
	Build(m, Formats[0], Tiling{N: 160, Stages: 2, Group: 8})
	if _, err := m.Text(); err == nil || !strings.Contains(err.Error(), "want a multiple of 64") {
		t.Error(err)
	}
}

// TestCompress reads what Compress leaves the way that the tensor cores do: lane by lane, the eight bytes of an instruction at a time.
func TestCompress(t *testing.T) {
	random := &trial.T{Rand: rand.New(rand.NewPCG(1, 2))}
	for _, f := range Formats {
		if !f.Sparse {
			continue
		}
		together := f.together()
		n := f.random(random, f.A, 300, 640*together)
		n.drop(random, together)
		kept, told := n.Compress(together)
		got := make([]uint8, len(n.Codes))
		instructions := n.Cols / (64 * together)
		atoms := (instructions + 1) / 2
		for row := range n.Rows {
			for i := range instructions {
				lane := told[2048*(row/128*atoms+i/2):][row%128*16+i%2*8:][:8]
				for j := range 32 { // of each 64 neighbours half are kept
					place := int(lane[j/4] >> (j % 4 * 2) & 3)
					from := kept.Codes[row*kept.Cols+(32*i+j)*together:][:together]
					copy(got[row*n.Cols+(64*i+j/2*4+place)*together:], from)
				}
			}
		}
		if !bytes.Equal(got, n.Codes) {
			t.Errorf("%s: the matrix is not what was compressed", f.Name)
		}
		if tail := told[2048*(2*atoms)+(300-256)*16]; tail != 0x44 {
			t.Errorf("%s: beyond the last row the places are %#x", f.Name, tail)
		}
	}
}

// TestValue holds the small floating-point numbers by their largest, their smallest, and one.
func TestValue(t *testing.T) {
	for _, c := range []struct {
		typ  isa.Type
		code uint8
		want float64
	}{
		{isa.E2m1, 7, 6}, {isa.E2m1, 1, 0.5}, {isa.E2m1, 0b1010, -1}, {isa.E2m3, 31, 7.5}, {isa.E2m3, 1, 0.125}, {isa.E3m2, 31, 28}, {isa.E3m2, 0b101100, -1},
		{isa.E3m2, 1, 1.0 / 16}, {isa.E4m3, 0x7e, 448}, {isa.E4m3, 1, 1.0 / 512}, {isa.E4m3, 0xb8, -1}, {isa.Ue8m0, 127, 1}, {isa.Ue4m3, 0x38, 1},
	} {
		if got := Value(c.typ, c.code); got != c.want {
			t.Errorf("%s %#x is worth %v, not %v", c.typ, c.code, got, c.want)
		}
	}
}

// TestPacked: the first number has the lowest bits.
func TestPacked(t *testing.T) {
	six := Numbers{Type: isa.E2m3, Codes: []uint8{1, 2, 3, 63}}
	if got, want := six.Packed(), []byte{0x81, 0x30, 0xfc}; !bytes.Equal(got, want) {
		t.Errorf("% x; % x is expected", got, want)
	}
}
