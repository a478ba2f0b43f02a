// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"encoding/json"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
)

// A Run describes one run of a tool in a SARIF report.
type Run struct {
	Tool, Version string
	URI           string   // home page of the tool
	Rules         Rules    // rules that were checked
	Help          string   // URL of a rule's page, where "%s" is replaced by its id; "" for none
	Failures      []string // reasons why the run is incomplete, such as an unreadable file
	Source        Source   // source texts, because SARIF counts columns in characters
}

// The parts of SARIF 2.1.0 that this package writes.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		Invocations []sarifInvocation `json:"invocations"`
		ColumnKind  string            `json:"columnKind"`
		Results     []sarifResult     `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		URI     string      `json:"informationUri,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID     string          `json:"id"`
		Short  sarifText       `json:"shortDescription"`
		Full   *sarifText      `json:"fullDescription,omitempty"`
		Help   sarifText       `json:"help"`
		URI    string          `json:"helpUri,omitempty"`
		Config sarifConfig     `json:"defaultConfiguration"`
		Bag    sarifProperties `json:"properties"`
	}
	sarifConfig struct {
		Level string `json:"level"`
	}
	sarifProperties struct {
		Tags []string `json:"tags"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifInvocation struct {
		Successful    bool          `json:"executionSuccessful"`
		Notifications []sarifNotice `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotice struct {
		Level   string    `json:"level"`
		Message sarifText `json:"message"`
	}
	sarifResult struct {
		Rule      string          `json:"ruleId,omitempty"`
		Index     *int            `json:"ruleIndex,omitempty"`
		Kind      string          `json:"kind"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations,omitempty"`
		Related   []sarifLocation `json:"relatedLocations,omitempty"`
		Fixes     []sarifFix      `json:"fixes,omitempty"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
		Message  *sarifText    `json:"message,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		Line      int `json:"startLine"`
		Column    int `json:"startColumn"`
		EndLine   int `json:"endLine"`
		EndColumn int `json:"endColumn"`
	}
	sarifFix struct {
		Description sarifText     `json:"description"`
		Changes     []sarifChange `json:"artifactChanges"`
	}
	sarifChange struct {
		Artifact     sarifArtifact      `json:"artifactLocation"`
		Replacements []sarifReplacement `json:"replacements"`
	}
	sarifReplacement struct {
		Deleted  sarifRegion `json:"deletedRegion"`
		Inserted sarifText   `json:"insertedContent"`
	}
)

// SARIF writes findings as a SARIF 2.1.0 log of one run.
func SARIF(w io.Writer, run Run, l List) error {
	texts := newReaders(run.Source)
	out := sarifRun{
		Tool: sarifTool{
			sarifDriver{run.Tool, run.Version, run.URI, make([]sarifRule, 0, len(run.Rules))}},
		Invocations: []sarifInvocation{{Successful: len(run.Failures) == 0}},
		ColumnKind:  "unicodeCodePoints",
		Results:     make([]sarifResult, 0, len(l)),
	}
	index := make(map[string]int, len(run.Rules))
	for i, r := range run.Rules {
		index[r.ID] = i
		out.Tool.Driver.Rules = append(out.Tool.Driver.Rules, r.sarif(run.Help))
	}
	for _, f := range run.Failures {
		notes := &out.Invocations[0].Notifications
		*notes = append(*notes, sarifNotice{"error", message(f)})
	}
	for i := range l {
		out.Results = append(out.Results, texts.result(&l[i], index))
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(sarifLog{
		Schema:  "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
		Version: "2.1.0",
		Runs:    []sarifRun{out},
	})
}

// message returns a SARIF message string, in which single braces are placeholders (3.11.5). PTX
// operands contain braces, so they are doubled.
func message(text string) sarifText {
	return sarifText{strings.NewReplacer("{", "{{", "}", "}}").Replace(text)}
}

func (r Rule) sarif(help string) sarifRule {
	s := sarifRule{
		ID:    r.ID,
		Short: sarifText{r.Title},
		Help:  sarifText{r.Page()},
		Bag:   sarifProperties{[]string{r.Layer}},
	}
	_, s.Config.Level = kind(r.Severity)
	if r.What != "" {
		s.Full = &sarifText{wrap(r.What, 1<<20)}
	}
	if help != "" {
		s.URI = strings.ReplaceAll(help, "%s", url.PathEscape(r.ID))
	}
	return s
}

// kind returns the SARIF kind and level of a severity. The standard requires level "none" for
// every result that is not a proven failure.
func kind(s Severity) (kind, level string) {
	switch s {
	case Error:
		return "fail", "error"
	case Warning:
		return "fail", "warning"
	case Review:
		return "review", "none"
	}
	return "informational", "none"
}

func (t *readers) result(d *Diagnostic, index map[string]int) sarifResult {
	s := sarifResult{Rule: d.Rule, Message: message(d.Message)}
	s.Kind, s.Level = kind(d.Severity)
	if i, ok := index[d.Rule]; ok {
		s.Index = &i
	}
	if d.Place.File != "" {
		s.Locations = []sarifLocation{t.location(d.Place, "")}
	}
	// The schema requires these to be distinct.
	for i, r := range d.Related {
		if !slices.Contains(d.Related[:i], r) {
			s.Related = append(s.Related, t.location(r.Place, r.Message))
		}
	}
	for i, at := range d.From {
		if !slices.Contains(d.From[:i], at) {
			s.Related = append(s.Related, t.location(at, "called from here"))
		}
	}
	if d.Fix != nil && len(d.Fix.Edits) > 0 {
		s.Fixes = []sarifFix{t.fix(d.Fix)}
	}
	return s
}

func (t *readers) fix(f *Fix) sarifFix {
	s := sarifFix{Description: message(f.description())}
	for _, e := range f.Edits {
		at := sarifArtifact{address(e.Place.File)}
		n := len(s.Changes)
		if n == 0 || s.Changes[n-1].Artifact != at {
			s.Changes = append(s.Changes, sarifChange{Artifact: at})
			n++
		}
		c := &s.Changes[n-1]
		c.Replacements = append(c.Replacements,
			sarifReplacement{t.region(e.Place), sarifText{e.New}})
	}
	return s
}

func (t *readers) location(p Place, label string) sarifLocation {
	s := sarifLocation{Physical: sarifPhysical{Artifact: sarifArtifact{address(p.File)}}}
	if p.IsValid() {
		r := t.region(p)
		s.Physical.Region = &r
	}
	if label != "" {
		m := message(label)
		s.Message = &m
	}
	return s
}

func (t *readers) region(p Place) sarifRegion {
	p = p.closed()
	return sarifRegion{
		Line: p.Line, Column: max(1, t.character(p.File, p.Line, p.Column)),
		EndLine: p.EndLine, EndColumn: max(1, t.character(p.File, p.EndLine, p.EndColumn)),
	}
}

// address returns a file name as a URI reference. A relative name stays relative, so that the
// report is valid on other machines.
func address(file string) string {
	u := url.URL{Path: filepath.ToSlash(file)}
	if filepath.IsAbs(file) {
		u.Scheme = "file"
		if !strings.HasPrefix(u.Path, "/") { // C:\x
			u.Path = "/" + u.Path
		}
	}
	return u.String()
}
