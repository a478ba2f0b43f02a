// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptxas

import (
	"context"
	"regexp"
	"slices"
	"strconv"
)

// A Usage is the resource usage of a kernel, as ptxas -v reports it.
type Usage struct {
	Registers               int
	SpillStores, SpillLoads int // bytes
}

var (
	usageEntry  = regexp.MustCompile(`^Compiling entry function '([^']+)' for '([^']+)'`)
	usageSpills = regexp.MustCompile(`(\d+) bytes spill stores, (\d+) bytes spill loads`)
	usageCount  = regexp.MustCompile(`^Used (\d+) registers`)
)

// Usage assembles a module and returns the resource usage of its kernels, by name. If ptxas
// rejects the module, the map is empty and the verdict has the messages.
func (t *Tool) Usage(ctx context.Context, text string,
	o Options) (map[string]Usage, Verdict, error) {
	o.Flags = append(slices.Clone(o.Flags), "-v")
	_, v, err := t.Assemble(ctx, text, o)
	if err != nil {
		return nil, v, err
	}
	list := make(map[string]Usage)
	kernel, usage := "", Usage{}
	for _, m := range v.Messages {
		if found := usageEntry.FindStringSubmatch(m.Text); found != nil {
			kernel, usage = found[1], Usage{}
		}
		if found := usageSpills.FindStringSubmatch(m.Text); found != nil {
			usage.SpillStores, _ = strconv.Atoi(found[1])
			usage.SpillLoads, _ = strconv.Atoi(found[2])
		}
		if found := usageCount.FindStringSubmatch(m.Text); found != nil && kernel != "" {
			usage.Registers, _ = strconv.Atoi(found[1])
			list[kernel] = usage
			kernel = ""
		}
	}
	return list, v, nil
}
