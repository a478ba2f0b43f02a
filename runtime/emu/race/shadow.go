// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package race

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A stamp records one access to a byte.
type stamp struct {
	agent, epoch uint32
	thread       uint32 // thread that performed or issued it
	site         uint32 // index in shadow.sites
	serial       uint32 // number of the event
	value        uint32 // value of a store, if known
	at           uint64 // address of the first byte
}

// A cell holds the last accesses to four bytes, or to one byte if some access covered only a part
// of them.
type cell struct {
	writes, reads []stamp
	bytes         *[4]cell
}

// pageWords is the number of words in a page of shadow memory.
const pageWords = 1024

// A page is shadow memory for some words.
type page [pageWords]cell

// A shadow holds the last accesses to all memory.
type shadow struct {
	pages map[key]*page
	key   key // of page, which was used last
	page  *page
	sites []site
	index map[site]uint32 // by site without readOnly
	last  struct {
		instr *ir.Instr
		site  uint32
	}
}

// clear removes all recorded accesses. If keep is set, because the next launch may overlap this
// one, it keeps the accesses to global memory and assigns them to the agent of earlier launches.
func (s *shadow) clear(keep bool, was, earlier, epoch uint32) {
	s.page = nil
	if !keep || s.pages == nil {
		s.pages = make(map[key]*page)
		return
	}
	for k, p := range s.pages {
		if k.space != isa.Global {
			delete(s.pages, k)
			continue
		}
		for i := range p {
			p[i].assign(was, earlier, epoch)
		}
	}
}

// assign assigns all accesses in a cell to one agent and epoch. Accesses of agent was keep their
// epochs.
func (c *cell) assign(was, agent, epoch uint32) {
	for _, list := range [][]stamp{c.writes, c.reads} {
		for i := range list {
			if list[i].agent != was {
				list[i].epoch = epoch
			}
			list[i].agent, list[i].serial = agent, 0
		}
	}
	if c.bytes != nil {
		for i := range c.bytes {
			c.bytes[i].assign(was, agent, epoch)
		}
	}
}

// cell returns the record of the accesses to a word of memory, which it creates on first use.
func (s *shadow) cell(space isa.Space, block uint32, word uint64) *cell {
	k := key{space, block, word / pageWords}
	if s.page == nil || s.key != k {
		p := s.pages[k]
		if p == nil {
			p = new(page)
			s.pages[k] = p
		}
		s.page, s.key = p, k
	}
	return &s.page[word%pageWords]
}

// split splits a cell into cells of single bytes.
func (c *cell) split() {
	c.bytes = new([4]cell)
	for i := range c.bytes {
		c.bytes[i].writes = append([]stamp(nil), c.writes...)
		c.bytes[i].reads = append([]stamp(nil), c.reads...)
	}
	c.writes, c.reads = nil, nil
}

// each calls f for the cells of n bytes at an address.
func (s *shadow) each(space isa.Space, block uint32, at, n uint64, f func(c *cell, at uint64)) {
	for end := at + n; at < end; {
		c := s.cell(space, block, at/4)
		if at%4 == 0 && end-at >= 4 && c.bytes == nil {
			f(c, at)
			at += 4
			continue
		}
		if c.bytes == nil {
			c.split()
		}
		for limit := min(end, at/4*4+4); at < limit; at++ {
			f(&c.bytes[at%4], at)
		}
	}
}
