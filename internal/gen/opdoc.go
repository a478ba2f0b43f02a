// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/ptxdsl/ptxdsl/internal/notation"
	"github.com/ptxdsl/ptxdsl/isa"
)

// An opEmitter generates the Go code of operations.
type opEmitter struct {
	words notation.Words
	names map[isa.Mod]string
}

// table generates the names of the instructions and their fixed modifiers, by index.
func (e *opEmitter) table(list []*operation) *jen.File {
	f := opFile()
	f.Comment("table lists the instructions by the number that the methods of PTX use.")
	f.Var().Id("table").Op("=").Index(jen.Op("...")).Id("instruction").ValuesFunc(
		func(g *jen.Group) {
			for _, o := range list {
				g.Line().ValuesFunc(func(g *jen.Group) {
					g.Id("name").Op(":").Lit(o.name)
					if o.fixed != nil {
						g.Id("fixed").Op(":").Index().String().ValuesFunc(func(g *jen.Group) {
							for _, m := range o.fixed {
								g.Lit(e.words.Word(m))
							}
						})
					}
				})
			}
			g.Line()
		})
	return f
}

// operation generates the builder of one instruction: the method that starts it, the builder type,
// a method for each modifier, and Do.
func (e *opEmitter) operation(f *jen.File, o *operation, number int) {
	star := func() *jen.Statement { return jen.Op("*").Id(o.goName) }
	own := func() *jen.Statement { return jen.Id("i").Add(star()) }
	as := func(x jen.Code) *jen.Statement { return jen.Parens(star()).Call(x) }
	i := func() *jen.Statement { return jen.Parens(jen.Op("*").Id("ins")).Call(jen.Id("i")) }

	comment(f, e.beginning(o))
	f.Func().Params(jen.Id("p").Id("PTX")).Id(o.goName).Params().Add(star()).Block(
		jen.Return(as(jen.Id("p").Dot("begin").Call(jen.Lit(number)))))
	comment(f, []string{
		fmt.Sprintf("%s is the instruction %s under construction; see [PTX.%s].", o.goName, o.name,
			o.goName)})
	f.Type().Id(o.goName).Id("ins")
	shapes := e.shapes(o)
	if shapes != nil {
		comment(f, []string{
			"MNK adds the shape of the MMA, such as .m64n128k16. The shapes are " +
				strings.Join(shapes, " ") + "."})
		f.Func().Params(own()).Id("MNK").Params(jen.Id("m"), jen.Id("n"),
			jen.Id("k").Int()).Add(star()).Block(
			jen.Return(as(i().Dot("shape").Call(jen.Id("m"), jen.Id("n"), jen.Id("k")))))
	}
	for _, m := range o.mods {
		if slices.Contains(shapes, e.words.Word(m)) {
			continue
		}
		comment(f, e.modifier(o, m))
		f.Func().Params(own()).Id(e.names[m]).Params().Add(star()).Block(
			jen.Return(as(i().Dot("with").Call(jen.Lit(e.words.Word(m))))))
	}
	comment(f, []string{
		"Mod adds modifiers that are computed in Go, such as dsl.Mod(fmt.Sprintf(\"x%d\", n))."})
	f.Func().Params(own()).Id("Mod").Params(jen.Id("words").Op("...").Qual(dslPath, "Mod")).Add(
		star()).Block(jen.Return(as(i().Dot("withAll").Call(jen.Id("words")))))

	names, more := o.operands()
	comment(f, e.operandDoc(o))
	var params, args []jen.Code
	for i, name := range names {
		p := jen.Id(name)
		if i == len(names)-1 {
			p = p.Any()
		}
		params, args = append(params, p), append(args, jen.Id(name))
	}
	call := i().Dot("do").Call(args...)
	if more {
		if len(names) == 0 {
			params = append(params, jen.Id("operands").Op("...").Any())
			call = i().Dot("do").Call(jen.Id("operands").Op("..."))
		} else {
			params = append(params, jen.Id("more").Op("...").Any())
			call = i().Dot("do").Call(
				jen.Append(jen.Index().Any().Values(args...), jen.Id("more").Op("...")).Op("..."))
		}
	}
	f.Func().Params(own()).Id("Do").Params(params...).Block(call)
}

// shapes returns the modifiers of o that give a matrix shape, if there are so many that kernels
// compute the shape.
func (e *opEmitter) shapes(o *operation) []string {
	const few = 32
	var out []string
	for _, m := range o.mods {
		if word := e.words.Word(m); product.MatchString(word) {
			out = append(out, word)
		}
	}
	if len(out) <= few {
		return nil
	}
	return out
}

// beginning returns the documentation of an instruction: its forms, and the versions and targets
// that support them.
func (e *opEmitter) beginning(o *operation) []string {
	var sections []string
	for _, f := range o.forms {
		if !slices.Contains(sections, f.Section) {
			sections = append(sections, f.Section)
		}
	}
	out := []string{
		fmt.Sprintf("%s starts the instruction %s: %s (%s).", o.goName, o.name, o.what,
			manual(sections)), ""}
	gates := make([]string, len(o.forms))
	for i, f := range o.forms {
		gates[i] = formGate(f)
	}
	same := !slices.ContainsFunc(gates, func(g string) bool { return g != gates[0] })
	seen := map[string]bool{}
	for i, f := range o.forms {
		line := "\t" + e.words.Syntax(f)
		var notes []string
		if !same && gates[i] != "" {
			notes = append(notes, gates[i])
		}
		if f.Lenient != "" {
			notes = append(notes, "not in the manual")
		}
		if notes != nil {
			line += "  // " + strings.Join(notes, "; ")
		}
		if !seen[line] {
			seen[line] = true
			out = append(out, line)
		}
	}
	if sets := e.sets(o); len(sets) > 0 {
		out = append(append(out, ""), sets...)
	}
	if same && gates[0] != "" {
		out = append(out, "", "It requires "+gates[0]+".")
	}
	if o.fixed != nil {
		words := make([]string, len(o.fixed))
		for i, m := range o.fixed {
			words[i] = e.words.Word(m)
		}
		out = append(out, "",
			"All forms have these modifiers, which may be omitted: "+strings.Join(words, " ")+".")
	}
	return out
}

