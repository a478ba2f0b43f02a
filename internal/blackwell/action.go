// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package blackwell

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/ptxdsl/ptxdsl/ir"
)

// action finds what an instruction does.
func (k *kernel) action(s *step) error {
	for _, w := range s.op {
		s.collective = s.collective || w == "aligned" || w == "sync" && s.op[0] != "barrier"
	}
	switch s.op[0] {
	case "prefetch", "fence", "membar", "griddepcontrol", "setmaxnreg":
		s.run = func(*warp, uint32) (effect, error) { return goOn, nil }
		return nil
	case "ret", "exit":
		s.run = func(*warp, uint32) (effect, error) { return leave, nil }
		return nil
	case "bar", "barrier", "elect", "shfl", "mbarrier", "mapa", "clusterlaunchcontrol":
		return k.together(s)
	case "cp", "ld", "st", "ldmatrix":
		return k.moves(s)
	case "tcgen05":
		return k.tensors(s)
	case "mma":
		return k.fragments(s)
	}
	return k.arithmetic(s)
}

// vector is the elements of an operand, or itself.
func vector(o *ir.Operand) []ir.Operand {
	if o.Kind == ir.Vector {
		return o.Args()
	}
	return []ir.Operand{*o}
}

// together is what lanes, warps and blocks do with one another.
func (k *kernel) together(s *step) error {
	args := s.in.Args
	switch head := s.op[0] + "." + s.op[1]; head {
	case "bar.warp":
		s.run = func(*warp, uint32) (effect, error) { return goOn, nil }
		return nil
	case "bar.sync", "barrier.sync":
		return k.gates(s)
	case "barrier.cluster":
		return k.clusterBarrier(s)
	case "elect.sync":
		to := targets(&args[0].Args()[1])[0]
		s.run = func(w *warp, lanes uint32) (effect, error) {
			for l := range each(lanes) {
				w.regs[to][l] = 0
			}
			w.regs[to][bits.TrailingZeros32(lanes)] = 1
			return goOn, nil
		}
		return nil
	case "shfl.sync":
		return k.shuffle(s)
	case "mapa.shared::cluster":
		src, err := k.sources(args[1:])
		to := targets(&args[0])[0]
		s.run = lanewise(to, func(w *warp, l int) uint64 { return src[0](w, l)&(1<<rankShift-1) | src[1](w, l)<<rankShift })
		return err
	}
	if s.op[0] == "mbarrier" {
		return k.mbarrier(s)
	}
	return k.launchControl(s)
}

// lanewise gives a register what f says of each lane.
func lanewise(to int, f func(w *warp, lane int) uint64) func(*warp, uint32) (effect, error) {
	return func(w *warp, lanes uint32) (effect, error) {
		for l := range each(lanes) {
			w.regs[to][l] = f(w, l)
		}
		return goOn, nil
	}
}

func (k *kernel) gates(s *step) error {
	src, err := k.sources(s.in.Args)
	if err != nil {
		return err
	}
	s.run = func(w *warp, lanes uint32) (effect, error) {
		if lanes != w.alive {
			return goOn, fmt.Errorf("a barrier for lanes %#x of %#x", lanes, w.alive)
		}
		b := w.b
		need := len(b.warps)
		if len(src) > 1 {
			need = int(src[1](w, 0)) / 32
		}
		g := &b.named[src[0](w, bits.TrailingZeros32(lanes))&15]
		turn := g.turn
		if g.arrived++; g.arrived == need {
			g.arrived = 0
			g.turn++
			b.c.events++
		}
		w.waiting = func() bool { return g.turn != turn }
		return goOn, nil
	}
	return nil
}

func (k *kernel) clusterBarrier(s *step) error {
	waits := s.op[2] == "wait"
	s.run = func(w *warp, lanes uint32) (effect, error) {
		c := w.b.c
		if waits {
			at := w.at
			w.waiting = func() bool { return c.turn != at }
			return goOn, nil
		}
		w.at = c.turn
		if c.joined += bits.OnesCount32(lanes); c.joined == len(c.blocks)*len(w.b.warps)*32 {
			c.joined = 0
			c.turn++
			c.events++
		}
		return goOn, nil
	}
	return nil
}

