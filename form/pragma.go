// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// pragma checks the strings of a .pragma directive. ptxas ignores unknown strings, so they only
// cause a warning. inside is set in the body of a function.
func (c *checker) pragma(d *ptx.Directive, inside bool) {
	c.need(d.Name, ".pragma", 2, 0, 0)
	for i := range d.Args {
		a := &d.Args[i]
		if a.Kind != ptx.String {
			c.fault(&rulePragma, a, "%s is not a quoted string", clip(c.text(a)))
			continue
		}
		text := strings.Trim(a.Text, `"`)
		if c.body == nil && !inside && c.heading == nil && text != "nounroll" {
			c.modulePragma(a, strings.TrimSpace(text))
			continue
		}
		c.pragmaText(a, text, inside)
	}
}

func (c *checker) pragmaText(a *ptx.Operand, text string, inside bool) {
	text = strings.TrimRight(text, " \t")
	word := text
	if i := strings.IndexAny(text, " \t="); i >= 0 {
		word = text[:i]
	}
	for _, long := range []string{"frequency", "used_bytes_mask"} {
		if strings.HasPrefix(word, long) {
			word = long // ptxas only compares the prefix
		}
	}
	rest := strings.Trim(strings.TrimPrefix(text, word), " \t=")
	switch word {
	case "nounroll", "":
		return
	case "used_bytes_mask":
		c.need(a, word, 8, 3, 50)
		if _, err := strconv.ParseInt(rest, 0, 64); err != nil {
			c.fault(&rulePragma, a, "used_bytes_mask takes one number, but %s has none",
				clip(a.Text))
			return
		}
	case "frequency":
		c.frequency(a, rest)
	case "enable_smem_spilling":
		c.need(a, word, 8, 7, 75)
		if inside && !c.body.fn.entry {
			c.fault(&rulePragmaPlace, a,
				"enable_smem_spilling is allowed only in an .entry, but %s is a .func",
				clip(c.body.fn.name))
			return
		}
	case "mma_throughput":
		c.need(a, word, 9, 3, 0)
	default:
		c.fault(&rulePragmaUnknown, a, "%s is not a known pragma; the assembler ignores it",
			clip(a.Text)).
			suggestName(a, quotePragma(diag.Nearest(word, pragmaNames())))
		return
	}
	if !inside {
		c.fault(&rulePragmaPlace, a, "%s must be in the body of a function", word)
	}
}

// modulePragma reports a string that is not allowed at module scope, where ptxas accepts only
// nounroll and does not ignore other strings.
func (c *checker) modulePragma(a *ptx.Operand, text string) {
	word, _, _ := strings.Cut(text, " ")
	if slices.Contains(pragmaNames(), word) && word != "nounroll" {
		c.fault(&rulePragmaPlace, a, "%s must be in the body of a function", word)
		return
	}
	c.fault(&rulePragma, a, "%s is not a module pragma; nounroll is the only one", clip(a.Text)).
		suggestName(a, quotePragma(diag.Nearest(word, pragmaNames())))
}

func pragmaNames() []string {
	return []string{"nounroll", "used_bytes_mask", "frequency", "enable_smem_spilling",
		"mma_throughput"}
}

// quotePragma returns a pragma in quotation marks, or "" for "".
func quotePragma(word string) string {
	if word == "" {
		return ""
	}
	return strconv.Quote(word)
}

// frequency checks the number in a frequency pragma: how often a block is executed, which must be
// at least once.
func (c *checker) frequency(a *ptx.Operand, rest string) {
	c.need(a, "frequency", 9, 0, 0)
	n, err := strconv.ParseUint(strings.TrimSpace(rest), 10, 64)
	if err != nil || n == 0 {
		c.fault(&rulePragma, a, "frequency must be followed by a positive integer, found %s",
			clip(a.Text))
	}
}
