// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package blackwell

import "fmt"

// A barrier is an mbarrier: arrivals and bytes that the phase still waits for.
type barrier struct {
	count, pending int
	bytes          int
	phase          int
}

// barrierAt is the barrier at an address of shared memory.
func (c *cluster) barrierAt(at uint64) (*barrier, error) {
	if _, _, err := c.shared(at, 8); err != nil {
		return nil, err
	}
	x := c.blocks[at>>rankShift].barriers[at&(1<<rankShift-1)]
	if x == nil {
		return nil, fmt.Errorf("there is no barrier at %#x", at)
	}
	return x, nil
}

func (c *cluster) init(at uint64, count int) error {
	b, owner, err := c.shared(at, 8)
	if err != nil {
		return err
	}
	clear(b)
	owner.barriers[at&(1<<rankShift-1)] = &barrier{count: count, pending: count}
	c.events++
	return nil
}

// arrive counts arrivals, and bytes that are expected or have come.
func (c *cluster) arrive(at uint64, arrivals, expect, came int) error {
	x, err := c.barrierAt(at)
	if err != nil {
		return err
	}
	x.bytes += expect - came
	x.pending -= arrivals
	if x.pending < 0 {
		return fmt.Errorf("the barrier at %#x has more arrivals than the %d that it waits for", at, x.count)
	}
	if x.pending == 0 && x.bytes == 0 {
		x.phase++
		x.pending = x.count
	}
	c.events++
	return nil
}

// passed reports whether the phase of a parity is over.
func (c *cluster) passed(at, parity uint64) (bool, error) {
	x, err := c.barrierAt(at)
	return err == nil && uint64(x.phase&1) != parity&1, err
}
