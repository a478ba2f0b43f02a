// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// A kind is the kind of a declared name.
type kind uint8

const (
	variable kind = iota
	label
	routine       // a .func or .entry
	prototype     // a label of .callprototype
	callTargets   // a label of .calltargets
	branchTargets // a label of .branchtargets
)

var kindWords = [...]string{
	variable: "a variable", label: "a label", routine: "a function", prototype: "a call prototype",
	callTargets: "a list of call targets", branchTargets: "a list of branch targets",
}

// A role specifies which side of a function a parameter is on.
type role uint8

const (
	noRole role = iota
	input
	output
)

// A symbol is a declared name.
type symbol struct {
	kind    kind
	role    role
	entry   bool // a parameter of an .entry
	set     bool // an initialiser is present
	holds   bool // the initialiser contains function names
	called  bool // a .param that receives a call's result
	linkage string
	name    string
	at      ptx.Span
	shape   shape
	count   int64       // names that a range declares
	number  ptx.Operand // the number in the range
	arg     isa.Arg     // the symbol as an operand
	fn      *function   // the function, for a function or a prototype
	targets []*function // the functions of a list of call targets
	broken  bool        // its declaration has a mistake, so its type is unknown
	more    *diag.Fix   // the fix of a finding that a range is too small
	most    int64       // the largest count in that fix
}

// A scope holds the names of a block. Names of ranges name<n> are stored once per range.
type scope struct {
	names  map[string]*symbol
	ranges map[string]*symbol
	stems  map[string]numbered // names that end in a number; nil until a range needs them
	outer  map[string]int      // see checker.outside
}

// A numbered is a declared name that ends in a number: the one with the smallest number of its
// stem.
type numbered struct {
	number int64
	sym    *symbol
}

// put enters a name.
func (s *scope) put(name string, sym *symbol) {
	s.names[name] = sym
	if s.stems != nil {
		s.putStems(name, sym)
	}
}

// putStems enters a name under all of its stems: x12 has stem x with number 12, and stem x1 with 2.
func (s *scope) putStems(name string, sym *symbol) {
	if sym.kind == label {
		return
	}
	number, ten := int64(0), int64(1)
	for at := len(name) - 1; at > 0 && len(name)-at < 19; at-- { // no range counts further
		c := name[at]
		if c < '0' || c > '9' {
			return
		}
		number += int64(c-'0') * ten
		ten *= 10
		if c == '0' && at < len(name)-1 {
			continue // 05 is not a number in a range
		}
		if old, ok := s.stems[name[:at]]; !ok || number < old.number {
			s.stems[name[:at]] = numbered{number, sym}
		}
	}
}

func (c *checker) push() *scope {
	var s *scope
	if n := len(c.spare); n > 0 {
		s, c.spare = c.spare[n-1], c.spare[:n-1]
	} else {
		s = &scope{names: make(map[string]*symbol), ranges: make(map[string]*symbol)}
	}
	c.scopes = append(c.scopes, s)
	return s
}

func (c *checker) pop() {
	n := len(c.scopes) - 1
	s := c.scopes[n]
	c.scopes = c.scopes[:n]
	clear(s.names)
	clear(s.ranges)
	clear(s.outer)
	s.stems = nil
	c.spare = append(c.spare, s)
}

func (c *checker) scope() *scope { return c.scopes[len(c.scopes)-1] }

// symbol returns a new symbol; they are made in chunks, because a module has many.
func (c *checker) symbol() *symbol {
	if len(c.chunk) == 0 {
		c.chunk = make([]symbol, 64)
	}
	s := &c.chunk[0]
	c.chunk = c.chunk[1:]
	return s
}

// findHere finds a name that is declared in s itself, possibly as a member of a range.
func (s *scope) findHere(name string) *symbol {
	named := s.names[name]
	if named != nil && named.kind != label || len(s.ranges) == 0 {
		return named
	}
	if ranged := s.ranged(name); ranged != nil {
		return ranged // declared before a label of the same name
	}
	return named
}

