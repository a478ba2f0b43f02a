// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package memmodel

import (
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
		return nil, fmt.Errorf("the initial values do not end")
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
			return fmt.Errorf("%q is not an initial value", item)
		}
		t.Init[strings.TrimSpace(name)] = number(strings.TrimSpace(value))
	}
	return nil
}

// instr parses an instruction. As in herd, the brackets around an address are optional.
func (t *Test) instr(text string) (*instr, error) {
	opcode, rest, _ := strings.Cut(text, " ")
	var args []string
	for a := range strings.SplitSeq(rest, ",") {
		if a = strings.Trim(strings.TrimSpace(a), "[]"); a != "" {
			args = append(args, a)
		}
	}
	words := strings.Split(opcode, ".")
	in := &instr{text: text, scope: Sys, size: 4}
	for _, w := range words[1:] {
		switch w {
		case "weak":
		case "relaxed":
			in.order = Relaxed
		case "acquire":
			in.order = Acquire
		case "release":
			in.order = Release
		case "acq_rel":
			in.order = AcqRel
		case "sc":
			in.order = SC
		case "volatile":
			in.order = Relaxed
		case "cta":
			in.scope = CTA
		case "cluster":
			in.scope = Cluster
		case "gpu":
			in.scope = GPU
		case "texture":
			in.proxy = Texture
		case "surface":
			in.proxy = Surface
		case "constant":
			in.proxy = Constant
		case "async":
			in.proxy = Async
		case "b8", "u8", "b16", "u16", "b32", "u32", "b64", "u64":
			in.size = number(w[1:]) / 8
		case "plus", "add":
			in.combine = "add"
		case "exch", "cas", "min", "max", "and", "or", "xor", "inc":
			in.combine = w
		case "arrive":
			in.only = true
		}
	}
	location := func(s string) error {
		m := placePattern.FindStringSubmatch(s)
		if m == nil {
			return fmt.Errorf("%q is not a location: %s", s, text)
		}
		in.at, in.offset = m[1], number(m[2])
		if !slices.Contains(t.locations, in.at) {
			t.locations = append(t.locations, in.at)
		}
		base := t.physical(in.at)
		t.widths[base] = max(t.widths[base], in.offset+in.size, 4)
		return nil
	}
	want := func(n int) error {
		if len(args) < n {
			return fmt.Errorf("too few operands: %s", text)
		}
		return nil
	}
	switch words[0] {
	case "ld", "tld", "suld", "ldc":
		in.op = "ld"
		in.proxy = max(in.proxy, map[string]Proxy{"tld": Texture, "suld": Surface, "ldc": Constant}[words[0]])
		if err := want(2); err != nil {
			return nil, err
		}
		in.to = args[0]
		return in, location(args[1])
	case "st", "sust":
		in.op = "st"
		in.proxy = max(in.proxy, map[string]Proxy{"sust": Surface}[words[0]])
		if err := want(2); err != nil {
			return nil, err
		}
		in.args = args[1:]
		return in, location(args[0])
	case "atom", "red":
		in.op = "atom"
		if in.order == Weak {
			in.order = Relaxed
		}
		if words[0] == "atom" {
			if err := want(3); err != nil {
				return nil, err
			}
			in.to, args = args[0], args[1:]
		}
		if err := want(2); err != nil {
			return nil, err
		}
		in.args = args[1:]
		return in, location(args[0])
	case "fence", "membar":
		in.op = "fence"
		switch {
		case slices.Contains(words, "alias"):
			in.op = "alias"
		case slices.Contains(words, "proxy"):
			in.op = "proxy"
		case in.order == Weak:
			in.order = SC
		}
		return in, nil
	case "bar", "barrier":
		in.op = "bar"
		if err := want(1); err != nil {
			return nil, err
		}
		in.number = number(args[0])
		return in, nil
	}
	return nil, fmt.Errorf("unknown instruction: %s", text)
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

// A condition is a node of a final condition.
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

// names returns the locations that a condition mentions.
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
