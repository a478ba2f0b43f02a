// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

import (
	"strings"
	"sync/atomic"

	"github.com/ptxdsl/ptxdsl/internal/slab"
)

// A Matcher checks instructions for one PTX version and target. It caches opcodes and the
// operands that they accepted, so that checking whole files is fast. A Matcher must not be used
// concurrently.
type Matcher struct {
	set     *Set
	version Version
	target  Target
	known   *opcodeCache // cache that is shared with other matchers for the version and target
	memo    map[string]*Opcode
	recent  [256]named // recently used entries of memo, by a hash of the opcode

	shape []Word // shape of the current operands
	mods  []Mod  // modifiers of the current opcode

	// interpretations of the current opcode, if its modifiers are not a legal combination
	interpretations []interpretation
	formOnly        bool // search only for a form, without explanations
	searches        int  // number of searches for suggestions

	found slab.Of[Opcode]
	slots slab.Of[Mod]
	wants slab.Of[Want]
	kinds slab.Of[WantKind]
}

// NewMatcher returns a Matcher over the standard instruction set.
func NewMatcher(v Version, t Target) *Matcher { return Standard().Matcher(v, t) }

// Matcher returns a Matcher over s.
func (s *Set) Matcher(v Version, t Target) *Matcher {
	return &Matcher{set: s, version: v, target: t, known: s.cacheFor(v, t),
		memo: make(map[string]*Opcode)}
}

// An Opcode is the result of resolving an opcode for a version and target. Matchers share it. It
// is immutable, except that accepted operand shapes are added.
type Opcode struct {
	fits            []Candidate      // forms whose modifiers fit
	problems        []Problem        // why no form fits
	interpretations []interpretation // possible interpretations; the operands may decide
	valued          bool             // the values of constants may decide whether a form fits
	accepted        atomic.Pointer[[]acceptedShape]
}

type named struct {
	text string
	*Opcode
}

// A Candidate is a form whose slots are filled and whose operands are resolved.
type Candidate struct {
	Form   *Form
	Opcode string // opcode with modifiers in the order of the PTX manual, as Canonical returns it
	Slots  []Mod  // the value of each slot of the form
	Args   []Want
	target Target
	since  Version     // the first version in which the target allows the modifiers
	rules  []Rule      // rules about operands
	when   []Condition // conditions on operands
}

// A Want is an expected operand. The modifiers determine its types, its length and whether it is
// present.
type Want struct {
	*Operand
	Presence Presence // Never if the modifiers exclude the operand
	Kinds    []WantKind
	Inside   []Want
	Pair     *Want
}

// Never is the presence of an operand that the modifiers exclude.
const Never = PresentWhen + 1

// A WantKind is an OperandKind for which the modifiers have determined type, length and space.
type WantKind struct {
	*OperandKind
	Settled Type
	Len     int // length of a brace vector, or -1 for a single operand
	In      Space
	Fields  []Want
}

// Check checks one instruction: its opcode with all modifiers, and its operands. It returns nil
// if the instruction is legal.
func (m *Matcher) Check(op string, args []Arg) []Problem {
	_, problems := m.Match(op, args)
	return problems
}

// Match checks one instruction and returns its form, resolved for its modifiers, or nil if no
// form fits. All instructions with the same opcode share a Candidate, which must not be modified.
func (m *Matcher) Match(op string, args []Arg) (*Candidate, []Problem) {
	o := m.Opcode(op)
	if len(o.fits) == 0 {
		if r := m.interpret(o, args); r != nil {
			return nil, []Problem{r.Problem}
		}
		return nil, o.problems
	}
	m.shape = AppendShape(m.shape[:0], args, o.valued)
	if c := o.Took(m.shape); c != nil {
		return c, o.problems // contains at most warnings
	}
	for i := range o.fits {
		if c := &o.fits[i]; c.accepts(m, args) {
			o.addShape(m.shape, c)
			return c, o.problems
		}
	}
	return nil, m.explainArgs(o, op, args)
}

// Candidates returns the forms that fit the modifiers of op, or the problems if no form fits.
func (m *Matcher) Candidates(op string) ([]Candidate, []Problem) {
	o := m.Opcode(op)
	return o.fits, o.problems
}

// Opcode resolves the opcode op. The result is cached.
func (m *Matcher) Opcode(op string) *Opcode {
	if op == "" {
		return m.resolve(op)
	}
	n := uint(len(op))
	h := n + uint(op[0])<<1 + uint(op[n/4])*7 + uint(op[n/2])*31 + uint(op[n-1])*127
	r := &m.recent[h%uint(len(m.recent))]
	if r.text == op {
		return r.Opcode
	}
	o := m.memo[op]
	if o == nil {
		op, o = m.lookUp(op)
		m.memo[op] = o
	}
	*r = named{op, o}
	return o
}

// lookUp returns the shared result for op, and a copy of op that does not keep the source text in
// memory.
func (m *Matcher) lookUp(op string) (string, *Opcode) {
	if kept, known := m.known.find(op); known != nil {
		return kept, known
	}
	op = strings.Clone(op)
	found := m.resolve(op)
	if len(found.fits) > 0 {
		m.known.put(op, found)
	}
	return op, found
}
