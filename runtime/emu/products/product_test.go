// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package products

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// A productCase is a tcgen05 matrix product: two operand types, an accumulator shape, and the
// operand layouts.
type productCase struct {
	x, y         isa.Type
	padded       bool
	scale        dsl.BlockScale
	rows, cols   int
	depth        int // stored depth of a stage of A, without zeros of a sparse A
	turnX, turnY bool
	sparse       bool
	swizzle      dsl.Swizzle
	stages       int  // number of pipeline stages
	half         bool // F16 accumulators
}

func (c productCase) String() string {
	s := fmt.Sprintf("%s x %s into %dx%d, %d deep, %s", c.x, c.y, c.rows, c.cols, c.depth,
		c.swizzle)
	for name, is := range map[string]bool{" padded": c.padded, " A turned": c.turnX,
		" B turned": c.turnY, " sparse": c.sparse, " half": c.half} {
		if is {
			s += name
		}
	}
	if c.scale.Vector > 0 {
		s += " " + c.scale.String()
	}
	return s
}

func (c productCase) box(t isa.Type, rows, depth int, turned bool) dsl.Box {
	if turned {
		rows, depth = depth, rows
	}
	return dsl.Box{Rows: rows, Cols: depth, Padded: c.padded && t.Bits() < 8}
}

func (c productCase) share() int {
	if c.rows == 256 {
		return 2
	}
	return 1
}

// full returns the depth of a stage with its zeros.
func (c productCase) full() int {
	if c.sparse {
		return 2 * c.depth
	}
	return c.depth
}

// build creates the kernel. D has rows x cols elements.
func (c productCase) build(m *dsl.Module) {
	options, share := []dsl.KernelOption{dsl.Warpgroups(2)}, c.share()
	if share == 2 {
		options = append(options, dsl.Cluster(2))
	}
	k := m.Kernel("k", options...)
	if share == 2 {
		k.CTAPair()
	}
	a := k.TensorMap("a", c.x, c.box(c.x, c.rows/share, c.depth, c.turnX), c.swizzle)
	b := k.TensorMap("b", c.y, c.box(c.y, c.cols/share, c.full(), c.turnY), c.swizzle)
	maps := []*dsl.TensorMap{a, b}
	acc := k.TMEM("acc", c.rows, c.cols, 1)
	if c.half {
		acc.F16Accumulators()
	}
	if c.sparse {
		maps = append(maps, k.SparsityMap("e", a))
		acc.Sparsity(a)
	}
	if c.scale.Vector > 0 {
		maps = append(maps, k.ScaleMap("sfa", c.scale, 128, c.full()),
			k.ScaleMap("sfb", c.scale, (c.cols+127)/128*128, c.full()))
		acc.Scales(c.scale, c.full())
	}
	var feeds []dsl.Feed
	for _, m := range maps {
		feeds = append(feeds, m.Feed())
	}
	integer := c.x.Bits() == 8 && (c.x == isa.S8 || c.x == isa.U8)
	var d dsl.Array[dsl.F32]
	var ds dsl.Array[dsl.S32]
	if integer {
		ds = dsl.Global[dsl.S32](k, "d")
	} else {
		d = dsl.Global[dsl.F32](k, "d")
	}
	p := k.Pipeline("p", 2, feeds...)
	k.Roles(
		dsl.OnWarp(0, "load", func() {
			for s := range p.Produce(k.U32(c.stages)) {
				for i, m := range maps {
					row, col := k.U32(0), s.Iteration()
					if share == 2 && i != len(maps)-1 || share == 2 && c.scale.Vector == 0 {
						// All maps except those of B's scale factors are split over the pair.
						row = k.ClusterRank()
					}
					if i == 0 && c.turnX || i == 1 && c.turnY {
						row, col = col, row
					}
					s.Load(m, dsl.TileAt(row, col))
				}
			}
		}),
		dsl.OnWarp(1, "multiply", func() {
			acc.Fill(func(d *dsl.AccumulatorStage) {
				for s := range p.Consume(k.U32(c.stages)) {
					var tiles []dsl.SharedTile
					for _, m := range maps {
						tiles = append(tiles, s.Tile(m))
					}
					if c.turnX {
						tiles[0] = tiles[0].Transposed()
					}
					if c.turnY {
						tiles[1] = tiles[1].Transposed()
					}
					switch {
					case c.sparse && c.scale.Vector > 0:
						d.SparseScaledMMA(c.scale, tiles[0], tiles[2], tiles[1], tiles[3], tiles[4])
					case c.scale.Vector > 0:
						d.ScaledMMA(c.scale, tiles[0], tiles[1], tiles[2], tiles[3])
					case c.sparse:
						d.SparseMMA(tiles[0], tiles[2], tiles[1])
					default:
						d.MMA(tiles[0], tiles[1])
					}
				}
			})
		}),
		dsl.OnWarpgroup(1, "write", func() {
			acc.Drain(func(a *dsl.AccumulatorStage) {
				row := a.Row()
				if share == 2 {
					row = k.ClusterRank().MadI(128, row)
				}
				for col := 0; col < c.cols; col += 8 {
					at := row.MulI(int64(c.cols)).AddI(int64(col))
					if integer {
						x := dsl.LoadAccumulator[dsl.S32](a, col, 8)
						k.If(row.LTI(int64(c.rows)), func() {
							ds.StoreVec(at, x[:4])
							ds.StoreVec(at.AddI(4), x[4:])
						})
						continue
					}
					x := a.Load(col, 8)
					k.If(row.LTI(int64(c.rows)), func() {
						d.StoreVec(at, x[:4])
						d.StoreVec(at.AddI(4), x[4:])
					})
				}
			})
		}),
	)
}

