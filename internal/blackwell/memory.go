// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package blackwell

import "fmt"

// memory is global memory: pieces with room between them that nobody has.
type memory struct {
	pieces []piece
	next   uint64
}

type piece struct {
	at   uint64
	data []byte
}

// bottom is where global memory begins; addresses of shared memory and of parameters are below.
const bottom = 0x7f00_0000_0000

// take is a new piece, full of bytes that are no useful number.
func (m *memory) take(bytes int) uint64 {
	if m.next == 0 {
		m.next = bottom
	}
	p := piece{m.next, make([]byte, bytes)}
	for i := range p.data {
		p.data[i] = 0xff
	}
	m.pieces = append(m.pieces, p)
	m.next += uint64(bytes+2*4096) &^ 4095
	return p.at
}

func (m *memory) drop(at uint64) error {
	for i, p := range m.pieces {
		if p.at == at {
			m.pieces = append(m.pieces[:i], m.pieces[i+1:]...)
			return nil
		}
	}
	return fmt.Errorf("nothing was allocated at %#x", at)
}

// at is n bytes from an address on.
func (m *memory) at(at uint64, n int) ([]byte, error) {
	for _, p := range m.pieces {
		if at >= p.at && at+uint64(n) <= p.at+uint64(len(p.data)) {
			return p.data[at-p.at:][:n], nil
		}
	}
	return nil, fmt.Errorf("%d bytes at %#x of global memory are nobody's", n, at)
}

// Shared memory as addresses see it: the window of a block begins with what the system keeps, and the block's rank in its cluster stands
// in the bits from 24 on.
const (
	reserved  = 1024
	rankShift = 24
)

// shared is n bytes of the shared memory of a block of the cluster.
func (c *cluster) shared(at uint64, n int) ([]byte, *block, error) {
	rank, off := int(at>>rankShift), int(at&(1<<rankShift-1))
	if rank >= len(c.blocks) || off < reserved || off+n > reserved+len(c.blocks[rank].shared) {
		return nil, nil, fmt.Errorf("%d bytes at %#x of shared memory are nobody's", n, at)
	}
	return c.blocks[rank].shared[off-reserved:][:n], c.blocks[rank], nil
}

// word reads n bytes as a number.
func word(b []byte) (x uint64) {
	for i := len(b) - 1; i >= 0; i-- {
		x = x<<8 | uint64(b[i])
	}
	return x
}

// put writes a number.
func put(b []byte, x uint64) {
	for i := range b {
		b[i] = byte(x >> (8 * i))
	}
}
