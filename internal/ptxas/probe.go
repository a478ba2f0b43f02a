// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptxas

import (
	"slices"
	"sort"
	"strconv"
	"strings"
)

// A Probe is a piece of PTX to be checked by ptxas. It is placed in a kernel of a module with
// many other probes:
//
//	Module                      once for all probes with the same line
//	.entry name (Params) {
//	    Decls                   once for neighbors with equal Params and Decls
//	    { Body }
//	}
//
// Registers that many probes share should be in Decls, because ptxas needs more time to declare
// them than to read an instruction. Names that only one probe uses, labels included, should be in
// its Body. Names at module scope must be unique. To check the structure of a module (directives,
// function headers, broken declarations), use JudgeModules.
//
// A body must not affect the text after it: bodies with unbalanced braces, block comments or line
// markers are detected and checked in a module of their own.
type Probe struct {
	Module []string // module-scope declarations, one per element
	Params []string // kernel parameters, without the commas between them
	Decls  []string // declarations at the head of the kernel
	Body   []string // lines to check
}

// A Status is the outcome of checking a probe.
type Status uint8

// The outcomes of checking a probe.
const (
	// Accepted means that a module with the probe had no errors at all.
	Accepted Status = iota
	// Rejected means that the probe caused at least one error.
	Rejected
	// Malformed means that the probe has a syntax error, at which ptxas stopped reading.
	Malformed
	// Crashed means that ptxas crashed or timed out.
	Crashed
)

// String returns the name of the status in lower case.
func (s Status) String() string {
	switch s {
	case Accepted:
		return "accepted"
	case Rejected:
		return "rejected"
	case Malformed:
		return "malformed"
	}
	return "crashed"
}

// A Verdict is the result of ptxas for one probe. The line of a message is the index of a line of
// Body, starting at 1, or 0 if the message refers to a declaration or to no line.
type Verdict struct {
	Status   Status
	Messages []Message
}

// OK reports whether the probe was accepted.
func (v Verdict) OK() bool { return v.Status == Accepted }

// String returns the status and the messages, in one line.
func (v Verdict) String() string {
	words := make([]string, len(v.Messages))
	for i, m := range v.Messages {
		words[i] = m.String()
	}
	if len(words) == 0 {
		return v.Status.String()
	}
	return v.Status.String() + ": " + strings.Join(words, "; ")
}

// maxProbesPerKernel is the maximum number of probes per kernel. More probes share the cost of
// the declarations, but symbol lookup in ptxas becomes slower.
const maxProbesPerKernel = 64

// A span is a sequence of lines of a sheet that belong to the same probes. It ends where the next
// span begins.
type span struct {
	line        int
	first, last int // indices in sheet.probes of the probes to which the lines belong
	body        int // index of the line of Body, from 1; 0 for other lines; or absorber
}

// absorber marks the lines at the top of a sheet, whose errors belong to no probe. If a syntax
// error ended the previous file of the same process, ptxas still has the last modifiers that it
// read, and reports them at the first instruction of the next file.
const absorber = -1

// A sheet is a module that contains several probes.
type sheet struct {
	probes []int // indices of the caller's probes
	text   []byte
	spans  []span
}

// compose returns a module that contains the probes with the given indices.
func compose(version, target string, all []Probe, numbers []int) *sheet {
	s := &sheet{probes: numbers}
	b := make([]byte, 0, 128*len(numbers)+256)
	line := 1
	put := func(text string) {
		b = append(b, text...)
		b = append(b, '\n')
		line += 1 + strings.Count(text, "\n")
	}
	own := func(first, last, body int) {
		s.spans = append(s.spans, span{line, first, last, body})
	}
	own(0, len(numbers)-1, 0)
	put(".version " + version)
	put(".target " + target)
	if versionOrder(version) >= versionOrder("2.3") {
		put(".address_size 64") // the directive exists since PTX 2.3
	}
	own(0, len(numbers)-1, absorber)
	put(".entry absorber { ret; }")
	own(0, len(numbers)-1, 0)
	seen := make(map[string]bool)
	for _, n := range numbers {
		for _, text := range all[n].Module {
			if !seen[text] {
				seen[text] = true
				put(text)
			}
		}
	}
	for i := 0; i < len(numbers); {
		head := &all[numbers[i]]
		j := i + 1
		for j < len(numbers) && j-i < maxProbesPerKernel && sameKernel(head, &all[numbers[j]]) {
			j++
		}
		own(i, j-1, 0)
		put(".entry p" + strconv.Itoa(i) + " (" + strings.Join(head.Params, ",\n") + ")\n{")
		for _, text := range head.Decls {
			put(text)
		}
		for k := i; k < j; k++ {
			own(k, k, 0)
			put("{")
			for n, text := range all[numbers[k]].Body {
				own(k, k, n+1)
				put(text)
			}
			// ptxas reports an incomplete statement at the end of a body at this brace
			own(k, k, 0)
			put("}")
		}
		own(i, j-1, 0)
		put("}")
		i = j
	}
	s.text = b
	return s
}

// owner returns the span that contains a line.
func (s *sheet) owner(line int) span {
	i := sort.Search(len(s.spans), func(i int) bool { return s.spans[i].line > line })
	return s.spans[max(i, 1)-1]
}

func sameKernel(a, b *Probe) bool {
	return slices.Equal(a.Params, b.Params) && slices.Equal(a.Decls, b.Decls)
}

// isContained reports whether the text of the probe cannot affect the text after it, as an
// unclosed comment or string, an unbalanced brace or a line marker could.
func isContained(p *Probe) bool {
	for _, part := range [...][]string{p.Module, p.Params, p.Decls, p.Body} {
		depth := 0
		inside := "" // end marker of the current comment, or ""
		for _, text := range part {
			for len(text) > 0 {
				if inside != "" {
					_, after, found := strings.Cut(text, inside)
					if !found {
						break
					}
					text, inside = after, ""
					continue
				}
				switch c := text[0]; {
				case c == '{':
					depth++
				case c == '}':
					if depth--; depth < 0 {
						return false
					}
				case c == '"':
					closing := strings.IndexAny(text[1:], "\"\\\n")
					if closing < 0 || text[1+closing] != '"' {
						return false
					}
					text = text[1+closing:]
				case c == '#':
					return false
				case strings.HasPrefix(text, "/*"):
					inside = "*/"
					text = text[1:]
				case strings.HasPrefix(text, "//"):
					_, text, _ = strings.Cut(text, "\n")
					continue
				}
				text = text[1:]
			}
		}
		if depth != 0 || inside != "" {
			return false
		}
	}
	return true
}