// ranged finds the range of s that declares a name.
func (s *scope) ranged(name string) *symbol {
	digits := len(name)
	for digits > 0 && name[digits-1] >= '0' && name[digits-1] <= '9' {
		digits--
	}
	if digits == len(name) {
		return nil
	}
	sym := s.ranges[name[:digits]]
	if sym == nil {
		return nil
	}
	n := int64(0)
	for i := digits; i < len(name); i++ {
		n = n*10 + int64(name[i]-'0')
		if n >= sym.count {
			return nil
		}
	}
	return sym
}

// find looks a name up from the innermost scope outwards, as visible at a position: a later label
// only counts if nothing else has the name.
func (c *checker) find(name string, at ptx.Pos) *symbol {
	var later *symbol
	for i := len(c.scopes) - 1; i >= 0; i = c.outerScope(i, name) {
		sym := c.scopes[i].findHere(name)
		if sym == nil {
			continue
		}
		if sym.kind == label && sym.at.At > at {
			if later == nil {
				later = sym
			}
			continue
		}
		if sym.broken {
			c.doubts++
		}
		return sym
	}
	return later
}

// linearScopes is the number of scopes that outside searches one by one.
const linearScopes = 16

// outerScope returns the next scope to search for a name after scope i. This is the enclosing scope
// or, if there are many scopes, the next one that contains the name. The module's scope is always
// searched. While a scope is open, declarations only go to it and to the module's scope.
func (c *checker) outerScope(i int, name string) int {
	if i <= linearScopes {
		return i - 1
	}
	s := c.scopes[i]
	if next, ok := s.outer[name]; ok {
		return next
	}
	next := i - 1
	for next > linearScopes && c.scopes[next].findHere(name) == nil {
		if further, ok := c.scopes[next].outer[name]; ok {
			next = further
		} else {
			next--
		}
	}
	if s.outer == nil {
		s.outer = make(map[string]int)
	}
	s.outer[name] = next
	return next
}

// declare enters a name into the innermost scope. It returns false if the name is taken.
func (c *checker) declare(sym *symbol) bool {
	s := c.scope()
	if old := s.findHere(sym.name); old != nil {
		c.twice(sym, sym.name, old)
		return false
	}
	s.put(sym.name, sym)
	return true
}

// declareRange enters name<count>.
func (c *checker) declareRange(sym *symbol) bool {
	s := c.scope()
	if old := s.ranges[sym.name]; old != nil {
		f := c.fault(&ruleTwice, sym.at, "%s is declared twice in this scope", rangeName(sym)).
			related(old.at, "the first declaration is here")
		if old.count < sym.count {
			f.d.Message = rangeName(sym) + " declares " + sym.name + "0 to " + sym.name +
				strconv.FormatInt(old.count-1, 10) + " twice in this scope"
		}
		return false
	}
	if old, name := s.firstRedeclared(sym); old != nil {
		c.twice(sym, name, old)
		return false
	}
	s.ranges[sym.name] = sym
	return true
}

// firstRedeclared finds the name with the smallest number in s that a new range would declare
// again.
func (s *scope) firstRedeclared(sym *symbol) (*symbol, string) {
	if s.stems == nil {
		s.stems = make(map[string]numbered)
		for name, old := range s.names {
			s.putStems(name, old)
		}
	}
	if old, ok := s.stems[sym.name]; ok && old.number < sym.count {
		return old.sym, old.sym.name
	}
	return nil, ""
}

func (c *checker) twice(sym *symbol, name string, old *symbol) {
	what := name
	if old.kind != sym.kind {
		what += ", " + kindWords[old.kind] + ","
	}
	first, second := old.at, sym.at
	if first.At > second.At { // labels are entered before the statements around them
		first, second = second, first
	}
	c.fault(&ruleTwice, second, "%s is declared twice in this scope", clip(what)).
		related(first, "the first declaration is here")
}

func rangeName(sym *symbol) string {
	return sym.name + "<" + strconv.FormatInt(sym.count, 10) + ">"
}

