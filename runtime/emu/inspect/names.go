// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"fmt"
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// names holds the names that package dsl writes to comments of a kernel: the roles of warps and the
// parts of dynamic shared memory.
type names struct {
	launch *emu.Launching
	roles  []role
	parts  []emu.Symbol // parts of dynamic shared memory, from its beginning
}

// A role names the work of some warps of each block.
type role struct {
	name        string
	first, last uint32
}

// namesOf parses the comments of the launched kernel.
func namesOf(l *emu.Launching) *names {
	n := &names{launch: l}
	for _, d := range l.Module.Decls {
		switch d := d.(type) {
		case *ir.Var:
			for _, line := range d.Doc {
				var p emu.Symbol
				if _, err := fmt.Sscanf(plain(line), "%d: %s %d bytes", &p.At, &p.Name,
					&p.Size); err == nil {
					p.Name = strings.TrimSuffix(p.Name, ",")
					n.parts = append(n.parts, p)
				}
			}
		case *ir.Func:
			if d.Name != l.Kernel {
				continue
			}
			for _, b := range d.Blocks {
				for _, x := range b.Labels {
					n.rolesIn(x.Doc)
				}
				for _, in := range b.Instrs {
					n.rolesIn(in.Doc())
				}
			}
		}
	}
	return n
}

// plain returns the text of a comment without the slashes and surrounding spaces.
func plain(comment string) string { return strings.TrimSpace(strings.TrimPrefix(comment, "//")) }

// rolesIn adds the roles that comments name.
func (n *names) rolesIn(doc []string) {
	for _, line := range doc {
		rest, ok := strings.CutPrefix(plain(line), "role ")
		name, warps, found := strings.Cut(rest, ": warp")
		if !ok || !found {
			continue
		}
		r := role{name: name}
		warps = strings.TrimPrefix(warps, "s")
		if k, _ := fmt.Sscanf(warps, " %d to %d", &r.first, &r.last); k == 1 {
			r.last = r.first
		}
		n.roles = append(n.roles, r)
	}
}

// role returns the role of a warp, or "" if the warp has no known role.
func (n *names) role(warp uint32) string {
	for _, r := range n.roles {
		if warp >= r.first && warp <= r.last {
			return r.name
		}
	}
	return ""
}

// address describes an address by the variable or part that contains it. Elements of 8 bytes get an
// index: barriers[2].
func (n *names) address(a emu.Address, size uint64) string {
	text := n.launch.Symbol(a)
	name, rest, ok := strings.Cut(text, "+")
	var at uint64
	if _, err := fmt.Sscan(rest, &at); !ok || err != nil || a.Space != isa.Shared {
		return text
	}
	if strings.HasPrefix(name, "dynamic") {
		for _, p := range n.parts {
			if at >= p.At && at < p.At+p.Size {
				name, at = p.Name, at-p.At
				break
			}
		}
	}
	if size == 8 && at%8 == 0 {
		return fmt.Sprintf("%s[%d]", name, at/8)
	}
	return fmt.Sprintf("%s+%d", name, at)
}

// stage returns the pipeline stage of a lane for display, from registers whose names end in _stage;
// "" if there are none.
func stage(s *emu.State, lane int) string {
	var words []string
	for _, r := range s.Function().Regs {
		if !strings.HasSuffix(r.Name, "_stage") {
			continue
		}
		if bits, _, ok := s.Register(r.Name, lane); ok {
			words = append(words, fmt.Sprintf("%s %d", strings.TrimPrefix(r.Name, "%"), bits))
		}
	}
	return strings.Join(words, ", ")
}

// line returns the position of an instruction: the PTX line, and the Go line if it is known.
func (n *names) line(e *emu.Event) string {
	at := n.launch.Place(e.Instr)
	text := fmt.Sprintf("%s:%d", at.File, at.Line)
	if e.Source != "" {
		text += " (" + e.Source + ")"
	}
	return text
}
