// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// merged returns options whose integers are all in Options.Integers. A launch that has only
// integers is dropped, so that its other parts are derived and varied.
func (o Options) merged() Options {
	if o.Launch == nil {
		return o
	}
	l, all := *o.Launch, maps.Clone(o.Launch.Integers)
	if all == nil {
		all = make(map[string]uint64)
	}
	maps.Copy(all, o.Integers)
	l.Integers, o.Integers, o.Launch = nil, all, &l
	if l.Grid == (Launch{}).Grid && l.Block == l.Grid && l.Cluster == l.Grid && l.Shared == 0 &&
		l.Args == nil {
		o.Launch = nil
	}
	return o
}

// settable returns an error if a name in integers is not an integer parameter of any kernel, or if
// a kernel has another parameter of that name.
func settable(all []*kernel, integers map[string]uint64) error {
	for _, name := range slices.Sorted(maps.Keys(integers)) {
		found := false
		for _, k := range all {
			known, why := k.settable(name, integers[name])
			if why != "" {
				return fmt.Errorf("parameter %s of kernel %s in %s cannot be set: %s", name,
					k.fn.Name, k.name, why)
			}
			found = found || known
		}
		if !found && len(all) > 0 {
			return fmt.Errorf(
				"parameter %s cannot be set: no kernel in %s has a parameter of this name",
				name, all[0].name)
		}
	}
	return nil
}

// settable reports whether the kernel has a parameter of a name. If the parameter cannot have the
// value n, why is the reason.
func (k *kernel) settable(name string, n uint64) (known bool, why string) {
	parameter, _, _ := strings.Cut(name, "[")
	for _, p := range k.params {
		if p.v.Name != parameter && k.shortName(p) != parameter {
			continue
		}
		if p.kind != paramBytes {
			if name != parameter {
				return false, "the parameter is not a structure"
			}
			return true, p.whyNotSet(n)
		}
		var fields []string
		for _, f := range p.fields {
			if slices.Contains(k.names(f), name) {
				return true, f.whyNotSet(n)
			}
			if f.kind == paramCount {
				fields = append(fields, k.shortName(f))
			}
		}
		if len(fields) == 0 {
			return false, "the kernel reads no integer of the structure at a constant offset"
		}
		return false, "the integers that the kernel reads in the structure are " +
			strings.Join(fields, ", ")
	}
	return false, ""
}

// whyNotSet returns the reason why a parameter cannot have the value n, or "".
func (p *param) whyNotSet(n uint64) string {
	switch p.kind {
	case paramPointer:
		return "the kernel uses it as an address; only integers can be set"
	case paramFloat:
		return "it is a floating-point number; only integers can be set"
	case paramMap:
		return "it is a tensor map; only integers can be set"
	}
	if !isExtension(binary.LittleEndian.AppendUint64(nil, n), int(p.size)) {
		return fmt.Sprintf("%d does not fit %s", int64(n), counted(int(p.size), "byte"))
	}
	return ""
}

// names returns the names of a parameter in Options.Integers.
func (k *kernel) names(p *param) []string {
	long := p.v.Name
	if isStructure(p.v) {
		long = fmt.Sprintf("%s[%d]", p.v.Name, p.field.at)
	}
	return []string{k.shortName(p), long}
}

// given returns the value that the options give to an integer parameter.
func (k *kernel) given(p *param) (n uint64, ok bool) {
	for _, name := range k.names(p) {
		if n, ok = k.options.Integers[name]; ok {
			return n, true
		}
	}
	return 0, false
}
