// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/device"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
	"github.com/ptxdsl/ptxdsl/runtime/emu/race"
)

// A pool holds the arrays that the kernels of a stream share, by parameter.
type pool map[string]device.Address

// shared returns the key of a pointer: the name of its parameter, or its index if a compiler named
// it, and the offset of a field.
func (p *param) shared(i int) string {
	key := p.v.Name
	if _, number, ok := strings.Cut(key, "_param_"); ok {
		key = number
	} else if key == "" {
		key = fmt.Sprint(i)
	}
	if p.field.at != 0 {
		key += fmt.Sprintf("+%d", p.field.at)
	}
	return key
}

// dependent reports whether the kernels of a file are launched as dependents of each other: one
// uses griddepcontrol, and nothing chooses a launch.
func dependent(all []*kernel) bool {
	return slices.ContainsFunc(all, func(k *kernel) bool {
		return k.options.Launch == nil && k.options.Order == nil && k.uses(isa.KindGriddepcontrol)
	})
}

// stream runs the kernels of a file in their order, each as a dependent launch of the one before; a
// single kernel runs twice. Parameters of one name have one array.
func stream(all []*kernel) Result {
	if len(all) == 1 {
		again := *all[0]
		all = append(all, &again)
	}
	var names []string
	for _, k := range all {
		names = append(names, k.fn.Name)
	}
	r := Result{Kernel: strings.Join(names, " -> ")}
	seen := make(map[string]bool)
	for _, s := range all[0].schedules() {
		races, err := streamOnce(all, s)
		if err != nil {
			r.Incomplete = append(r.Incomplete, "the kernels as a stream: "+err.Error())
			break
		}
		for _, y := range races {
			if y.Rule != race.RuleGrids || seen[y.First.Place.String()+y.Second.Place.String()] {
				continue
			}
			seen[y.First.Place.String()+y.Second.Place.String()] = true
			r.Findings = append(r.Findings, diagnostic(y, y.Severity, "", nil))
		}
	}
	r.Tried = []string{"the kernels as a stream of dependent launches"}
	r.Findings, r.Suppressed = all[0].suppress(r.Findings.Sort())
	return r
}

// streamOnce runs the kernels once.
func streamOnce(all []*kernel, s seeding) ([]*race.Race, error) {
	first := all[0]
	detector := race.New()
	d, err := emu.New(emu.Options{
		Target: first.target(), Seed: s.seed, Completion: s.completion, Interleave: true,
		Workers: 1, Unchecked: true,
		Limit: maxWork, Observer: detector,
	})
	if err != nil {
		return nil, err
	}
	loaded, err := d.LoadProgram(first.program)
	if err != nil {
		return nil, err
	}
	arrays := make(pool)
	for i, k := range all {
		launched, err := d.Kernel(loaded.Module, k.fn.Name, -1)
		if err != nil {
			return nil, err
		}
		k.pool = arrays
		values, _, err := k.arguments(d, k.counts()[0], false, firstArray)
		k.pool = nil
		if err != nil {
			return nil, err
		}
		err = launched.Launch(&device.Launch{
			Grid: k.shape.Grid, Block: k.shape.Block, Cluster: k.shape.Cluster,
			Shared: k.shape.Shared,
			Values: values, Programmatic: i > 0,
		})
		var f *emu.Fault
		if errors.As(err, &f) {
			return nil, fmt.Errorf("kernel %s: %s", k.fn.Name, f.Message)
		}
		if err != nil {
			return nil, err
		}
	}
	return detector.Races(), nil
}
