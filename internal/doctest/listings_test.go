// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package doctest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl/golden"
)

const root = "../.."

// pages returns the Markdown files of the project.
func pages(t *testing.T) []string {
	t.Helper()
	list := []string{"README.md", "CONTRIBUTING.md"}
	for _, folder := range []string{"docs", "bench"} {
		visit := func(name string, d fs.DirEntry, err error) error {
			if err == nil && filepath.Ext(name) == ".md" {
				rel, _ := filepath.Rel(root, name)
				list = append(list, filepath.ToSlash(rel))
			}
			return err
		}
		if err := filepath.WalkDir(filepath.Join(root, folder), visit); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// settle compares a page with its expected text, or writes it with -update.
func settle(t *testing.T, name, old, want string) {
	t.Helper()
	if old == want {
		return
	}
	if golden.Updating() {
		if err := os.WriteFile(filepath.Join(root, name), []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s is out of date; run go test ./internal/doctest -update (-page +made)\n%s",
		name, gocmp.Diff(old, want))
}

// tested are the languages whose code blocks need a comment that names their origin.
var tested = map[string]bool{
	"go": true, "ptx": true, "console": true, "sh": true, "c": true, "cuda": true, "yaml": true,
}

// TestListings compares the listings of all pages with the files that they are taken from.
func TestListings(t *testing.T) {
	for _, name := range pages(t) {
		text := read(t, name)
		if strings.HasPrefix(text, "<!-- Generated") {
			continue
		}
		p := parse(name, text)
		for i := range p.pieces {
			x := &p.pieces[i]
			x.text = made(t, name, *x)
		}
		settle(t, name, text, p.String())
	}
}

// made returns the expected text of a piece.
func made(t *testing.T, name string, x piece) string {
	t.Helper()
	switch x.marker {
	case "file":
		_, from, ok := strings.Cut(x.args, " from ")
		switch {
		case !ok:
			return x.text
		case filepath.Ext(from) == ".go":
			return listing(read(t, from))
		}
		return read(t, from)
	case "source":
		from, decl, ok := strings.Cut(x.args, "#")
		if !ok {
			return listing(read(t, from))
		}
		text, err := declaration(read(t, from), decl)
		if err != nil {
			t.Errorf("%s:%d: %s: %v", name, x.line, from, err)
		}
		return text
	case "table":
		return table(read(t, x.args))
	case "excerpt":
		if !isExcerpt(read(t, x.args), x.text) {
			t.Errorf("%s:%d: these lines do not follow one another in %s:\n%s", name, x.line,
				x.args, x.text)
		}
	case "run":
	case "shown":
		if x.args == "" {
			t.Errorf("%s:%d: no reason why this is only shown", name, x.line)
		}
	default:
		if x.code && tested[x.lang] {
			t.Errorf("%s:%d: no comment names the source of this %s block", name, x.line, x.lang)
		}
	}
	return x.text
}

var (
	links   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile("(?m)^#+ +(.*)$")
	named   = regexp.MustCompile(`<a id="([^"]+)">`)
	inline  = regexp.MustCompile("`[^`]*`")
	noWord  = regexp.MustCompile(`[^\p{L}\p{N}\- _]`)
)

// TestLinks checks every link between files of the project.
func TestLinks(t *testing.T) {
	for _, name := range pages(t) {
		for _, x := range parse(name, read(t, name)).pieces {
			if x.code {
				continue
			}
			for _, m := range links.FindAllStringSubmatch(inline.ReplaceAllString(x.text, "code"),
				-1) {
				if strings.Contains(m[1], "://") {
					continue
				}
				file, anchor := linkTarget(name, m[1])
				if _, err := os.Stat(filepath.Join(root, file)); err != nil {
					t.Errorf("%s: the link %s leads nowhere", name, m[1])
					continue
				}
				if anchor != "" && filepath.Ext(file) == ".md" && !anchors(read(t, file))[anchor] {
					t.Errorf("%s: %s has no heading for %s", name, file, m[1])
				}
			}
		}
	}
}

// anchors returns the anchors of a page's headings, as GitHub makes them.
func anchors(text string) map[string]bool {
	all := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		s := noWord.ReplaceAllString(strings.ToLower(m[1]), "")
		all[strings.ReplaceAll(s, " ", "-")] = true
	}
	for _, m := range named.FindAllStringSubmatch(text, -1) {
		all[m[1]] = true
	}
	return all
}

// TestIndex checks that the index lists every page of docs.
func TestIndex(t *testing.T) {
	index := read(t, "docs/README.md")
	for _, name := range pages(t) {
		rel, ok := strings.CutPrefix(name, "docs/")
		part := strings.HasPrefix(rel, "reference/cuda-to-go/") &&
			!strings.HasSuffix(rel, "README.md")
		if !ok || rel == "README.md" || part {
			continue
		}
		if !strings.Contains(index, "]("+rel+")") {
			t.Errorf("docs/README.md does not list %s", rel)
		}
	}
}
