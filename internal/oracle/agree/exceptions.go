// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package agree

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// Exceptions are known differences: defects of ptxas and documented ambiguities. A line of the
// file reads
//
//	accepts REGEXP -- reason
//
// for instructions that ptxas wrongly accepts, or begins with "rejects". The expression must
// match all of "VERSION TARGET INSTRUCTION;". The lines
//
//	probe VERSION TARGET INSTRUCTION;
//
// before it are examples.
type Exceptions struct {
	list []exception
}

type exception struct {
	accepts bool
	rx      *regexp.Regexp
	reason  string
	probes  []string
	hits    int
}

// ReadExceptions reads exceptions from a file.
func ReadExceptions(path string) (*Exceptions, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	ex := &Exceptions{}
	lines := bufio.NewScanner(f)
	var probes []string
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		if word == "probe" {
			probes = append(probes, rest)
			continue
		}
		pattern, reason, ok := strings.Cut(rest, " -- ")
		if !ok || word != "accepts" && word != "rejects" {
			return nil, fmt.Errorf(
				"%s:%d: want `accepts REGEXP -- reason` or `rejects REGEXP -- reason`", path, n)
		}
		rx, err := regexp.Compile("^(?:" + strings.TrimSpace(pattern) + ")$")
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %v", path, n, err)
		}
		for _, p := range probes {
			if !rx.MatchString(p) {
				return nil, fmt.Errorf("%s:%d: the expression does not match its probe %s", path, n,
					p)
			}
		}
		ex.list = append(ex.list, exception{word == "accepts", rx, reason, probes, 0})
		probes = nil
	}
	return ex, lines.Err()
}

// excludes reports whether a difference is a known one. accepted is the verdict of ptxas.
func (ex *Exceptions) excludes(p place, text string, accepted bool) bool {
	if ex == nil {
		return false
	}
	line := p.String() + " " + text
	for i := range ex.list {
		e := &ex.list[i]
		if e.accepts == accepted && e.rx.MatchString(line) {
			e.hits++
			return true
		}
	}
	return false
}

// A Use is an exception with the number of differences that it matched.
type Use struct {
	Reason  string
	Pattern string
	Hits    int
}

// Uses returns the exceptions with the number of differences that they matched, in decreasing
// order. An exception that matches no difference in a comparison of all forms may be obsolete.
func (ex *Exceptions) Uses() []Use {
	if ex == nil {
		return nil
	}
	out := make([]Use, len(ex.list))
	for i, e := range ex.list {
		out[i] = Use{e.reason, e.rx.String(), e.hits}
	}
	slices.SortStableFunc(out, func(a, b Use) int { return cmp.Compare(b.Hits, a.Hits) })
	return out
}
