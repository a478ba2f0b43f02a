// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptxas

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/ptxdsl/ptxdsl/diag"
)

// Options control how a module is assembled. The zero value is for a whole program.
type Options struct {
	Target      string   // target such as sm_90a; "" for the target of the module
	Relocatable bool     // -c: calls to functions of other modules are resolved by the linker
	Flags       []string // further options, such as -O1 or -v
}

// Parse checks a whole module without generating code. Line numbers in the verdict are those of the
// module.
func (t *Tool) Parse(ctx context.Context, text string, o Options) (Verdict, error) {
	_, v, err := t.module(ctx, text, o, false)
	return v, err
}

// Assemble assembles a module and returns the cubin. If ptxas rejects the module, the cubin is
// nil and the verdict has the messages.
func (t *Tool) Assemble(ctx context.Context, text string, o Options) ([]byte, Verdict, error) {
	return t.module(ctx, text, o, true)
}

// JudgeModules parses many modules, each in its own process, and returns the verdicts in order.
func (t *Tool) JudgeModules(ctx context.Context, texts []string, o Options) ([]Verdict, error) {
	verdicts := make([]Verdict, len(texts))
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	work := make(chan int)
	var group sync.WaitGroup
	for range min(t.workers(), len(texts)) {
		group.Go(func() {
			for i := range work {
				if ctx.Err() != nil {
					continue
				}
				var err error
				if verdicts[i], err = t.Parse(ctx, texts[i], o); err != nil {
					cancel(err)
				}
			}
		})
	}
	for i := range texts {
		work <- i
	}
	close(work)
	group.Wait()
	return verdicts, context.Cause(ctx)
}

// Diagnostics returns the messages of a verdict as findings about a file.
func (v Verdict) Diagnostics(name string) diag.List { return Diagnostics(v.Messages, name) }

func (t *Tool) module(ctx context.Context, text string, o Options,
	generate bool) ([]byte, Verdict, error) {
	arch, err := t.archFor(ctx, text, o.Target, generate)
	if err != nil {
		return nil, Verdict{}, err
	}
	folder, done, err := scratch()
	if err != nil {
		return nil, Verdict{}, err
	}
	defer done()
	if err := os.WriteFile(filepath.Join(folder, "m.ptx"), []byte(text), 0o600); err != nil {
		return nil, Verdict{}, err
	}
	output := os.DevNull
	if generate {
		output = "m.cubin"
	}
	args := []string{"-arch", arch, "-o", output}
	if o.Relocatable {
		args = append(args, "-c")
	}
	args = append(append(args, o.Flags...), "m.ptx")
	r, err := t.run(ctx, t.limit(), folder, args...)
	if err != nil {
		return nil, Verdict{}, err
	}
	v := Verdict{Messages: r.messages}
	for i := range v.Messages {
		v.Messages[i].File = ""
	}
	switch {
	case r.crash != "":
		v.Status = Crashed
		v.Messages = append(v.Messages, Message{Level: Fatal, Text: r.crash})
	case r.code == 0 && worst(r.messages) < Error:
		if generate {
			cubin, err := os.ReadFile(filepath.Join(folder, output))
			return cubin, v, err
		}
	case syntaxError(r.messages):
		v.Status = Malformed
	default:
		v.Status = Rejected
	}
	return nil, v, nil
}

// syntaxError reports whether ptxas stopped before the end of a file because of a syntax error.
func syntaxError(list []Message) bool {
	for _, m := range list {
		if m.Level == Fatal && m.Line > 0 {
			return true
		}
	}
	return false
}

// archFor returns the -arch option for a module: that of the given target, or of the module's
// .target line. If the module has no known target, archFor returns any architecture, and ptxas
// then reports the error.
func (t *Tool) archFor(ctx context.Context, text, target string, generate bool) (string, error) {
	name := target
	if name == "" {
		name = targetOf(text)
	}
	chosen, ok, err := t.target(ctx, name)
	switch {
	case err != nil:
		return "", err
	case ok:
	case target != "":
		_, err := t.Target(ctx, target)
		return "", err
	default:
		f, err := t.readFacts(ctx)
		if err != nil {
			return "", err
		}
		if chosen, err = t.Target(ctx, "sm_"+f.archs[len(f.archs)-1]); err != nil {
			return "", err
		}
	}
	if generate {
		return chosen.Real, nil
	}
	return chosen.Arch, nil
}

// targetOf returns the sm_ word of the module's .target directive. It parses as little PTX as
// possible, so that a check with ptxas does not depend on the parser under test.
func targetOf(text string) string {
	for text != "" {
		switch {
		case strings.HasPrefix(text, "//"):
			_, text, _ = strings.Cut(text, "\n")
		case strings.HasPrefix(text, "/*"):
			_, text, _ = strings.Cut(text, "*/")
		case strings.HasPrefix(text, ".target"):
			for word := range strings.FieldsFuncSeq(text[len(".target"):], func(r rune) bool {
				return strings.ContainsRune(" \t\r\n,/*", r)
			}) {
				if strings.HasPrefix(word, "sm_") {
					return word
				}
				if strings.HasPrefix(word, ".") {
					break
				}
			}
			return ""
		default:
			text = text[1:]
		}
	}
	return ""
}
