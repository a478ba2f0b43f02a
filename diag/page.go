// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// WithPages returns the rules with their texts, which it reads from the directory rules of fsys.
// The page of rule A5 is rules/A5.md. The files are embedded in the program, so a missing or
// malformed page is a bug, and WithPages panics.
func (s Rules) WithPages(fsys fs.FS) Rules {
	list := make(Rules, len(s))
	for i, r := range s {
		text, err := fs.ReadFile(fsys, path.Join("rules", r.ID+".md"))
		if err == nil {
			err = r.read(string(text))
		}
		if err != nil {
			panic(fmt.Sprintf("bug: page of rule %s: %v", r.ID, err))
		}
		list[i] = r
	}
	return list
}

// read sets the texts of a rule from its page: a heading "# ID: title", what the rule reports, and
// sections with headings "## Why", "## Wrong", "## Right", "## Fix", "## Gaps" and "## Manual".
func (r *Rule) read(page string) error {
	heading, rest, _ := strings.Cut(page, "\n")
	title, ok := strings.CutPrefix(heading, "# "+r.ID+": ")
	if !ok {
		return fmt.Errorf("the first line is not a heading %q", "# "+r.ID+": title")
	}
	r.Title = title
	sections := map[string]*string{
		"Why": &r.Why, "Wrong": &r.Wrong, "Right": &r.Right, "Fix": &r.Fix, "Gaps": &r.Gaps,
		"Manual": &r.Section,
	}
	parts := strings.Split("\n"+rest, "\n## ")
	r.What = strings.TrimSpace(parts[0])
	for _, part := range parts[1:] {
		name, text, _ := strings.Cut(part, "\n")
		to := sections[name]
		if to == nil {
			return fmt.Errorf("unknown or repeated section %q", name)
		}
		text = strings.TrimSpace(text)
		for _, fence := range []string{"```ptx\n", "```go\n"} {
			if code, ok := strings.CutPrefix(text, fence); ok {
				text = strings.TrimSuffix(code, "\n```")
			}
		}
		*to = text
		delete(sections, name)
	}
	return nil
}
