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

// A kind is the kind of declaration that a name has.
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

// A role distinguishes parameters and results of a function.
type role uint8

const (
	noRole role = iota
	input
	output
)

// A symbol is a declared name.
type symbol struct {
	kind           kind
	role           role
	entry          bool // whether it is a parameter of an .entry
	hasInitializer bool // whether the variable has an initial value
	hasFunctions   bool // whether the initial value contains names of functions
	hasResult      bool // whether the result of a call is stored in the .param variable
	linkage        string
	name           string
	at             ptx.Span
	shape          shape
	count          int64       // number of names that a range declares
	number         ptx.Operand // the operand with that number
	arg            isa.Arg     // the symbol as an operand for package isa
	fn             *function   // the function, or the signature of a prototype
	targets        []*function // the functions in a list of call targets
	broken         bool        // the declaration has a mistake, so the type is unknown
	rangeFix       *diag.Fix   // fix of the finding that a range is too small
	maxCount       int64       // number of names in that fix
}

// A scope holds the names that are declared in a block. A range such as name<n> is stored as one
// entry.
type scope struct {
	names  map[string]*symbol
	ranges map[string]*symbol
	stems  map[string]numberedName // names that end in a number; nil until a range needs them
	outer  map[string]int          // see checker.outerScope
}

// A numberedName is a declared name that ends in a number. Of several names with the same text
// before the number, it is the one with the smallest number.
type numberedName struct {
	number int64
	sym    *symbol
}

// put adds a name to the scope.
func (s *scope) put(name string, sym *symbol) {
	s.names[name] = sym
	if s.stems != nil {
		s.putStems(name, sym)
	}
}

// putStems adds a name under each text that can precede its number: x12 is number 12 of stem x,
// and number 2 of stem x1.
func (s *scope) putStems(name string, sym *symbol) {
	if sym.kind == label {
		return
	}
	number, ten := int64(0), int64(1)
	// longer numbers exceed every range
	for at := len(name) - 1; at > 0 && len(name)-at < 19; at-- {
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
			s.stems[name[:at]] = numberedName{number, sym}
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

// symbol returns a new symbol. Symbols are allocated in chunks, because a module has many.
func (c *checker) symbol() *symbol {
	if len(c.chunk) == 0 {
		c.chunk = make([]symbol, 64)
	}
	s := &c.chunk[0]
	c.chunk = c.chunk[1:]
	return s
}

// findHere returns the symbol with a name that is declared in s itself, possibly as a member of a
// range, or nil.
func (s *scope) findHere(name string) *symbol {
	named := s.names[name]
	if named != nil && named.kind != label || len(s.ranges) == 0 {
		return named
	}
	if ranged := s.findInRange(name); ranged != nil {
		return ranged // it was declared before a label of the same name
	}
	return named
}

// findInRange returns the range in s that declares a name, or nil.
func (s *scope) findInRange(name string) *symbol {
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

// find returns the symbol for a name that is visible at a position, or nil. It searches from the
// innermost scope outwards. A label that follows the position is only returned if the name has no
// other declaration.
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
			c.unknownCount++
		}
		return sym
	}
	return later
}

// linearScopes is the number of scopes that outerScope visits one by one.
const linearScopes = 16

// outerScope returns the index of the next scope to search for a name after scope i. That is the
// enclosing scope or, if there are many scopes, the next scope that contains the name. The scope
// of the module is always searched. The cached results stay valid, because declarations only
// change the innermost scope and that of the module.
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

// declare adds a symbol to the innermost scope. It returns false and reports the symbol if the
// name is already declared.
func (c *checker) declare(sym *symbol) bool {
	s := c.scope()
	if old := s.findHere(sym.name); old != nil {
		c.reportTwice(sym, sym.name, old)
		return false
	}
	s.put(sym.name, sym)
	return true
}

