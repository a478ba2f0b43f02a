// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

import (
	"fmt"
	"strings"
)

// explainArgs reports why no form accepts the operands: their number is wrong, or it reports the
// first operand that does not fit the form with the most fitting operands.
func (m *Matcher) explainArgs(o *Opcode, op string, args []Arg) []Problem {
	low, high := 1<<30, 0
	var best, farthest *Candidate
	reach, far := -1, -1
	for i := range o.fits {
		c := &o.fits[i]
		least, most := operandCounts(c.Args)
		low, high = min(low, least), max(high, most)
		if n := c.countFitting(args); n > far {
			farthest, far = c, n
		}
		if len(args) < least || len(args) > most {
			continue
		}
		if n := c.countFitting(args); n > reach {
			best, reach = c, n
		}
	}
	if best != nil && reach < len(args) && far < len(args) &&
		best.accepts(m, withUnknown(args, reach)) {
		p := best.wrongArg(op, args, reach) // the other operands fit
		if spans := m.acceptedSpans(o, args, reach); p.Rule == "F304" && len(spans) > 0 {
			p.Message = fmt.Sprintf("operand %d of %s is %s, expected an integer constant%s",
				reach+1, op, args[reach].describe(), describeRange(spans))
		}
		return []Problem{p}
	}
	if best == nil || reach < len(args) {
		if p := m.singleChange(o, op, args); p != nil {
			return []Problem{*p}
		}
	}
	if best == nil {
		p := problem("F301", -1, "%s takes %s, found %d", op, operands(low, high), len(args))
		if list := farthest.list(); list != "" {
			p.Message += ": " + list
		}
		return []Problem{p}
	}
	if reach < len(args) {
		return []Problem{best.wrongArg(op, args, reach)}
	}
	if p := best.violatedRelation(m, op, args); p != nil {
		return []Problem{*p}
	}
	return []Problem{problem("F301", -1, "these operands of %s cannot be combined, expected the "+
		"form %s", op, best.Form.Template)}
}

// operandCounts returns the smallest and the largest number of operands that list accepts.
func operandCounts(list []Want) (least, most int) {
	for i := range list {
		switch list[i].Presence {
		case Always:
			least++
			most++
		case Never:
		default:
			most++
		}
	}
	return least, most
}

func operands(low, high int) string {
	switch {
	case low == high && low == 1:
		return "1 operand"
	case high == 0:
		return "no operands"
	case low == high:
		return fmt.Sprintf("%d operands", low)
	}
	return fmt.Sprintf("%d to %d operands", low, high)
}

// countFitting returns the number of operands that fit before the first operand that does not, for
// the best choice of optional operands.
func (c *Candidate) countFitting(args []Arg) int {
	best := 0
	var given tally
	var walk func(list []Want, at int)
	walk = func(list []Want, at int) {
		best = max(best, at)
		if len(list) == 0 || at == len(args) {
			return
		}
		w := &list[0]
		if w.Presence != Never && c.fitsOne(w, &args[at], &given) {
			walk(list[1:], at+1)
		}
		if w.Presence != Always {
			walk(list[1:], at)
		}
	}
	walk(c.Args, 0)
	return best
}

// violatedRelation reports the violated rule between operands and modifiers if each operand fits on
// its own, or nil if there is none.
func (c *Candidate) violatedRelation(m *Matcher, op string, args []Arg) *Problem {
	loose := Candidate{Form: c.Form, Slots: c.Slots, Args: c.Args}
	var t tally
	if !loose.fitsSequence(c.Args, args, &t, nil) {
		return nil
	}
	given := &t
	for _, r := range c.rules {
		if !r.Holds.holds(c.Slots, given) {
			why := r.Why
			if why == "" {
				why = "rule: " + r.Text
			}
			p := problem("F305", -1, "these operands of %s cannot be combined: %s", op, why)
			return &p
		}
	}
	for _, w := range c.when {
		if w.If.holds(c.Slots, given) && w.Gate.Open(m.version, m.target) == w.Gone {
			p := m.closedGate(op, "this operand list", w.Gate)
			return &p
		}
	}
	return nil
}

