// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Version is a PTX ISA version, encoded as 100*major + minor: 8.6 is 806.
type Version uint16

// MakeVersion returns the Version of major.minor.
func MakeVersion(major, minor int) Version { return Version(major*100 + minor) }

// ParseVersion parses a version such as "8.6".
func ParseVersion(s string) (Version, error) {
	a, b, ok := strings.Cut(s, ".")
	major, err1 := strconv.Atoi(a)
	minor, err2 := strconv.Atoi(b)
	if !ok || err1 != nil || err2 != nil || major < 1 || minor < 0 || major > 99 || minor > 99 {
		return 0, fmt.Errorf("%q is not a PTX version", s)
	}
	return MakeVersion(major, minor), nil
}

// String returns the version in the form "8.6".
func (v Version) String() string { return fmt.Sprintf("%d.%d", v/100, v%100) }

// Known reports whether the table contains version v.
func (v Version) Known() bool {
	for _, w := range Versions {
		if w.Version == v {
			return true
		}
	}
	return false
}

// Newest returns the newest PTX version in the table.
func Newest() Version { return Versions[len(Versions)-1].Version }

// A VersionInfo is the table entry of a PTX version.
type VersionInfo struct {
	Version Version
	What    string // the toolkit and driver that introduced it
}

// A Target is an index into Targets: sm_90, sm_100f, sm_120a.
type Target uint8

// A TargetInfo is the table entry of a target.
type TargetInfo struct {
	Name   string // sm_100a
	Number int    // 100
	Suffix byte   // 'a', 'f' or 0
	Family int    // number of the first target of the family, or 0 if the target has no family
	Since  Version
	Until  Version // last version that supports the name, or 0 if all later versions do
}

// ParseTarget returns the target with the given name. compute_90 means sm_90, and sm_101 is the
// old name of sm_110.
func ParseTarget(name string) (Target, bool) {
	t, ok := index().targets[name]
	return t, ok
}

// Info returns the table entry of t.
func (t Target) Info() TargetInfo { return Targets[t] }

// String returns the target's name.
func (t Target) String() string { return Targets[t].Name }

// A TargetSet is a set of targets.
type TargetSet uint64

// AllTargets holds every target.
const AllTargets = ^TargetSet(0)

// Has reports whether t is in s.
func (s TargetSet) Has(t Target) bool { return s>>t&1 != 0 }

// TargetsNamed returns the targets that a word in a gate denotes. "90" denotes sm_90 and all
// later targets, "100f" the members of its family from sm_100, and "100a" only sm_100a. sm_101 is
// an older name of sm_110, so "110a" includes sm_101a, but "101a" is only the older name.
func TargetsNamed(targets []TargetInfo, word string) (TargetSet, error) {
	i := slices.IndexFunc(targets, func(t TargetInfo) bool { return t.Name == "sm_"+word })
	if i < 0 {
		return 0, fmt.Errorf("unknown target %q", word)
	}
	want := targets[i]
	var set TargetSet
	for i, t := range targets {
		old := t.Number == renamedTarget
		if old && want.Number != renamedTarget {
			t.Number = 110
		}
		var in bool
		switch {
		case want.Number == renamedTarget:
			in = old && (t.Suffix == want.Suffix || want.Suffix == 0 || want.Suffix == 'f' &&
				t.Suffix == 'a')
		case want.Suffix == 0:
			in = t.Number >= want.Number
		case want.Suffix == 'f':
			in = t.Suffix != 0 && t.Family == want.Family && t.Number >= want.Number
		default:
			in = t.Number == want.Number && t.Suffix == 'a'
		}
		if in {
			set |= 1 << i
		}
	}
	return set, nil
}

// renamedTarget is the number of sm_110 in PTX 8.6 to 8.8.
const renamedTarget = 101

// A Gate specifies for which versions and targets a feature is legal: a gate is open if one of
// its clauses matches. A gate without clauses is always open.
type Gate struct {
	Clauses []Clause
}

// A Clause is one alternative of a gate: a minimum version and a set of targets.
type Clause struct {
	Since   Version
	Targets TargetSet
	On      string // the targets in the notation of the spec, for messages; "" for all targets
}

// Open reports whether g allows version v on target t.
func (g Gate) Open(v Version, t Target) bool {
	if len(g.Clauses) == 0 {
		return true
	}
	if v == 501 {
		v = 600 // version 5.1 is undocumented; ptxas treats it as 6.0
	}
	for _, c := range g.Clauses {
		if v >= c.Since && c.Targets.Has(t) {
			return true
		}
	}
	return false
}

// Since returns the first version in which g is open for t. It returns 0 if g is always open, or
// is never open for t.
func (g Gate) Since(t Target) (first Version) {
	for _, c := range g.Clauses {
		if c.Targets.Has(t) && (first == 0 || c.Since < first) {
			first = c.Since
		}
	}
	return first
}

// opensFor reports whether g is open for t in some version.
func (g Gate) opensFor(t Target) bool {
	for _, c := range g.Clauses {
		if c.Targets.Has(t) {
			return true
		}
	}
	return false
}

// String returns the gate as a phrase, such as "PTX 8.6 on sm_100a, or PTX 8.8 on the
// family of sm_100f".
func (g Gate) String() string {
	if len(g.Clauses) == 0 {
		return "PTX 1.0"
	}
	words := make([]string, len(g.Clauses))
	for i, c := range g.Clauses {
		words[i] = "PTX " + c.Since.String()
		if on := c.targetWords(); on != "" {
			words[i] += " on " + on
		}
	}
	return strings.Join(words, ", or ")
}

func (c Clause) targetWords() string {
	if c.On == "" {
		return ""
	}
	var exact, families, later []string
	for w := range strings.FieldsSeq(c.On) {
		switch w[len(w)-1] {
		case 'a':
			exact = append(exact, "sm_"+w)
		case 'f':
			families = append(families, "sm_"+w)
		default:
			later = append(later, "sm_"+w+" or later")
		}
	}
	if len(families) > 0 {
		families = []string{"the family of " + orList(families)}
	}
	return orList(slices.Concat(exact, families, later))
}

// orList joins alternatives with commas, and the last two with "or".
func orList(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " or " + list[last]
}