// declareRange adds a range name<count> to the innermost scope.
func (c *checker) declareRange(sym *symbol) bool {
	s := c.scope()
	if old := s.ranges[sym.name]; old != nil {
		f := c.fault(&ruleTwice, sym.at, "%s is declared twice in this scope", rangeName(sym)).
			withRelated(old.at, "the first declaration is here")
		if old.count < sym.count {
			f.d.Message = rangeName(sym) + " declares " + sym.name + "0 to " + sym.name +
				strconv.FormatInt(old.count-1, 10) + " twice in this scope"
		}
		return false
	}
	if old, name := s.firstRedeclared(sym); old != nil {
		c.reportTwice(sym, name, old)
		return false
	}
	s.ranges[sym.name] = sym
	return true
}

// firstRedeclared returns the symbol in s with the smallest number that a new range declares
// again, and its name.
func (s *scope) firstRedeclared(sym *symbol) (*symbol, string) {
	if s.stems == nil {
		s.stems = make(map[string]numberedName)
		for name, old := range s.names {
			s.putStems(name, old)
		}
	}
	if old, ok := s.stems[sym.name]; ok && old.number < sym.count {
		return old.sym, old.sym.name
	}
	return nil, ""
}

func (c *checker) reportTwice(sym *symbol, name string, old *symbol) {
	what := name
	if old.kind != sym.kind {
		what += ", " + kindWords[old.kind] + ","
	}
	first, second := old.at, sym.at
	if first.At > second.At { // labels are declared before the statements around them
		first, second = second, first
	}
	c.fault(&ruleTwice, second, "%s is declared twice in this scope", clip(what)).
		withRelated(first, "the first declaration is here")
}

func rangeName(sym *symbol) string {
	return sym.name + "<" + strconv.FormatInt(sym.count, 10) + ">"
}

// reportUnknown reports an undeclared name once per function. The message depends on the likely
// mistake: the name is just past the end of a range, is declared later, or is similar to another
// name. fits restricts the similar names.
func (c *checker) reportUnknown(at ptx.Node, name string, fits func(*symbol) bool) {
	c.unknownCount++
	if c.lostName(name) || !c.trying && c.body != nil && c.body.addMissing(name) {
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
		c.rememberRange(sym, n+1,
			c.fault(&ruleUndeclared, at, "%s is not declared: %s declares only %s",
				clip(name), rangeName(sym), last).
				withRelated(sym.at, "the declaration is here").
				withFix(sym.number, strconv.FormatInt(n+1, 10), "declare %s<%d>", sym.name, n+1))
		return
	}
	if !c.allowAdvice() {
		c.fault(&ruleUndeclared, at, "%s is not declared here", clip(name))
		return
	}
	if c.reportElsewhere(at, name) || c.reportSingleRegister(at, name, name[:digits]) {
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

// rememberRange records the finding that the range sym declares too few names. The fix of the
// finding declares count names.
func (c *checker) rememberRange(sym *symbol, count int64, f finding) {
	if !c.trying {
		sym.rangeFix, sym.maxCount = f.d.Fix, count
	}
}

// raiseWidened reports whether rememberRange was called for sym before. If so, it increases the
// number of names in the fix.
func (c *checker) raiseWidened(sym *symbol, count int64) bool {
	f := sym.rangeFix
	if f == nil || c.trying {
		return false
	}
	if count > sym.maxCount {
		before, after := strconv.FormatInt(sym.maxCount, 10), strconv.FormatInt(count, 10)
		f.Message = strings.TrimSuffix(f.Message, before+">") + after + ">"
		f.Edits[0].New = strings.Replace(f.Edits[0].New, before, after, 1)
		sym.maxCount = count
	}
	return true
}

// reportSingleRegister reports a name that would belong to a range if its prefix, which is a
// single register, were declared as a range. It returns false for other names.
func (c *checker) reportSingleRegister(at ptx.Node, name, begin string) bool {
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
			c.rememberRange(sym, n+1,
				c.fault(&ruleUndeclared, at, "%s is not declared: %s is a single "+
					"register", clip(name), clip(begin)).
					withRelated(sym.at, "the declaration is here").
					withFixAt(sym.at.To, sym.at.To, "<"+strconv.FormatInt(n+1, 10)+">",
						"declare %s<%d>",
						clip(begin), n+1).asGuess())
			return true
		}
	}
	return false
}

// visible returns the names that are visible at a position. Of a range it returns only the first
// few.
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