// wrongArg reports the kind of an operand, and the kind that is expected.
func (c *Candidate) wrongArg(op string, args []Arg, at int) Problem {
	w := c.wantAt(args, at)
	a := &args[at]
	p := problem("F302", -1, "operand %d of %s is %s", at+1, op, a.describe())
	p.Arg = at
	if w == nil {
		return p
	}
	if w.Inside != nil && a.Kind == ArgAddress {
		inner := Candidate{Form: c.Form, Slots: c.Slots, Args: w.Inside}
		n := inner.countFitting(a.Elems)
		if in := inner.wantAt(a.Elems, n); n > 0 && n < len(a.Elems) && in != nil {
			// The address itself is valid.
			p = problem("F307", -1, "operand %d of %s has %s after the address, expected %s", at+1,
				op, a.Elems[n].describe(), in.describe())
			p.Arg, p.Elem = at, n
			return p
		}
		if len(a.Elems) == 1 && len(w.Inside) > 1 && n == 1 {
			p.Message += " alone"
		}
	}
	p.Message += ", expected " + w.describe()
	p.Rule = w.ruleFor(a)
	return p
}

// wantAt returns the expected operand at index at, or nil.
func (c *Candidate) wantAt(args []Arg, at int) *Want {
	spare := len(args)
	for i := range c.Args {
		if c.Args[i].Presence == Always {
			spare--
		}
	}
	pos := 0
	for i := range c.Args {
		w := &c.Args[i]
		switch {
		case w.Presence == Never:
			continue
		case w.Presence != Always && spare <= 0:
			continue
		case w.Presence != Always:
			spare--
		}
		if pos == at {
			return w
		}
		pos++
	}
	return nil
}

// ruleFor returns the id of the rule that a mismatched operand violates.
func (w *Want) ruleFor(a *Arg) string {
	for i := range w.Kinds {
		k := &w.Kinds[i]
		switch {
		case a.Kind == ArgReg && (k.Word == KValue || k.Word == KReg) && k.Len < 0:
			return "F303"
		case a.Kind == ArgInt && len(k.Range) > 0:
			return "F304"
		case a.Kind == ArgVector && k.Len >= 0:
			return "F306"
		}
	}
	if a.Kind == ArgAddress && w.Inside != nil {
		return "F307"
	}
	if a.Kind == ArgSink {
		return "F308"
	}
	return "F302"
}

func (a *Arg) describe() string {
	switch a.Kind {
	case ArgReg:
		s := "a " + a.Type.String() + " register"
		if a.Count > 1 {
			s = fmt.Sprintf("a %s register of %d elements", a.Type, a.Count)
		}
		if a.Not {
			s += " negated with !"
		}
		return s
	case ArgInt:
		return fmt.Sprintf("the constant %d", a.Value)
	case ArgFloat:
		return "a floating-point constant"
	case ArgSym:
		return fmt.Sprintf("a variable in %s memory", strings.TrimPrefix(a.Space.String(), "."))
	case ArgSreg:
		return "a special register of type " + a.Type.String()
	case ArgLabel:
		return "a label"
	case ArgFunc:
		return "a function"
	case ArgProto:
		return "a call prototype"
	case ArgTargets:
		return "a target list"
	case ArgSink:
		return "the sink _"
	case ArgVector:
		if t, ok := vectorType(a.Elems); ok && t != 0 {
			return fmt.Sprintf("a %d-element vector of %s", len(a.Elems), t)
		}
		return fmt.Sprintf("a %d-element vector of mixed kinds", len(a.Elems))
	case ArgAddress:
		if len(a.Elems) > 0 {
			return "an address based on " + a.Elems[0].describe()
		}
		return "an empty address"
	case ArgPair:
		return "a pair with |"
	case ArgList:
		return "a list in parentheses"
	}
	return "unknown"
}

