// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"slices"
	"strings"
	"sync"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
)

// exclusions maps the instruction kinds that are not emulated to the reasons. The kinds of
// excludedFamilies are not listed.
var exclusions = map[isa.Kind]string{
	isa.KindSpcompress:   "how it chooses and packs elements was not verified",
	isa.KindSpdecompress: "how its indices are packed was not verified",

	isa.KindTcgen05LdSpcompress:           "how it chooses and packs elements was not verified",
	isa.KindTcgen05LdRedSpcompress:        "how it chooses and packs elements was not verified",
	isa.KindTensormapQueryAllocClassLarge: "its meaning is not documented",
}

// excludedFamilies maps the families of instructions that are not emulated to the reasons.
var excludedFamilies = map[string]string{
	"texture": "textures are not emulated",
	"surface": "surfaces are not emulated",
	"fabric":  "the fabric between devices is not emulated",
}

// excludedKinds maps all kinds that are not emulated to the reasons.
var excludedKinds = sync.OnceValue(func() map[isa.Kind]string {
	all := make(map[isa.Kind]string)
	for k, why := range exclusions {
		all[k] = why
	}
	for ins := range isa.Standard().All() {
		if why := excludedFamilies[ins.Family]; why != "" {
			for i := range ins.Forms {
				all[ins.Forms[i].Kind] = why
			}
		}
	}
	return all
})

// excluded returns the reason why instructions of a kind are not emulated, or "" if they are
// emulated.
func excluded(k isa.Kind) string { return excludedKinds()[k] }

// Emulates reports whether the emulator runs instructions of a form. If it runs only some types or
// modifiers of the form, the first one decides.
func Emulates(form *isa.Form) bool {
	if excluded(form.Kind) != "" || undocumented(form) || ofTextures(form) {
		return false
	}
	e := coveredEntries()[form.Kind]
	if e.make != nil {
		return !slices.ContainsFunc(form.Slots, func(s isa.Slot) bool {
			return s.Required &&
				!slices.ContainsFunc(s.Values, func(v isa.Value) bool {
					return !slices.Contains(e.without, v.Mod)
				})
		})
	}
	emulated := false
	spellings(form, func(mods []isa.Mod) bool {
		_, err := eval.Of(form.Kind, mods)
		emulated = err == nil
		return emulated
	})
	return emulated
}

// Excluded returns why the emulator does not run a form, or "" if it runs it or if no reason is
// recorded.
func Excluded(form *isa.Form) string {
	switch {
	case Emulates(form):
		return ""
	case excluded(form.Kind) != "":
		return excluded(form.Kind)
	case undocumented(form):
		return "not documented: " + form.Lenient
	case ofTextures(form):
		return "textures and surfaces are not emulated"
	}
	for _, s := range form.Slots {
		for _, v := range s.Values {
			if s.Required && slices.Contains(coveredEntries()[form.Kind].without, v.Mod) {
				return v.Mod.String() + " is not emulated"
			}
		}
	}
	return ""
}

// coveredEntries holds the decoder table, which Emulates consults.
var coveredEntries = sync.OnceValue(newEntries)

// undocumented reports whether ptxas accepts a form whose meaning is not documented.
func undocumented(form *isa.Form) bool {
	if form.Lenient == "" {
		return false
	}
	for _, m := range meaningless {
		if strings.Contains(form.Lenient, m) {
			return true
		}
	}
	return false
}

// ofTextures reports whether a form is a mov of the address of a texture, a sampler or a surface.
func ofTextures(form *isa.Form) bool {
	for i := range form.Operands {
		for _, k := range form.Operands[i].Kinds {
			if k.Word == isa.KTexref || k.Word == isa.KSurfref {
				return true
			}
		}
	}
	return false
}

// meaningless lists phrases in the notes of forms that ptxas accepts although their meaning is not
// documented.
var meaningless = []string{
	"without the modifier that requires it",         // scale factors of cvt
	"one register is accepted in place of a vector", // of st.async
}

// maxSpellings limits the number of combinations of modifiers that spellings visits for a form.
const maxSpellings = 400

// spellings calls visit for combinations of the required modifiers of a form, until visit returns
// true.
func spellings(form *isa.Form, visit func(mods []isa.Mod) bool) {
	slots := make([]isa.Mod, len(form.Slots))
	tried := 0
	var fill func(i int) bool
	fill = func(i int) bool {
		if i == len(slots) {
			tried++
			if !form.Allows(slots) {
				return tried >= maxSpellings
			}
			return visit(slots) || tried >= maxSpellings
		}
		s := &form.Slots[i]
		if !s.Required {
			slots[i] = isa.NoMod
			return fill(i + 1)
		}
		for _, v := range s.Values {
			if slots[i] = v.Mod; fill(i + 1) {
				return true
			}
		}
		return false
	}
	fill(0)
}
