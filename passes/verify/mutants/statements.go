// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package mutants

import (
	"regexp"
	"slices"
	"strings"
)

// A statement is an instruction with its guard, and the range of its lines.
type statement struct {
	from, to  int
	label     string // on the same line
	guard, op string // op has no surrounding space, and ends with a semicolon
	head      string // the opcode
	barrier   bool   // threads synchronize or wait at the statement
	// wait is set for a repeated wait: the statement spans the try, its branch, and the label
	// before them.
	wait          bool
	registersOnly bool // the instruction only uses registers
	reads, wrote  []string
}

var (
	labelled = regexp.MustCompile(`^([\w$]+):\s*(.*)$`)
	guarded  = regexp.MustCompile(`^@!?%\w+\s+`)
	word     = regexp.MustCompile(`%[\w$]+`)
)

// statements splits the bodies of kernels into statements. Unknown statements, such as inner
// blocks and declarations, have no opcode.
func statements(lines []string) []*statement {
	var list []*statement
	var open *statement
	for i, text := range lines {
		if at := strings.Index(text, "//"); at >= 0 {
			text = text[:at]
		}
		text = strings.TrimSpace(text)
		if text == "" {
			continue
		}
		if open != nil {
			open.op += " " + text
			open.to = i + 1
		} else {
			open = &statement{from: i, to: i + 1}
			if m := labelled.FindStringSubmatch(text); m != nil {
				open.label, text = m[1], strings.TrimSpace(m[2])
			}
			if open.op = text; text == "" || text == "{" || text == "}" ||
				strings.HasPrefix(text, ".") && !strings.HasSuffix(text, ",") {
				list, open = append(list, open), nil
				continue
			}
		}
		if strings.HasSuffix(text, ";") || text == ")" || text == "{" {
			open.classify()
			list, open = append(list, open), nil
		}
	}
	return list
}

// classify sets the fields that depend on the statement's opcode and operands.
func (s *statement) classify() {
	if !strings.HasSuffix(s.op, ";") || strings.HasPrefix(s.op, ".") ||
		strings.Count(s.op, ";") > 1 {
		return
	}
	s.guard = guarded.FindString(s.op)
	rest := s.op[len(s.guard):]
	s.head, _, _ = strings.Cut(strings.TrimSuffix(rest, ";"), " ")
	s.barrier = synchronizing.MatchString(s.head)
	s.registersOnly = !syncOrMemory.MatchString(rest) && !strings.HasPrefix(s.head, "bra") &&
		s.head != "ret" &&
		s.head != "exit"
	operands := strings.TrimSpace(strings.TrimPrefix(rest, s.head))
	if n := writtenLength(s.head, operands); n > 0 {
		s.wrote = word.FindAllString(operands[:n], -1)
	}
	s.reads = word.FindAllString(s.guard+operands[writtenLength(s.head, operands):], -1)
}

var synchronizing = regexp.MustCompile(
	`^(bar\.(sync|warp)|barrier\.(cta\.)?sync|barrier\.cluster\.wait|(cp\.async|wgmma)\.wait|cp\.async\.bulk\.wait|tcgen05\.wait|mbarrier\.(try|test)_wait)`)

// writtenLength returns the length of the operands that an instruction writes: the first operand,
// if it is a register or a vector.
func writtenLength(head, operands string) int {
	switch {
	case strings.HasPrefix(head, "st."), strings.HasPrefix(head, "red."),
		strings.HasPrefix(head, "bra"), operands == "":
		return 0
	case strings.HasPrefix(operands, "{"):
		return strings.Index(operands, "}") + 1
	case strings.HasPrefix(operands, "%"), strings.HasPrefix(operands, "_"):
		if n := strings.IndexAny(operands, ",;"); n >= 0 {
			return n
		}
	}
	return 0
}

// joinTries joins each try of a wait with the branch that repeats it.
func joinTries(list []*statement) []*statement {
	var out []*statement
	for i := 0; i < len(list); i++ {
		s := list[i]
		if i+1 < len(list) && strings.Contains(s.op, "_wait") &&
			strings.HasPrefix(s.head, "mbarrier.") {
			label := s.label
			own := label == "" && len(out) > 0 && out[len(out)-1].op == ""
			if own {
				label = out[len(out)-1].label
			}
			if b := list[i+1]; b.head == "bra" && label != "" &&
				strings.HasSuffix(b.op, " "+label+";") {
				s.wait, s.to = true, b.to
				if own {
					s.from = out[len(out)-1].from
					out = out[:len(out)-1]
				}
				s.label = ""
				i++
			}
		}
		out = append(out, s)
	}
	return out
}

// canSwap reports whether the registers of two statements allow to swap them.
func (s *statement) canSwap(o *statement) bool {
	return !slices.ContainsFunc(o.wrote,
		func(r string) bool {
			return slices.Contains(s.reads, r) || slices.Contains(s.wrote, r)
		}) &&
		!slices.ContainsFunc(o.reads, func(r string) bool { return slices.Contains(s.wrote, r) })
}

// isStraight reports whether a statement is entered only from the preceding statement and
// continues only to the next.
func (s *statement) isStraight() bool {
	return s.label == "" && s.head != "" && !strings.HasPrefix(s.head, "bra") && s.head != "ret" &&
		s.head != "exit"
}
