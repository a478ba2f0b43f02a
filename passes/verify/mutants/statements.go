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
	barrier   bool   // threads synchronize or wait there
	// A wait that is repeated: the statement is the try, its branch, and the label before them.
	wait         bool
	plain        bool // it only uses registers
	reads, wrote []string
}

var (
	labelled = regexp.MustCompile(`^([\w$]+):\s*(.*)$`)
	guarded  = regexp.MustCompile(`^@!?%\w+\s+`)
	word     = regexp.MustCompile(`%[\w$]+`)
)

// statements splits the bodies of kernels. Unknown statements, such as inner blocks and
// declarations, have no opcode.
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
			open.settle()
			list, open = append(list, open), nil
		}
	}
	return list
}

// settle classifies the statement.
func (s *statement) settle() {
	if !strings.HasSuffix(s.op, ";") || strings.HasPrefix(s.op, ".") ||
		strings.Count(s.op, ";") > 1 {
		return
	}
	s.guard = guarded.FindString(s.op)
	rest := s.op[len(s.guard):]
	s.head, _, _ = strings.Cut(strings.TrimSuffix(rest, ";"), " ")
	s.barrier = meets.MatchString(s.head)
	s.plain = !memory.MatchString(rest) && !strings.HasPrefix(s.head, "bra") && s.head != "ret" &&
		s.head != "exit"
	operands := strings.TrimSpace(strings.TrimPrefix(rest, s.head))
	if n := written(s.head, operands); n > 0 {
		s.wrote = word.FindAllString(operands[:n], -1)
	}
	s.reads = word.FindAllString(s.guard+operands[written(s.head, operands):], -1)
}

var meets = regexp.MustCompile(
	`^(bar\.(sync|warp)|barrier\.(cta\.)?sync|barrier\.cluster\.wait|(cp\.async|wgmma)\.wait|cp\.async\.bulk\.wait|tcgen05\.wait|mbarrier\.(try|test)_wait)`)

// written returns the length of the operands that an instruction writes: the first, if it is a
// register or a vector.
func written(head, operands string) int {
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

// joined joins each try of a wait with the branch that repeats it.
func joined(list []*statement) []*statement {
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

// passes reports whether a statement may be exchanged with another as far as registers are
// concerned.
func (s *statement) passes(o *statement) bool {
	return !slices.ContainsFunc(o.wrote,
		func(r string) bool {
			return slices.Contains(s.reads, r) || slices.Contains(s.wrote, r)
		}) &&
		!slices.ContainsFunc(o.reads, func(r string) bool { return slices.Contains(s.wrote, r) })
}

// straight reports whether control enters a statement from the previous one and leaves it to the
// next.
func (s *statement) straight() bool {
	return s.label == "" && s.head != "" && !strings.HasPrefix(s.head, "bra") && s.head != "ret" &&
		s.head != "exit"
}