// sets returns the documentation of the sets of modifiers that the forms use: one line per name
// with its values, except those of MNK.
func (e *opEmitter) sets(o *operation) []string {
	many := e.shapes(o)
	var names []string
	values := map[string][]isa.Value{}
	for _, f := range o.forms {
		for _, s := range f.Slots {
			if len(s.Values) == 1 || slices.Contains(many, e.words.Word(s.Values[0].Mod)) {
				continue
			}
			if values[s.Name] == nil {
				names = append(names, s.Name)
			}
			for _, v := range s.Values {
				if !slices.ContainsFunc(values[s.Name], func(w isa.Value) bool {
					return w.Mod == v.Mod
				}) {
					values[s.Name] = append(values[s.Name], v)
				}
			}
		}
	}
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = "\t" + name + " = " + e.words.Values(values[name])
	}
	return out
}

// manual formats references to sections of the PTX manual: version 9.1, or the version before the
// colon.
func manual(sections []string) string {
	byVersion := map[string][]string{}
	var versions []string
	for _, s := range sections {
		version, number, ok := strings.Cut(s, ":")
		if !ok {
			version, number = "9.1", s
		}
		if number == "" {
			continue
		}
		if byVersion[version] == nil {
			versions = append(versions, version)
		}
		if !slices.Contains(byVersion[version], number) {
			byVersion[version] = append(byVersion[version], number)
		}
	}
	slices.Sort(versions)
	words := make([]string, len(versions))
	for i, v := range versions {
		words[i] = fmt.Sprintf("PTX ISA %s, %s", v, strings.Join(byVersion[v], " and "))
	}
	return strings.Join(words, "; ")
}

// formGate formats all gates of a form.
func formGate(f *isa.Form) string {
	var parts []string
	for _, g := range f.Gates {
		parts = append(parts, g.String())
	}
	s := strings.Join(parts, ", and ")
	for _, g := range f.Gone {
		s = strings.TrimPrefix(s+", removed in "+g.String(), ", ")
	}
	return s
}

// modifier returns the documentation of a modifier's method: the alternatives to the modifier, and
// its gate.
func (e *opEmitter) modifier(o *operation, m isa.Mod) []string {
	const most = 8
	word := e.words.Word(m)
	var rivals []string
	var gates []string
	free := false
	for _, f := range o.forms {
		for _, s := range f.Slots {
			for _, v := range s.Values {
				if v.Mod != m {
					continue
				}
				if g := v.Gate.String(); len(v.Gate.Clauses) == 0 {
					free = true
				} else if !slices.Contains(gates, g) {
					gates = append(gates, g)
				}
				if rivals == nil && len(s.Values) > 1 && len(s.Values) <= most {
					for _, other := range s.Values {
						rivals = append(rivals, e.words.Word(other.Mod))
					}
				}
			}
		}
	}
	text := e.names[m] + " adds " + word
	if rivals != nil {
		text += ", one of " + strings.Join(rivals, " ")
	}
	if !free {
		text += ". It requires " + strings.Join(gates, "; in other forms ")
	}
	return []string{text + "."}
}

// operandDoc returns the documentation of the operands, one line per name.
func (e *opEmitter) operandDoc(o *operation) []string {
	var names []string
	texts := map[string][]string{}
	for _, f := range o.forms {
		for _, l := range e.words.Lines(f) {
			if texts[l.Name] == nil {
				names = append(names, l.Name)
			}
			if !slices.Contains(texts[l.Name], l.Text) {
				texts[l.Name] = append(texts[l.Name], l.Text)
			}
		}
	}
	if names == nil {
		return []string{"Do appends the instruction. It has no operands."}
	}
	out := []string{"Do appends the instruction. Its operands depend on the form; see [PTX." +
		o.goName + "]:"}
	for _, name := range names {
		const most = 4
		list := texts[name]
		text := strings.Join(list[:min(most, len(list))], "; or ")
		if len(list) > most {
			text += "; or another, depending on the form"
		}
		out = append(out, "  - "+name+": "+text)
	}
	return out
}

// comment adds a doc comment with lines of at most 100 columns.
func comment(f *jen.File, lines []string) {
	for _, line := range lines {
		if strings.HasPrefix(line, "\t") || line == "" {
			f.Comment("//" + line)
			continue
		}
		text, next := "", ""
		if item, ok := strings.CutPrefix(line, "  - "); ok {
			text, next, line = "  - ", "    ", item
		}
		for i, word := range strings.Fields(line) {
			switch {
			case i == 0:
				text += word
			case len("// ")+len(text)+1+len(word) > 100:
				f.Comment("// " + text)
				text = next + word
			default:
				text += " " + word
			}
		}
		f.Comment("// " + text)
	}
}
