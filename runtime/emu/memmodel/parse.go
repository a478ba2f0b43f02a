// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package memmodel

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A Test is a litmus test.
type Test struct {
	Name       string
	Threads    []Thread
	Init       map[string]int    // initial values that are not zero
	Alias      map[string]string // locations that alias another one
	Quantifier string            // exists, ~exists or forall
	condition  *condition
	locations  []string
	widths     map[string]int // size of each location in bytes
}

// A Thread holds the instructions and the location of a thread.
type Thread struct {
	Name  string
	Place Place
	code  []*instr
}

// An instr is an instruction of a litmus test.
type instr struct {
	text    string
	op      string // ld, st, atom, red, fence, bar, proxy, alias
	order   Order
	scope   Scope
	proxy   Proxy
	combine string // operation of an atomic instruction
	to      string // destination register
	at      string // location
	offset  int
	size    int
	args    []string // value operands: constants or registers
	number  int      // number of the barrier
	only    bool     // whether it is bar.arrive
}

var (
	threadPattern = regexp.MustCompile(`^(P\d+)@cta (\d+)(?:, *cluster (\d+))?, *gpu (\d+)$`)
	placePattern  = regexp.MustCompile(`^([A-Za-z_]\w*)(?:\+(\d+))?$`)
)

// Parse parses a litmus test in the PTX format of herd: a line "PTX name", initial values in
// braces, a column per thread with its CTA and GPU, and a condition.
func Parse(text string) (*Test, error) {
	t := &Test{Init: map[string]int{}, Alias: map[string]string{}, widths: map[string]int{}}
	head, rest, ok := strings.Cut(text, "{")
	if !ok {
		return nil, fmt.Errorf("there is no block of initial values")
	}
	words := strings.Fields(head)
	if len(words) < 2 || words[0] != "PTX" {
		return nil, fmt.Errorf("the test does not begin with PTX and a name")
	}
	t.Name = words[1]
	initial, rest, ok := strings.Cut(rest, "}")
	if !ok {
		return nil, fmt.Errorf("the initial values have no closing brace")
	}
	if err := t.initial(initial); err != nil {
		return nil, err
	}
	at := -1
	for _, q := range []string{"~exists", "exists", "forall"} {
		if i := strings.LastIndex(rest, q); i >= 0 && (at < 0 || q != "exists") {
			at, t.Quantifier = i, q
			if q == "~exists" {
				break
			}
		}
	}
	if at < 0 {
		return nil, fmt.Errorf("%s has no condition", t.Name)
	}
	rows := strings.Split(rest[:at], ";")
	for i, row := range rows {
		if strings.TrimSpace(row) == "" {
			continue
		}
		for j, cell := range strings.Split(row, "|") {
			cell = strings.TrimSpace(cell)
			if i == 0 {
				m := threadPattern.FindStringSubmatch(cell)
				if m == nil {
					return nil, fmt.Errorf("%s: %q is not a thread", t.Name, cell)
				}
				p := Place{CTA: number(m[2]), Cluster: number(m[2]), GPU: number(m[4])}
				if m[3] != "" {
					p.Cluster = number(m[3])
				}
				t.Threads = append(t.Threads, Thread{Name: m[1], Place: p})
				continue
			}
			if cell == "" {
				continue
			}
			if j >= len(t.Threads) {
				return nil, fmt.Errorf("%s: an instruction without a thread: %q", t.Name, cell)
			}
			in, err := t.instr(cell)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", t.Name, err)
			}
			t.Threads[j].code = append(t.Threads[j].code, in)
		}
	}
	var err error
	t.condition, err = parseCondition(strings.TrimPrefix(rest[at:], t.Quantifier))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name, err)
	}
	return t, nil
}

