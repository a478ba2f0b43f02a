// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package lower

import "github.com/ptxdsl/ptxdsl/ir"

// A targetUse records which instructions use a list of targets or a prototype, and where they are.
type targetUse struct {
	count int
	first *ir.Instr
	scope *sequence // call sequence around all uses, or nil
}

// placedTargets determines where the target lists and prototypes of f are declared: before the
// instruction that they preceded, or before the only instruction that uses them. All other lists
// are declared at the start of the function. A list from inside the scope of a call that is also
// used outside the scope is declared before the scope.
func placedTargets(f *ir.Func, calls map[*ir.Block][]sequence) map[*ir.Instr][]*ir.Targets {
	if len(f.Targets) == 0 {
		return nil
	}
	marks := make(map[*ir.Instr]bool, len(f.Targets))
	for _, t := range f.Targets {
		if t.Before != nil {
			marks[t.Before] = true
		}
	}
	uses := make(map[*ir.Targets]*targetUse, len(f.Targets))
	// marks for which no list has been used before
	passed := make(map[*ir.Instr]bool, len(marks))
	scopes := make(map[*ir.Instr]*sequence) // call sequence that contains each mark
	entries := make(map[*sequence]*ir.Instr)
	early := make(map[*ir.Targets]bool) // lists that are used before their mark
	for _, b := range f.Blocks {
		list := calls[b]
		for i, in := range b.Instrs {
			for len(list) > 0 && list[0].last < i {
				list = list[1:]
			}
			var scope *sequence
			if len(list) > 0 && list[0].first <= i {
				scope = &list[0]
				if scope.first == i {
					entries[scope] = in
				}
			}
			if marks[in] {
				passed[in], scopes[in] = true, scope
			}
			for j := range in.Args {
				t, ok := in.Args[j].Ref().(*ir.Targets)
				if !ok {
					continue
				}
				u := uses[t]
				if u == nil {
					u = &targetUse{first: in, scope: scope}
					uses[t] = u
				}
				u.count++
				if u.scope != scope {
					u.scope = nil
				}
				early[t] = early[t] || !passed[t.Before]
			}
		}
	}
	placed := make(map[*ir.Instr][]*ir.Targets)
	for _, t := range f.Targets {
		u := uses[t]
		switch {
		case t.Ahead:
		case passed[t.Before] && !early[t]:
			at := t.Before
			if s := scopes[at]; s != nil && (u == nil || u.scope != s) {
				at = entries[s]
			}
			placed[at] = append(placed[at], t)
		case u != nil && u.count == 1:
			placed[u.first] = append(placed[u.first], t)
		}
	}
	return placed
}