// numbers by the name of the type.
var types = map[isa.Type]number{
	isa.F16: f16, isa.Bf16: bf16, isa.Tf32: tf32, isa.E4m3: e4m3, isa.E5m2: e5m2, isa.E2m3: e2m3,
	isa.E3m2: e3m2, isa.E2m1: e2m1, isa.S8: s8, isa.U8: u8,
	isa.Ue8m0: ue8m0, isa.Ue4m3: ue4m3,
}

// exact returns codes whose products and sums need no rounding: multiples of a quarter up to 4.
func exact(n number) (list []uint64) {
	if n.bits > 8 {
		for i := range 17 {
			x := float64(i-8) / 4
			list = append(list,
				map[string]uint64{"f16": toHalf(x), "bf16": toBrain(x),
					"tf32": fromFloat(x)}[n.name])
		}
		return list
	}
	for x := range uint64(1) << n.bits {
		if w := n.worth(x); n.integer || w*4 == float64(int(w*4)) && w <= 4 && w >= -4 {
			list = append(list, x)
		}
	}
	return list
}

// A sample is a matrix, given as rows of codes and the values of the codes.
type sample struct {
	n          number
	rows, cols int
	codes      []uint64
}

func random(r *rand.Rand, t isa.Type, rows, cols int) sample {
	s := sample{types[t], rows, cols, make([]uint64, rows*cols)}
	from := exact(s.n)
	for i := range s.codes {
		s.codes[i] = from[r.IntN(len(from))]
	}
	return s
}

// turned returns the transposed matrix.
func (s sample) turned() sample {
	t := sample{s.n, s.cols, s.rows, make([]uint64, len(s.codes))}
	for i, x := range s.codes {
		t.codes[i%s.cols*s.rows+i/s.cols] = x
	}
	return t
}

// differ returns an error for the first element of got that differs from the product of two
// matrices given by rows.
func differ(got []float32, as, bs [][]float64) error {
	for i, is := range got {
		row, col, want := i/len(bs), i%len(bs), 0.0
		for j, y := range bs[col] {
			want += as[row][j] * y
		}
		if float64(is) != want {
			return fmt.Errorf("sum %d, %d is %v, not %v", row, col, is, want)
		}
	}
	return nil
}

// lines returns the values of a matrix, times its scale factors, if any.
func (s sample) lines(scale func(row, col int) float64) [][]float64 {
	worth := make(map[uint64]float64)
	for _, x := range s.codes {
		worth[x] = 0
	}
	for x := range worth {
		worth[x] = s.n.worth(x)
	}
	all := make([][]float64, s.rows)
	for row := range all {
		all[row] = make([]float64, s.cols)
		for col := range all[row] {
			all[row][col] = worth[s.codes[row*s.cols+col]]
			if scale != nil {
				all[row][col] *= scale(row, col)
			}
		}
	}
	return all
}

// packed returns the codes without padding.
func (s sample) packed() []byte {
	b := make([]byte, len(s.codes)*s.n.bits/8+8)
	for i, x := range s.codes {
		at := i * s.n.bits
		put(b[at/8:][:8], word(b[at/8:][:8])|x<<(at%8))
	}
	return b[:len(b)-8]
}

// upload copies the matrix to a device.
func (s sample) upload(d *runtime.Device) (runtime.Matrix, error) {
	b := s.packed()
	switch s.n.bits {
	case 16:
		list := make([]uint16, len(b)/2)
		for i := range list {
			list[i] = uint16(word(b[2*i:][:2]))
		}
		return runtime.Upload(d, list)
	case 32:
		list := make([]uint32, len(b)/4)
		for i := range list {
			list[i] = uint32(word(b[4*i:][:4]))
		}
		return runtime.Upload(d, list)
	}
	return runtime.Upload(d, b)
}