// shuffle knows shfl.sync without a predicate, of whole warps.
func (k *kernel) shuffle(s *step) error {
	src, err := k.sources(s.in.Args[1:])
	if err != nil {
		return err
	}
	if s.in.Args[0].Kind == ir.Pair {
		return errModel
	}
	to, how := targets(&s.in.Args[0])[0], s.op[2]
	s.run = func(w *warp, lanes uint32) (effect, error) {
		var got [32]uint64
		for l := range each(lanes) {
			from := l
			switch n := int(src[1](w, l)); how {
			case "idx":
				from = n & 31
			case "bfly":
				from = l ^ n&31
			case "down":
				from = min(l+n, 31)
			case "up":
				from = max(l-n, 0)
			}
			got[l] = src[0](w, from)
		}
		for l := range each(lanes) {
			w.regs[to][l] = got[l]
		}
		return goOn, nil
	}
	return nil
}

func (k *kernel) mbarrier(s *step) error {
	args := s.in.Args
	switch s.op[1] {
	case "init":
		src, err := k.sources(args)
		s.run = func(w *warp, lanes uint32) (effect, error) {
			l := bits.TrailingZeros32(lanes)
			return goOn, w.b.c.init(src[0](w, l), int(src[1](w, l)))
		}
		return err
	case "arrive":
		if args[0].Kind != ir.Address {
			args = args[1:] // the state, which nobody asks for
		}
		src, err := k.sources(args)
		expects := s.has("expect_tx")
		s.run = func(w *warp, lanes uint32) (effect, error) {
			for l := range each(lanes) {
				arrivals, bytes := 1, 0
				switch {
				case expects:
					bytes = int(uint32(src[1](w, l)))
				case len(src) > 1:
					arrivals = int(src[1](w, l))
				}
				if err := w.b.c.arrive(src[0](w, l), arrivals, bytes, 0); err != nil {
					return goOn, err
				}
			}
			return goOn, nil
		}
		return err
	case "try_wait", "test_wait":
		if !s.has("parity") {
			return errModel
		}
		src, err := k.sources(args[1:])
		to := targets(&args[0])[0]
		s.run = func(w *warp, lanes uint32) (effect, error) {
			then := goOn
			for l := range each(lanes) {
				ok, err := w.b.c.passed(src[0](w, l), src[1](w, l))
				if err != nil {
					return goOn, err
				}
				w.regs[to][l] = 1
				if !ok {
					w.regs[to][l] = 0
					then = pause
				}
			}
			return then, nil
		}
		return err
	}
	return errModel
}

// launchControl gives a block that asks for it the work of one that has not begun. Answers are the model's own: whether there is one, and which.
func (k *kernel) launchControl(s *step) error {
	args := s.in.Args
	if s.op[1] == "try_cancel" {
		src, err := k.sources(args)
		s.run = func(w *warp, lanes uint32) (effect, error) {
			c, l := w.b.c, bits.TrailingZeros32(lanes)
			if len(c.blocks) != 1 {
				return goOn, errors.New("launch control of clusters")
			}
			to, _, err := c.shared(src[0](w, l), 16)
			if err != nil {
				return goOn, err
			}
			clear(to)
			if len(c.others) > 0 {
				to[0] = 1
				for i, x := range c.others[0] {
					put(to[4+4*i:][:4], uint64(x))
				}
				c.others = c.others[1:]
			}
			return goOn, c.arrive(src[1](w, l), 0, 0, 16)
		}
		return err
	}
	to, from := targets(&args[0]), targets(&args[1])[0]
	field, n := 0, 1
	if axis := s.starting(":x"); axis == "" && s.has("get_first_ctaid::x") {
		field, n = 4, 4
	} else if !s.has("is_canceled") {
		return errModel
	}
	s.run = lanewise(to[0], func(w *warp, _ int) uint64 {
		answer := w.wide[from]
		return word(answer[field:][:n])
	})
	return nil
}