// unknown reports an undeclared name: one just past the end of a range, one that is declared later,
// or one similar to another. Each is reported once per function.
func (c *checker) unknown(at ptx.Node, name string, fits func(*symbol) bool) {
	c.doubts++
	if c.lostName(name) || !c.trying && c.body != nil && c.body.missed(name) {
		return
	}
	digits := len(name)
	for digits > 0 && name[digits-1] >= '0' && name[digits-1] <= '9' {
		digits--
	}
	for i := len(c.scopes) - 1; i >= 0 && digits < len(name); i-- {
		sym := c.scopes[i].ranges[name[:digits]]
		n, err := strconv.ParseInt(name[digits:], 10, 32)
		if sym == nil || err != nil || fits != nil && !fits(sym) {
			continue
		}
		if c.raiseWidened(sym, n+1) {
			return
		}
		last := "nothing"
		if sym.count > 0 {
			last = sym.name + "0 to " + sym.name + strconv.FormatInt(sym.count-1, 10)
		}
		c.widen(sym, n+1, c.fault(&ruleUndeclared, at, "%s is not declared: %s declares only %s",
			clip(name), rangeName(sym), last).
			related(sym.at, "the declaration is here").
			fix(sym.number, strconv.FormatInt(n+1, 10), "declare %s<%d>", sym.name, n+1))
		return
	}
	if !c.advise() {
		c.fault(&ruleUndeclared, at, "%s is not declared here", clip(name))
		return
	}
	if c.elsewhere(at, name) || c.oneOnly(at, name, name[:digits]) {
		return
	}
	if special := specialNamed(name); special != "" && fits == nil {
		c.fault(&ruleUndeclared, at, "%s is not declared here", clip(name)).suggestName(at, special)
		return
	}
	if lower := strings.ToLower(name); lower != name && c.find(lower, at.Pos()) != nil {
		c.fault(&ruleUndeclared, at, "%s is not declared here", clip(name)).suggestName(at, lower)
		return
	}
	c.fault(&ruleUndeclared, at, "%s is not declared here", clip(name)).
		suggestName(at, diag.Nearest(name, c.visible(at.Pos(), fits)))
}

// widen remembers a finding that the range sym declares too few names. The fix of the finding
// declares count names.
func (c *checker) widen(sym *symbol, count int64, f finding) {
	if !c.trying {
		sym.more, sym.most = f.d.Fix, count
	}
}

// raiseWidened reports whether widen was called for sym before. If so, it raises the count in that
// fix.
func (c *checker) raiseWidened(sym *symbol, count int64) bool {
	f := sym.more
	if f == nil || c.trying {
		return false
	}
	if count > sym.most {
		before, after := strconv.FormatInt(sym.most, 10), strconv.FormatInt(count, 10)
		f.Message = strings.TrimSuffix(f.Message, before+">") + after + ">"
		f.Edits[0].New = strings.Replace(f.Edits[0].New, before, after, 1)
		sym.most = count
	}
	return true
}

// oneOnly reports a name that would belong to a range if its prefix, which is a single register,
// were declared as a range.
func (c *checker) oneOnly(at ptx.Node, name, begin string) bool {
	n, err := strconv.ParseInt(name[len(begin):], 10, 32)
	if err != nil || n > 1<<16 {
		return false
	}
	for i := len(c.scopes) - 1; i >= 0; i-- {
		if sym := c.scopes[i].names[begin]; sym != nil && sym.kind == variable &&
			sym.shape.space == isa.Reg && sym.role == noRole {
			if c.raiseWidened(sym, n+1) {
				return true
			}
			c.widen(sym, n+1, c.fault(&ruleUndeclared, at, "%s is not declared: %s is a single "+
				"register", clip(name), clip(begin)).
				related(sym.at, "the declaration is here").
				fixAt(sym.at.To, sym.at.To, "<"+strconv.FormatInt(n+1, 10)+">", "declare %s<%d>",
					clip(begin), n+1).guess())
			return true
		}
	}
	return false
}

// visible lists the names that are visible at a position; the first few of a range stand for all.
func (c *checker) visible(at ptx.Pos, fits func(*symbol) bool) []string {
	var names []string
	for i := len(c.scopes) - 1; i >= 0; i-- {
		s := c.scopes[i]
		for _, name := range slices.Sorted(maps.Keys(s.names)) {
			if sym := s.names[name]; fits == nil || fits(sym) {
				names = append(names, name)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(s.ranges)) {
			if sym := s.ranges[name]; fits == nil || fits(sym) {
				for n := range min(sym.count, 100) {
					names = append(names, name+strconv.FormatInt(n, 10))
				}
			}
		}
		if len(names) > 4000 {
			break
		}
	}
	return names
}
