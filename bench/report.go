// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
)

// A Report holds results and a description of the device and the software.
type Report struct {
	Device  string   `json:"device"`
	Driver  string   `json:"driver"`
	Origin  []string `json:"origin"` // sources of the libraries and clock readings
	Rounds  int      `json:"rounds"`
	Results []Result `json:"results"`
}

// Header writes the description of the device and the software.
func (r *Report) Header(w io.Writer) {
	fmt.Fprintf(w, "%s, %s, %d rounds\n", r.Device, r.Driver, r.Rounds)
	for _, line := range r.Origin {
		fmt.Fprintln(w, line)
	}
	fmt.Fprintln(w)
}

// Table writes results as a table in Markdown.
func Table(w io.Writer, list []Result) error {
	t := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	for _, r := range list {
		if r.Error != "" {
			fmt.Fprintf(t, "| %s\t| %s\t| %s\t| %s\t|\n", r.Group, r.Job, r.Contender, r.Error)
			continue
		}
		ratio := "-"
		if r.Ratio > 0 {
			ratio = fmt.Sprintf("%.3f of %s", r.Ratio, r.Base)
		}
		clock := "-"
		if r.Clock > 0 {
			clock = fmt.Sprintf("%d MHz, %d W", r.Clock, r.Watt)
		}
		fmt.Fprintf(t, "| %s\t| %s\t| %s\t| %.1f us (%.1f to %.1f)\t| %.0f %s\t| %s\t| %s\t|\n",
			r.Group, r.Job, r.Contender, r.Micro, r.Low, r.High, r.Rate, r.Unit, ratio, clock)
	}
	return t.Flush()
}

// JSON writes the report as JSON.
func (r *Report) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "\t")
	return e.Encode(r)
}

// Load reads files that JSON wrote, and returns a report with all their results. They must be
// from the same device.
func Load(paths ...string) (*Report, error) {
	all := &Report{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		var r Report
		if err := json.Unmarshal(text, &r); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if all.Device == "" {
			all.Device, all.Driver, all.Origin, all.Rounds = r.Device, r.Driver, r.Origin, r.Rounds
		}
		if r.Device != all.Device || r.Driver != all.Driver {
			return nil, fmt.Errorf("%s is of %s, %s, and other results are of %s, %s", path,
				r.Device, r.Driver, all.Device, all.Driver)
		}
		all.Results = append(all.Results, r.Results...)
	}
	return all, nil
}