// drop sets half of a matrix to zero. It returns the kept elements and the metadata in the layout
// of the tensor map. Of four neighbors, or pairs of packed elements, two are kept; of two TF32
// elements, one.
func (s *sample) drop(r *rand.Rand, t isa.Type, packed bool) (kept sample, metadata []byte) {
	together, group := 1, 4
	if packed {
		together = 2
	}
	if t == isa.Tf32 {
		group = 2
	}
	kept = sample{s.n, s.rows, s.cols / 2, nil}
	bytes := s.cols / (2 * group * together)
	metadata = make([]byte, dsl.SparsityBytes(s.rows, bytes))
	for row := range s.rows {
		line := s.codes[row*s.cols:][:s.cols]
		for g := range s.cols / (group * together) {
			from := line[g*group*together:][:group*together]
			order := r.Perm(group)[:group/2]
			four := uint8(0x4 + 0xa*order[0])
			if group == 4 {
				order = []int{min(order[0], order[1]), max(order[0], order[1])}
				four = uint8(order[0] | order[1]<<2)
			}
			was := append([]uint64(nil), from...)
			clear(from)
			for _, p := range order {
				copy(from[p*together:], was[p*together:][:together])
				kept.codes = append(kept.codes, was[p*together:][:together]...)
			}
			metadata[dsl.SparsityOffset(t, row, g/2, bytes)] |= four << (g % 2 * 4)
		}
	}
	return kept, metadata
}

// factors returns random scale factors of a matrix, as values and in the memory layout of the
// hardware.
func factors(r *rand.Rand, b dsl.BlockScale,
	rows, cols int) (worth func(row, col int) float64, atoms []byte) {
	n := types[b.Type]
	atoms = make([]byte, b.Bytes(rows, cols))
	list := make([]float64, rows*cols/b.Vector)
	for i := range list {
		x := uint64(126 + r.IntN(3)) // a half, one, two
		if b.Type == isa.Ue4m3 {
			x = uint64(0x30 + 4*r.IntN(5)) // 0.5 to 2
		}
		list[i] = n.worth(x)
		row, block := i/(cols/b.Vector), i%(cols/b.Vector)
		// Byte (r mod 32)*16 + (r/32 mod 4)*4 + c of the block of 128 rows by four factors.
		atom := row/128*((cols/b.Vector+3)/4) + block/4
		atoms[512*atom+row%32*16+row/32%4*4+block%4] = byte(x)
	}
	return func(row, col int) float64 { return list[row*(cols/b.Vector)+col/b.Vector] }, atoms
}

// run multiplies random matrices in the emulator and returns an error for the first wrong element.
func (c productCase) run(d *Device) error {
	r := rand.New(rand.NewPCG(1, 2))
	dev := runtime.On(d)
	m := dsl.New("m.ptx", d.Info().Target)
	c.build(m)
	loaded, err := dev.Load(m)
	if err != nil {
		return err
	}
	k, err := loaded.Kernel("k")
	if err != nil {
		return err
	}
	depth := c.stages * c.full()
	a, b := random(r, c.x, c.rows, depth), random(r, c.y, c.cols, depth)
	stored := a
	args := []any{nil, nil}
	add := func(name string, s sample, turned bool) (*runtime.TensorMap, error) {
		if turned {
			s = s.turned()
		}
		u, err := s.upload(dev)
		if err != nil {
			return nil, err
		}
		return k.TensorMap(name, u, s.rows, s.cols)
	}
	bytes := func(name string, rows int, b []byte) error {
		words := make([]uint64, len(b)/8)
		for i := range words {
			words[i] = word(b[8*i:][:8])
		}
		u, err := runtime.Upload(dev, words)
		if err != nil {
			return err
		}
		x, err := k.TensorMap(name, u, rows, len(words)/rows)
		args = append(args, x)
		return err
	}
	var errs []error
	if c.sparse {
		kept, metadata := a.drop(r, c.x, c.x.Bits() == 4 && !c.padded)
		stored = kept
		errs = append(errs, bytes("e", (c.rows+127)/128, metadata))
	}
	var scaleA, scaleB func(row, col int) float64
	if c.scale.Vector > 0 {
		var at []byte
		scaleA, at = factors(r, c.scale, c.rows, depth)
		errs = append(errs, bytes("sfa", (c.rows+127)/128, at))
		scaleB, at = factors(r, c.scale, c.cols, depth)
		errs = append(errs, bytes("sfb", (c.cols+127)/128, at))
	}
	ma, e1 := add("a", stored, c.turnX)
	mb, e2 := add("b", b, c.turnY)
	floats, e3 := runtime.Alloc[float32](dev, c.rows*c.cols)
	integers, e4 := runtime.Alloc[int32](dev, c.rows*c.cols)
	var out any = floats
	if a.n.integer {
		out = integers
	}
	if err := errors.Join(append(errs, e1, e2, e3, e4)...); err != nil {
		return err
	}
	args[0], args[1] = ma, mb
	if err := k.Launch(runtime.Grid(c.share()), append(args, out)...); err != nil {
		return err
	}
	got, e1 := runtime.Download(floats)
	whole, e2 := runtime.Download(integers)
	if err := errors.Join(e1, e2); err != nil {
		return err
	}
	as, bs := a.lines(scaleA), b.lines(scaleB)
	for i := range got {
		row, col := i/c.cols, i%c.cols
		var want float64
		for j, y := range bs[col] {
			want += as[row][j] * y
		}
		is := float64(got[i])
		if a.n.integer {
			is = float64(whole[i])
		}
		if is != want {
			return fmt.Errorf("%s: sum %d, %d is %v, not %v", c, row, col, is, want)
		}
	}
	return nil
}