func (w *Want) describe() string {
	if w.Inside != nil {
		parts := make([]string, len(w.Inside))
		for i := range w.Inside {
			parts[i] = w.Inside[i].describe()
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	var out []string
	for i := range w.Kinds {
		out = append(out, w.Kinds[i].describe(w.Access))
	}
	s := strings.Join(out, " or ")
	if w.Pair != nil {
		s += ", with | and " + w.Pair.describe()
	}
	return s
}

func (k *WantKind) describe(access Access) string {
	s := k.describeOne(access)
	if k.Len >= 0 {
		return fmt.Sprintf("a %d-element vector, each element a %s", k.Len,
			strings.TrimPrefix(s, "a "))
	}
	return s
}

func (k *WantKind) describeOne(access Access) string {
	switch k.Word {
	case KValue, KReg:
		return k.describeValue(access)
	case KImm:
		if k.Settled.Class() == Float {
			return "a floating-point constant"
		}
		return "an integer constant" + describeRange(k.Range)
	case KMem:
		return "an address in " + strings.TrimSuffix(strings.TrimPrefix(k.In.String(), "."),
			" memory") + " memory"
	case KParts:
		parts := make([]string, len(k.Fields))
		for i := range k.Fields {
			parts[i] = k.Fields[i].describe()
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	if int(k.Word) < len(wordDescriptions) && wordDescriptions[k.Word] != "" {
		return wordDescriptions[k.Word]
	}
	return "anything"
}

// wordDescriptions describes the words that accept only one kind of operand.
var wordDescriptions = [...]string{
	KPred:    "a predicate register",
	KSreg:    "a special register",
	KSym:     "a variable",
	KLabel:   "a label",
	KFunc:    "a function",
	KTexref:  "a texture reference or a .b64 handle",
	KSampler: "a sampler reference or a .b64 handle",
	KSurfref: "a surface reference or a .b64 handle",
	KSink:    "the sink _",
	KRets:    "a list of results in parentheses",
	KArgs:    "a list of arguments in parentheses",
	KProto:   "a call prototype or target list",
	KTargets: "a branch target list",
}

// describeValue describes the accepted registers and constants.
func (k *WantKind) describeValue(access Access) string {
	s := k.describeRegister()
	if k.Minus {
		s += " with a minus sign"
	}
	if k.Part != WholeOnly {
		s += " or " + k.Part.String()
	}
	if access != Read || k.Word == KReg || k.Len >= 0 {
		return s
	}
	switch {
	case k.Settled.Whole():
		s += " or an integer" + describeRange(k.Range)
	case k.Settled.Class() == Float:
		s += " or a floating-point constant"
	}
	return s
}

// describeRegister describes a register of the type that the modifiers determine.
func (k *WantKind) describeRegister() string {
	t := k.Settled
	word := t.String()
	switch { // .i32 and .x32 are types of the tables, not of PTX
	case k.Relax:
		return fmt.Sprintf("a register of at least %d bits for %s", t.Bits(), t)
	case strings.HasPrefix(word, ".i"):
		return fmt.Sprintf("a %d-bit integer register", t.Bits())
	case strings.HasPrefix(word, ".x"):
		return fmt.Sprintf("a %d-bit register", t.Bits())
	case t != 0 && !t.Register():
		return fmt.Sprintf("a .b%d register for %s", max(8, t.Bits()), t)
	}
	return "a " + word + " register"
}

func describeRange(spans []Span) string {
	if len(spans) == 0 {
		return ""
	}
	var out []string
	for _, s := range spans {
		switch {
		case s.Low == s.High:
			out = append(out, fmt.Sprint(s.Low))
		case s.Step > 1 && s.High >= 1<<60:
			out = append(out, fmt.Sprintf("a multiple of %d", s.Step))
		case s.High >= 1<<60:
			out = append(out, fmt.Sprintf("%d or more", s.Low))
		case s.Step > 1:
			out = append(out, fmt.Sprintf("%d to %d in steps of %d", s.Low, s.High, s.Step))
		default:
			out = append(out, fmt.Sprintf("%d to %d", s.Low, s.High))
		}
	}
	return ": " + strings.Join(out, ", ")
}
