// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package agree

import (
	"cmp"
	"context"
	"slices"

	"github.com/ptxdsl/ptxdsl/internal/ptxas"
)

// A verdictPair holds the verdicts of the instruction table and of ptxas on a probe.
type verdictPair struct {
	rejection string // reason why the table rejects the probe; "" if it accepts
	ptxas     ptxas.Verdict
}

// judge returns the verdicts of the table and of ptxas on probes, which must have the same
// version and target.
func (r *Runner) judge(ctx context.Context, list []probe) ([]verdictPair, error) {
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
	out := make([]verdictPair, len(list))
	ours := r.judgeTable(p, list, order, sorted)
	for i, n := range order {
		out[n] = verdictPair{ours[i], verdicts[i]}
	}
	return out, nil
}

// judgeTable returns for each probe, in the given order, the reason why the table rejects it, or
// "".
func (r *Runner) judgeTable(p place, list []probe, order []int, asked []ptxas.Probe) []string {
	var texts []formVerdict
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
