// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package blackwell

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"

	"github.com/ptxdsl/ptxdsl/runtime/device"
)

// parameters is where the parameters of a kernel lie.
const parameters = 1 << 40

// A cluster is blocks that run together.
type cluster struct {
	d      *Device
	k      *kernel
	launch *device.Launch
	values []byte
	blocks []*block
	others [][3]uint32 // blocks that have not begun, for those that ask for more work
	events int         // what a waiting warp may wait for has happened so often
	joined int         // threads that have arrived at the barrier of the cluster
	turn   int         // of that barrier
}

// A block is a CTA with its shared and tensor memory.
type block struct {
	c        *cluster
	rank     int
	id       [3]uint32
	shared   []byte
	barriers map[uint64]*barrier
	named    [16]gate
	tensor   tensor
	warps    []*warp
}

// A gate is a named barrier of a block.
type gate struct{ arrived, turn int }

// A warp is 32 threads.
type warp struct {
	b       *block
	index   int
	regs    [][32]uint64
	wide    map[int][16]byte // registers of 128 bits, which all lanes have alike
	pc      [32]int
	alive   uint32
	waiting func() bool // whether what it waits for has happened
	at      int         // the cluster's barrier that it arrived at
}

// most is how many instructions a warp executes at most, so that a mistake ends.
const most = 20_000_000

// run runs all blocks of a launch, cluster by cluster.
func (d *Device) run(k *kernel, x *device.Launch) error {
	shape := [3]uint32{max(1, x.Cluster[0]), max(1, x.Cluster[1]), max(1, x.Cluster[2])}
	if a := k.f.Attr(".reqnctapercluster"); a != nil && shape == [3]uint32{1, 1, 1} {
		for i, n := range strings.Split(a.Text, ",") {
			if _, err := fmt.Sscanf(strings.TrimSpace(n), "%d", &shape[i]); err != nil {
				return err
			}
		}
	}
	for i, n := range shape {
		if x.Grid[i]%n != 0 {
			return fmt.Errorf("a grid of %v blocks in clusters of %v", x.Grid, shape)
		}
	}
	size := int(shape[0] * shape[1] * shape[2])
	var ids [][3]uint32 // cluster by cluster, in each along x first
	steps(shape, x.Grid, func(first [3]uint32) {
		steps([3]uint32{1, 1, 1}, shape, func(in [3]uint32) {
			ids = append(ids, [3]uint32{first[0] + in[0], first[1] + in[1], first[2] + in[2]})
		})
	})
	for len(ids) > 0 {
		c := &cluster{d: d, k: k, launch: x, values: x.Values, others: ids[size:]}
		for rank, id := range ids[:size] {
			c.blocks = append(c.blocks, c.block(rank, id))
		}
		if err := c.run(); err != nil {
			return err
		}
		ids = c.others
	}
	return nil
}

// steps visits every step-th point of a box, along x first.
func steps(step, size [3]uint32, visit func([3]uint32)) {
	for z := uint32(0); z < size[2]; z += step[2] {
		for y := uint32(0); y < size[1]; y += step[1] {
			for x := uint32(0); x < size[0]; x += step[0] {
				visit([3]uint32{x, y, z})
			}
		}
	}
}

func (c *cluster) block(rank int, id [3]uint32) *block {
	b := &block{c: c, rank: rank, id: id, barriers: make(map[uint64]*barrier)}
	b.shared = make([]byte, c.k.fixed+int(c.launch.Shared))
	for i := range b.shared {
		b.shared[i] = 0xff
	}
	b.tensor.clear()
	for i := range int(c.launch.Block[0]) / 32 {
		w := &warp{b: b, index: i, regs: make([][32]uint64, len(c.k.f.Regs)), wide: make(map[int][16]byte), alive: 1<<32 - 1}
		b.warps = append(b.warps, w)
	}
	return b
}

func (c *cluster) run() error {
	for idle := 0; ; {
		before, alive := c.events, 0
		for _, b := range c.blocks {
			for _, w := range b.warps {
				if err := w.run(); err != nil {
					return err
				}
				if w.alive != 0 {
					alive++
				}
			}
		}
		if alive == 0 {
			break
		}
		if c.events != before {
			idle = 0
		} else if idle++; idle > 3 {
			return c.stuck()
		}
	}
	for _, b := range c.blocks {
		if b.tensor.columns != 0 {
			return errors.New("tensor memory was not given back")
		}
	}
	return nil
}

// stuck tells where warps wait.
func (c *cluster) stuck() error {
	err := errors.New("nothing goes on")
	for _, b := range c.blocks {
		for _, w := range b.warps {
			if w.alive != 0 {
				pc := w.pc[bits.TrailingZeros32(w.alive)]
				err = fmt.Errorf("%w; warp %d of block %d is at %d, %s", err, w.index, b.rank, pc, c.k.steps[min(pc, len(c.k.steps)-1)].in.Op)
			}
		}
	}
	return err
}

// run executes instructions until the warp waits or ends: of the lanes those that are furthest behind, so that they meet again.
func (w *warp) run() error {
	k := w.b.c.k
	for range most {
		if w.waiting != nil {
			if !w.waiting() {
				return nil
			}
			w.waiting = nil
		}
		if w.alive == 0 {
			return nil
		}
		pc, lanes := w.behind()
		if pc >= len(k.steps) {
			return fmt.Errorf("warp %d runs off the end", w.index)
		}
		s := &k.steps[pc]
		active := lanes
		if g := s.in.Guard; g.Reg != nil {
			for l := range each(lanes) {
				if (w.regs[g.Reg.Number][l]&1 == 1) == g.Not {
					active &^= 1 << l
				}
			}
		}
		for l := range each(lanes) {
			w.pc[l] = pc + 1
			if s.jump >= 0 && active>>l&1 == 1 {
				w.pc[l] = s.jump
			}
		}
		if active == 0 {
			continue
		}
		if s.collective && active != w.alive {
			return fmt.Errorf("%s: %s of lanes %#x, while %#x are there", k.f.Name, s.in.Op, active, w.alive)
		}
		w.b.c.d.Ran[s.in.Op]++
		then, err := s.run(w, active)
		if err != nil {
			return fmt.Errorf("%s: instruction %d: %s: %w", k.f.Name, pc, s.in.Op, err)
		}
		switch then {
		case leave:
			w.alive &^= active
			w.b.c.events++
		case pause:
			return nil
		}
	}
	return fmt.Errorf("warp %d does not come to an end", w.index)
}

// behind is the least place of a lane, and the lanes that are there.
func (w *warp) behind() (pc int, lanes uint32) {
	pc = 1 << 30
	for l := range each(w.alive) {
		switch at := w.pc[l]; {
		case at < pc:
			pc, lanes = at, 1<<l
		case at == pc:
			lanes |= 1 << l
		}
	}
	return pc, lanes
}

// each visits the lanes of a mask.
func each(mask uint32) func(func(int) bool) {
	return func(yield func(int) bool) {
		for ; mask != 0; mask &= mask - 1 {
			if !yield(bits.TrailingZeros32(mask)) {
				return
			}
		}
	}
}

// one is the value of an operand that all lanes must agree on.
func (w *warp) one(lanes uint32, s source) (uint64, error) {
	first := s(w, bits.TrailingZeros32(lanes))
	for l := range each(lanes) {
		if s(w, l) != first {
			return 0, fmt.Errorf("lanes give %#x and %#x", first, s(w, l))
		}
	}
	return first, nil
}