func number(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// initial parses initial values such as x=1; P0:r0=0; y aliases x; t @ texture aliases x.
func (t *Test) initial(text string) error {
	for item := range strings.SplitSeq(text, ";") {
		item = strings.TrimSpace(item)
		if item == "" || strings.HasPrefix(item, "P") && strings.Contains(item, ":") {
			continue
		}
		if name, of, ok := strings.Cut(item, "aliases"); ok {
			name, _, _ = strings.Cut(strings.TrimSpace(name), " ")
			t.Alias[name] = strings.TrimSpace(of)
			continue
		}
		name, value, ok := strings.Cut(item, "=")
		if !ok {
			return fmt.Errorf("%q is not an initial value, expected name=value", item)
		}
		t.Init[strings.TrimSpace(name)] = number(strings.TrimSpace(value))
	}
	return nil
}

// instrWords maps modifiers, except types and operations, to functions that record them in an
// instruction.
var instrWords = map[string]func(in *instr){
	"relaxed":  func(in *instr) { in.order = Relaxed },
	"volatile": func(in *instr) { in.order = Relaxed },
	"acquire":  func(in *instr) { in.order = Acquire },
	"release":  func(in *instr) { in.order = Release },
	"acq_rel":  func(in *instr) { in.order = AcqRel },
	"sc":       func(in *instr) { in.order = SC },
	"cta":      func(in *instr) { in.scope = CTA },
	"cluster":  func(in *instr) { in.scope = Cluster },
	"gpu":      func(in *instr) { in.scope = GPU },
	"texture":  func(in *instr) { in.proxy = Texture },
	"surface":  func(in *instr) { in.proxy = Surface },
	"constant": func(in *instr) { in.proxy = Constant },
	"async":    func(in *instr) { in.proxy = Async },

	"tensormap":          func(in *instr) { in.proxy = TensorMap },
	"tensormap::generic": func(in *instr) { in.proxy = TensorMap },

	"arrive": func(in *instr) { in.only = true },
}

// widths holds the sizes of types in bytes.
var widths = map[string]int{"b8": 1, "u8": 1, "b16": 2, "u16": 2, "b32": 4, "u32": 4, "b64": 8,
	"u64": 8}

// combinations maps the operations of atomic instructions to the names that combine evaluates.
var combinations = map[string]string{
	"plus": "add", "add": "add", "exch": "exch", "cas": "cas", "min": "min", "max": "max",
	"and": "and", "or": "or",
	"xor": "xor", "inc": "inc",
}

// An operation is a parser for the operands of an instruction, with the proxy through which the
// instruction accesses memory.
type operation struct {
	proxy Proxy
	parse func(t *Test, in *instr, words, args []string) error
}

// operations maps the first word of an opcode to the parser of its operands.
var operations = map[string]operation{
	"ld": {parse: (*Test).load}, "tld": {Texture, (*Test).load}, "suld": {Surface, (*Test).load},
	"ldc": {Constant, (*Test).load},
	"st":  {parse: (*Test).store}, "sust": {Surface, (*Test).store},
	"atom": {parse: (*Test).atomic}, "red": {parse: (*Test).atomic},
	"fence": {parse: (*Test).fence}, "membar": {parse: (*Test).fence},
	"bar": {parse: (*Test).barrier}, "barrier": {parse: (*Test).barrier},
}

// instr parses one instruction. As in herd, the brackets around an address are optional.
func (t *Test) instr(text string) (*instr, error) {
	opcode, rest, _ := strings.Cut(text, " ")
	var args []string
	for a := range strings.SplitSeq(rest, ",") {
		if a = strings.Trim(strings.TrimSpace(a), "[]"); a != "" {
			args = append(args, a)
		}
	}
	words := strings.Split(opcode, ".")
	op, ok := operations[words[0]]
	if !ok {
		return nil, fmt.Errorf("unknown instruction: %s", text)
	}
	in := &instr{text: text, scope: Sys, size: 4}
	for _, w := range words[1:] {
		if set := instrWords[w]; set != nil {
			set(in)
		}
		in.size = cmp.Or(widths[w], in.size)
		in.combine = cmp.Or(combinations[w], in.combine)
	}
	in.proxy = max(in.proxy, op.proxy)
	return in, op.parse(t, in, words, args)
}

// locate sets the location of an instruction.
func (t *Test) locate(in *instr, s string) error {
	m := placePattern.FindStringSubmatch(s)
	if m == nil {
		return fmt.Errorf("%q is not a location: %s", s, in.text)
	}
	in.at, in.offset = m[1], number(m[2])
	if !slices.Contains(t.locations, in.at) {
		t.locations = append(t.locations, in.at)
	}
	base := t.physical(in.at)
	t.widths[base] = max(t.widths[base], in.offset+in.size, 4)
	return nil
}

// want returns an error if args has fewer than n operands.
func (in *instr) want(args []string, n int) error {
	if len(args) < n {
		return fmt.Errorf("too few operands: %s", in.text)
	}
	return nil
}

func (t *Test) load(in *instr, _, args []string) error {
	in.op = "ld"
	if err := in.want(args, 2); err != nil {
		return err
	}
	in.to = args[0]
	return t.locate(in, args[1])
}

func (t *Test) store(in *instr, _, args []string) error {
	in.op = "st"
	if err := in.want(args, 2); err != nil {
		return err
	}
	in.args = args[1:]
	return t.locate(in, args[0])
}

func (t *Test) atomic(in *instr, words, args []string) error {
	in.op = "atom"
	if in.order == Weak {
		in.order = Relaxed
	}
	if words[0] == "atom" {
		if err := in.want(args, 3); err != nil {
			return err
		}
		in.to, args = args[0], args[1:]
	}
	if err := in.want(args, 2); err != nil {
		return err
	}
	in.args = args[1:]
	return t.locate(in, args[0])
}

func (t *Test) fence(in *instr, words, _ []string) error {
	in.op = "fence"
	switch {
	case slices.Contains(words, "alias"):
		in.op = "alias"
	case slices.Contains(words, "proxy"):
		in.op = "proxy"
	case in.order == Weak:
		in.order = SC
	}
	return nil
}

func (t *Test) barrier(in *instr, _, args []string) error {
	in.op = "bar"
	if err := in.want(args, 1); err != nil {
		return err
	}
	in.number = number(args[0])
	return nil
}

// physical returns the location that a name refers to, after resolving aliases.
func (t *Test) physical(name string) string {
	for range 8 {
		of, ok := t.Alias[name]
		if !ok {
			break
		}
		name = of
	}
	return name
}

// A condition is a node of the expression that a test decides.
type condition struct {
	op          string // and, or, not, eq, ne
	left, right *condition
	name        string // P0:r0 or x
	value       int
}

// parseCondition parses a condition: comparisons combined with /\, \/, ~ and parentheses.
func parseCondition(text string) (*condition, error) {
	p := &conditionParser{text: strings.TrimSpace(text)}
	c, err := p.or()
	if err == nil && strings.TrimSpace(p.text) != "" {
		err = fmt.Errorf("the condition ends before %q", p.text)
	}
	return c, err
}

type conditionParser struct{ text string }

func (p *conditionParser) take(words ...string) bool {
	p.text = strings.TrimSpace(p.text)
	for _, w := range words {
		if rest, ok := strings.CutPrefix(p.text, w); ok {
			p.text = rest
			return true
		}
	}
	return false
}

func (p *conditionParser) or() (*condition, error) {
	c, err := p.and()
	for err == nil && p.take(`\/`, "||") {
		var d *condition
		d, err = p.and()
		c = &condition{op: "or", left: c, right: d}
	}
	return c, err
}

func (p *conditionParser) and() (*condition, error) {
	c, err := p.one()
	for err == nil && p.take(`/\`, "&&") {
		var d *condition
		d, err = p.one()
		c = &condition{op: "and", left: c, right: d}
	}
	return c, err
}

var comparison = regexp.MustCompile(`^([\w:]+(?:\+\d+)?)\s*(==|!=|=)\s*(-?\d+)`)

func (p *conditionParser) one() (*condition, error) {
	if p.take("~", "not ") {
		c, err := p.one()
		return &condition{op: "not", left: c}, err
	}
	if p.take("(") {
		c, err := p.or()
		if err == nil && !p.take(")") {
			err = fmt.Errorf("missing parenthesis before %q", p.text)
		}
		return c, err
	}
	m := comparison.FindStringSubmatch(p.text)
	if m == nil {
		return nil, fmt.Errorf("%q is not a comparison", p.text)
	}
	p.text = p.text[len(m[0]):]
	op := "eq"
	if m[2] == "!=" {
		op = "ne"
	}
	return &condition{op: op, name: m[1], value: number(m[3])}, nil
}

// holds evaluates a condition.
func (c *condition) holds(value func(name string) int) bool {
	switch c.op {
	case "and":
		return c.left.holds(value) && c.right.holds(value)
	case "or":
		return c.left.holds(value) || c.right.holds(value)
	case "not":
		return !c.left.holds(value)
	case "ne":
		return value(c.name) != c.value
	}
	return value(c.name) == c.value
}

// names returns the locations and registers that a condition mentions.
func (c *condition) names() (list []string) {
	if c.left != nil {
		list = append(list, c.left.names()...)
	}
	if c.right != nil {
		list = append(list, c.right.names()...)
	}
	if c.name != "" && !strings.Contains(c.name, ":") {
		list = append(list, c.name)
	}
	return list
}
