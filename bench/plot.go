// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"html"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Files writes the results to a directory: gpu.json, gpu.csv, and for each group a plot of the
// contenders' rates by job.
func (r *Report) Files(folder string) error {
	write := func(name string, to func(io.Writer) error) error {
		f, err := os.Create(filepath.Join(folder, name))
		if err != nil {
			return err
		}
		return errors.Join(to(f), f.Close())
	}
	errs := []error{os.MkdirAll(folder, 0o777)}
	errs = append(errs, write("gpu.json", r.JSON), write("gpu.csv", r.CSV))
	for _, group := range r.groups() {
		name := strings.Map(func(c rune) rune {
			if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
				return c
			}
			return '_'
		}, strings.ToLower(group))
		errs = append(errs, write(name+".svg", func(w io.Writer) error { return r.Plot(w, group) }))
	}
	return errors.Join(errs...)
}

// groups returns the names of the groups, in order of first occurrence.
func (r *Report) groups() (list []string) {
	for _, x := range r.Results {
		if !slices.Contains(list, x.Group) {
			list = append(list, x.Group)
		}
	}
	return list
}

// CSV writes the results as comma-separated values.
func (r *Report) CSV(w io.Writer) error {
	c := csv.NewWriter(w)
	rows := [][]string{
		{"group", "job", "contender", "microseconds", "low", "high", "rate", "unit", "ratio",
			"base", "sm_mhz", "watt", "deviation", "kernel", "error"}}
	for _, x := range r.Results {
		f := func(x float64) string { return fmt.Sprintf("%.5g", x) }
		rows = append(rows, []string{
			x.Group, x.Job, x.Contender, f(x.Micro), f(x.Low), f(x.High), f(x.Rate), x.Unit,
			f(x.Ratio), x.Base,
			fmt.Sprint(x.Clock), fmt.Sprint(x.Watt), f(x.Deviation), x.Kernel, x.Error,
		})
	}
	return c.WriteAll(rows)
}

// Sizes of a plot in pixels. Each job has a slot of the horizontal axis, with a mark for each
// contender.
const (
	plotHeight, plotTop, plotLeft, plotBottom = 360, 40, 60, 130
	slotWidth                                 = 56
	legendWidth                               = 220
)

// colors lists the colors of the contenders; the first one is for this project.
var colors = []string{"#c62828", "#1565c0", "#2e7d32", "#6a1b9a", "#ef6c00", "#00838f", "#5d4037",
	"#455a64"}

// Plot writes a plot of a group as SVG: lines through the medians, and bars from the 10th to the
// 90th percentile.
func (r *Report) Plot(w io.Writer, group string) error {
	var jobs, contenders []string
	var most float64
	unit := ""
	for _, x := range r.Results {
		if x.Group != group || x.Error != "" {
			continue
		}
		if !slices.Contains(jobs, x.Job) {
			jobs = append(jobs, x.Job)
		}
		if !slices.Contains(contenders, x.Contender) {
			contenders = append(contenders, x.Contender)
		}
		most, unit = max(most, x.Rate*x.Micro/x.Low), x.Unit
	}
	// the contender of this project has the first color
	slices.SortStableFunc(contenders, func(x, y string) int {
		return cmp.Compare(b2i(x != "ours"), b2i(y != "ours"))
	})
	step := math.Pow(10, math.Floor(math.Log10(max(most, 1))))
	for most/step < 4 {
		step /= 2
	}
	top := math.Ceil(most/step) * step
	width := plotLeft + slotWidth*max(1, len(jobs)) + legendWidth
	y := func(rate float64) float64 { return plotTop + plotHeight*(1-rate/top) }
	x := func(job string) int { return plotLeft + slotWidth*slices.Index(jobs, job) + slotWidth/2 }

	var s strings.Builder
	fmt.Fprintf(&s,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"11\">\n",
		width, plotTop+plotHeight+plotBottom)
	fmt.Fprintf(&s,
		"<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n<text x=\"%d\" y=\"20\" font-size=\"14\">%s, %s on %s</text>\n",
		plotLeft, html.EscapeString(group), unit, html.EscapeString(r.Device))
	for rate := 0.0; rate <= top*1.0001; rate += step {
		fmt.Fprintf(&s,
			"<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n",
			plotLeft, width-legendWidth, y(rate), y(rate), plotLeft-6, y(rate)+4, rate)
	}
	for _, job := range jobs {
		at, under := x(job), plotTop+plotHeight+12
		fmt.Fprintf(&s,
			"<text transform=\"translate(%d %d) rotate(-55)\" text-anchor=\"end\">%s</text>\n",
			at+4, under, html.EscapeString(job))
	}
	for i, c := range contenders {
		color, path := colors[i%len(colors)], []string(nil)
		for _, v := range r.Results {
			if v.Group != group || v.Contender != c || v.Error != "" {
				continue
			}
			at := x(v.Job)
			path = append(path, fmt.Sprintf("%d,%.1f", at, y(v.Rate)))
			fmt.Fprintf(&s,
				"<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/><circle cx=\"%d\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n",
				at, at, y(v.Rate*v.Micro/v.High), y(v.Rate*v.Micro/v.Low), color, at, y(v.Rate),
				color)
		}
		fmt.Fprintf(&s,
			"<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\"/>\n",
			strings.Join(path, " "), color)
		fmt.Fprintf(&s, "<text x=\"%d\" y=\"%d\" fill=\"%s\">%s</text>\n", width-legendWidth+14,
			plotTop+12+16*i, color, html.EscapeString(c))
	}
	s.WriteString("</svg>\n")
	_, err := io.WriteString(w, s.String())
	return err
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
