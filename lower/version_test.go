// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package lower_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ptxdsl/ptxdsl/form"
	"github.com/ptxdsl/ptxdsl/internal/oracle/roundtrip"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/lift"
	"github.com/ptxdsl/ptxdsl/lower"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// sources returns the modules of the corpus and of this folder that pass the form checks.
func sources(t testing.TB) []roundtrip.Source {
	t.Helper()
	list, err := roundtrip.Sources("../internal/oracle/corpus/testdata/corpus.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"testdata/*.ptx", "../form/testdata/ok/*.ptx"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, roundtrip.Source{Name: name, Text: string(text)})
		}
	}
	return list
}

// lifted parses and lifts a text.
func lifted(t testing.TB, name, text string) *ir.Module {
	t.Helper()
	file, list := ptx.Parse(name, text)
	if list.Errors() > 0 {
		t.Fatalf("%s: %v", name, list[0])
	}
	m, list := lift.Module(file)
	if list.Errors() > 0 {
		t.Fatalf("%s: %v", name, list[0])
	}
	return m
}

// TestVersion checks that Version is the lowest PTX version: the form checks accept the module with
// it, and reject it with the one before.
func TestVersion(t *testing.T) {
	for i, s := range sources(t) {
		if testing.Short() && i%8 != 0 {
			continue
		}
		m := lifted(t, s.Name, s.Text)
		at := func(v isa.Version) int {
			m.Version = v
			file, list := ptx.Parse(s.Name, lower.Text(m))
			list = append(list, form.Check(file, form.Options{})...)
			return list.Errors()
		}
		if at(m.Version) > 0 {
			continue
		}
		was, least := m.Version, lower.Version(m)
		n := slices.IndexFunc(isa.Versions, func(v isa.VersionInfo) bool {
			return v.Version == least
		})
		if n < 0 || least > was {
			t.Errorf("%s: least version %s, of %s", s.Name, least, was)
			continue
		}
		if at(least) > 0 {
			file, _ := ptx.Parse(s.Name, lower.Text(m))
			d := form.Check(file, form.Options{})[0]
			t.Errorf("%s: %s is not enough: %v: %s %s", s.Name, least, d.Place, d.Rule, d.Message)
		}
		// Binding for a later version gives the same result.
		if at(isa.Newest()) == 0 {
			if v := lower.Version(lifted(t, s.Name, lower.Text(m))); v != least {
				t.Errorf("%s: least version %s, bound for %s it is %s", s.Name, least, isa.Newest(),
					v)
			}
		}
		// An empty module may name a target that its version lacks.
		if n > 0 && len(m.Decls) > 0 && at(isa.Versions[n-1].Version) == 0 {
			t.Errorf("%s: %s suffices, but Version returned %s", s.Name,
				isa.Versions[n-1].Version, least)
		}
	}
}
