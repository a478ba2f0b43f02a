// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package agree

import (
	"cmp"
	"context"
	"slices"

	"github.com/ptxdsl/ptxdsl/internal/ptxas"
)

// A both holds the verdicts of the table and of ptxas on a probe.
type both struct {
	ours  string // why the table rejects it; "" if it accepts
	ptxas ptxas.Verdict
}

// ask returns the verdicts of both sides on the probes of one place.
func (r *Runner) ask(ctx context.Context, list []probe) ([]both, error) {
	p := list[0].at
	ask := make([]ptxas.Probe, len(list))
	order := make([]int, len(list)) // adjacent probes with equal declarations share a kernel
	for i, x := range list {
		ask[i] = x.probe(p)
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(slices.Compare(ask[a].Params, ask[b].Params),
			slices.Compare(ask[a].Decls, ask[b].Decls))
	})
	sorted := make([]ptxas.Probe, len(ask))
	for i, n := range order {
		sorted[i] = ask[n]
	}
	verdicts, err := r.tool.Judge(ctx, p.version.String(), p.target.String(), sorted)
	if err != nil {
		return nil, err
	}
	out := make([]both, len(list))
	ours := r.ours(p, list, order, sorted)
	for i, n := range order {
		out[n] = both{ours[i], verdicts[i]}
	}
	return out, nil
}

// ours returns why the table rejects each probe, in the given order.
func (r *Runner) ours(p place, list []probe, order []int, asked []ptxas.Probe) []string {
	var texts []reading
	if !r.config.Table {
		texts = read(p, asked)
	}
	out := make([]string, len(order))
	m := r.set.Matcher(p.version, p.target)
	for i, n := range order {
		if texts != nil && !texts[i].late {
			out[i] = texts[i].why
			continue
		}
		for _, problem := range m.Check(list[n].op, list[n].isaArgs()) {
			if !problem.Warning {
				out[i] = problem.Rule + ": " + problem.Message
				break
			}
		}
	}
	return out
}
