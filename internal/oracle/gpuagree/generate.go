// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gpuagree

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ptxdsl/ptxdsl/internal/ptxas"
	"github.com/ptxdsl/ptxdsl/isa"
)

// perModule is the number of kernels per module.
const perModule = 250

// A Plan lists the cubins in a directory and their kernels.
type Plan struct {
	Target  string
	Version string
	Modules []PlanModule
}

// A PlanModule is a cubin and the cases of its kernels.
type PlanModule struct {
	Cubin string
	Cases []string // case IDs; kernel i is named k followed by i
}

// A Setting holds the cases of a target and their inputs.
type Setting struct {
	Cases  []Case
	Inputs *Inputs
	byID   map[string]*Case
}

// NewSetting returns the cases of a target and generates their inputs.
func NewSetting(version, target string) (*Setting, error) {
	v, err := isa.ParseVersion(version)
	if err != nil {
		return nil, err
	}
	t, ok := isa.ParseTarget(target)
	if !ok {
		return nil, fmt.Errorf("target %s is not known", target)
	}
	var sm int
	if _, err := fmt.Sscanf(target, "sm_%d", &sm); err != nil {
		return nil, err
	}
	s := &Setting{Inputs: &Inputs{}, byID: map[string]*Case{}}
	if s.Cases, err = Cases(v, t, sm); err != nil {
		return nil, err
	}
	for i := range s.Cases {
		c := &s.Cases[i]
		s.byID[c.ID] = c
		c.Kernel("k", s.Inputs) // adds the columns of the case to the inputs
	}
	return s, nil
}

// Generate assembles the kernels of all cases and writes the cubins to a directory. It also
// returns the cases that ptxas rejects, with its messages.
func Generate(ctx context.Context, tool *ptxas.Tool, folder, version, target string,
	log func(string)) (*Plan, map[string]string, error) {
	s, err := NewSetting(version, target)
	if err != nil {
		return nil, nil, err
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, nil, err
	}
	plan := &Plan{Target: target, Version: version}
	refused := map[string]string{}
	for at := 0; at < len(s.Cases); at += perModule {
		cases := s.Cases[at:min(at+perModule, len(s.Cases))]
		name := fmt.Sprintf("m%03d.cubin", len(plan.Modules))
		cubin, kept, err := assemble(ctx, tool, s, cases, version, target, refused)
		if err != nil {
			return nil, nil, err
		}
		if err := os.WriteFile(filepath.Join(folder, name), cubin, 0o666); err != nil {
			return nil, nil, err
		}
		plan.Modules = append(plan.Modules, PlanModule{name, kept})
		log(fmt.Sprintf("%s: %d kernels, %d bytes", name, len(kept), len(cubin)))
	}
	text, err := json.Marshal(plan)
	if err != nil {
		return nil, nil, err
	}
	return plan, refused, os.WriteFile(filepath.Join(folder, "plan.json"), text, 0o666)
}

// assemble assembles cases into a cubin, without the cases that ptxas rejects, which it adds to
// refused.
func assemble(ctx context.Context, tool *ptxas.Tool, s *Setting, cases []Case,
	version, target string, refused map[string]string) ([]byte, []string, error) {
	for {
		var text strings.Builder
		fmt.Fprintf(&text, ".version %s\n.target %s\n.address_size 64\n", version, target)
		var kept, ids []string
		var first []int // first line of each kernel
		for i := range cases {
			c := &cases[i]
			if refused[c.ID] != "" {
				continue
			}
			first = append(first, strings.Count(text.String(), "\n")+1)
			text.WriteString(c.Kernel(fmt.Sprintf("k%d", len(kept)), s.Inputs))
			kept, ids = append(kept, c.ID), append(ids, c.ID)
		}
		options := ptxas.Options{Target: target, Flags: []string{"-O1"}}
		cubin, verdict, err := tool.Assemble(ctx, text.String(), options)
		if err != nil {
			return nil, nil, err
		}
		if cubin != nil {
			return cubin, kept, nil
		}
		before := len(refused)
		for _, m := range verdict.Messages {
			if m.Line == 0 || m.Level < ptxas.Error {
				continue
			}
			at := 0
			for at+1 < len(first) && first[at+1] <= m.Line {
				at++
			}
			refused[ids[at]] = m.Text
		}
		if len(refused) == before {
			return nil, nil, fmt.Errorf("ptxas refuses a module: %v", verdict.Messages)
		}
	}
}
