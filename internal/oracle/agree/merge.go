// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package agree

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
)

// WriteFile writes r to a file in the format that ReadReports reads.
func (r *Report) WriteFile(path string) error {
	data, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o666)
}

// ReadReports reads the reports of several runs and returns their sum. The runs must have the
// same seed and different families.
func ReadReports(paths []string) (*Report, error) {
	sum := &Report{Parts: len(paths)}
	for i, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		var r Report
		if err := json.Unmarshal(data, &r); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if i == 0 {
			sum.Seed = r.Seed
		}
		if err := sum.merge(&r); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	slices.SortFunc(sum.Families, func(a, b *Family) int { return cmp.Compare(a.Name, b.Name) })
	return sum, nil
}

// merge adds the families of s, which must not be in r, to r.
func (r *Report) merge(s *Report) error {
	if s.Seed != r.Seed {
		return fmt.Errorf("seed %d, expected %d", s.Seed, r.Seed)
	}
	for _, f := range s.Families {
		if slices.ContainsFunc(r.Families, func(g *Family) bool { return g.Name == f.Name }) {
			return fmt.Errorf("family %s is in two reports", f.Name)
		}
		r.Families = append(r.Families, f)
	}
	r.Forms += s.Forms
	r.Sampled += s.Sampled
	r.Took += s.Took
	r.NoLegal = append(r.NoLegal, s.NoLegal...)
	r.NoOperands = append(r.NoOperands, s.NoOperands...)
	return nil
}
