// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/runtime/device"
)

// A Source is a module that can be loaded: a *dsl.Module, or PTX.
type Source interface {
	Text() (string, error)
}

// PTX is the text of a module.
type PTX string

// Text returns the text.
func (p PTX) Text() (string, error) { return string(p), nil }

// Optional methods of a Source, for facts that the text does not contain. A *dsl.Module has all of
// them.
type (
	named  interface{ Name() string }
	placed interface {
		Place(line int) (diag.Place, []diag.Place, bool)
	}
	dynamic interface {
		DynamicShared(kernel string) (bytes int, ok bool)
	}
	elementary interface {
		Element(kernel, param string) (ptx string, ok bool)
	}
	boxed interface {
		Box(kernel, param string) (ptx string, sizes []int, pixels, swizzle int, ok bool)
	}
)

// A Module is a loaded module.
type Module struct {
	*resource
	loaded  device.Loaded
	name    string
	source  Source
	entries map[string]*signature // nil if the text is unknown

	mutex   sync.Mutex
	kernels map[string]*Kernel
}

// A LoadOption changes how a module is loaded.
type LoadOption func(*device.Image)

// Name sets the name of a module for messages, if only its text is known.
func Name(name string) LoadOption { return func(i *device.Image) { i.Name = name } }

// LineInfo keeps source lines for profilers and debuggers.
func LineInfo() LoadOption { return func(i *device.Image) { i.Debug = true } }

// Cache sets the directory that caches modules assembled by ptxas. It is used if there is a ptxas
// at least as new as the device's own assembler. The default is the directory ptxdsl in the user's
// cache directory. With "", or without such a ptxas, the device assembles the module.
func Cache(folder string) LoadOption { return func(i *device.Image) { i.Cache = folder } }

// Load loads a module. If it cannot be assembled, the error shows the offending lines.
func (d *Device) Load(source Source, options ...LoadOption) (*Module, error) {
	if err := d.usable(); err != nil {
		return nil, err
	}
	if source == nil {
		return nil, argument("cannot load a nil module")
	}
	text, err := source.Text()
	if err != nil {
		return nil, err
	}
	image := device.Image{Name: "module.ptx", PTX: text}
	if n, ok := source.(named); ok {
		image.Name = n.Name()
	}
	if folder, err := os.UserCacheDir(); err == nil {
		image.Cache = filepath.Join(folder, "ptxdsl")
	}
	for _, option := range options {
		option(&image)
	}
	entries, target := signatures(image.Name, text)
	if problem := unfit(target, d.info); problem != "" {
		return nil, argument("load of %s: %s", image.Name, problem)
	}
	loaded, err := d.back.Load(image)
	var r *device.Rejection
	if errors.As(err, &r) {
		return nil, &LoadError{Module: image.Name, Findings: locate(r.Findings, source), Log: r.Log,
			Err: r.Cause, text: text}
	}
	if err != nil {
		return nil, fmt.Errorf("load of %s: %w", image.Name, err)
	}
	return d.module(loaded, &Module{name: image.Name, source: source, entries: entries})
}

// LoadCubin loads an assembled module. The parameters of its kernels have sizes but no types
// or names.
func (d *Device) LoadCubin(name string, cubin []byte) (*Module, error) {
	if err := d.usable(); err != nil {
		return nil, err
	}
	if len(cubin) == 0 {
		return nil, argument("load of %s: the cubin is empty", name)
	}
	loaded, err := d.back.Load(device.Image{Name: name, Cubin: slices.Clone(cubin)})
	if err != nil {
		return nil, fmt.Errorf("load of %s: %w", name, err)
	}
	return d.module(loaded, &Module{name: name})
}

func (d *Device) module(loaded device.Loaded, m *Module) (*Module, error) {
	m.resource, m.loaded, m.kernels = new(resource), loaded, make(map[string]*Kernel)
	return m, d.keep(m.resource, "module "+m.name,
		func() error { return d.back.Unload(loaded.Module) })
}

// Assembler returns the name of the assembler of the module, and whether the module came from the
// cache. The name is "" for a cubin.
func (m *Module) Assembler() (name string, cached bool) {
	return m.loaded.Assembler, m.loaded.Cached
}

// Kernels returns the names of the module's kernels in alphabetical order, or nil for a cubin.
func (m *Module) Kernels() []string {
	var names []string
	for name := range m.entries {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Variable returns a variable of the module in global or constant memory, as a buffer with
// elements of type T.
func Variable[T Element](m *Module, name string) (*Buffer[T], error) {
	if m == nil {
		return nil, argument("a nil module")
	}
	if err := m.usable(nil); err != nil {
		return nil, err
	}
	at, bytes, err := m.dev.back.Variable(m.loaded.Module, name)
	if err != nil {
		return nil, fmt.Errorf("variable %s of %s: %w", name, m.name, err)
	}
	b := view[T](m.resource, at, bytes)
	if b.count == 0 || b.bytes() != bytes {
		return nil, argument("variable %s of %s has %d bytes, which is not a multiple of the "+
			"size of %s", name, m.name, bytes, b.word)
	}
	return b, nil
}

// A LoadError describes a module that could not be assembled.
type LoadError struct {
	Module   string
	Findings diag.List // at lines of the Go source if known, otherwise of the PTX
	Log      string    // output of the assembler
	Err      error
	text     string
}

// Error returns all findings with their lines.
func (e *LoadError) Error() string {
	if len(e.Findings) == 0 {
		return fmt.Sprintf("load of %s: %v\n%s", e.Module, e.Err, strings.TrimSpace(e.Log))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "load of %s: %v\n", e.Module, e.Err)
	source := func(file string) (string, bool) {
		if file == e.Module {
			return e.text, true
		}
		text, err := os.ReadFile(file)
		return string(text), err == nil
	}
	_ = diag.Printer{Source: source}.Print(&b, e.Findings) // a strings.Builder never fails
	return strings.TrimSpace(b.String())
}

// Unwrap returns the error of the device.
func (e *LoadError) Unwrap() error { return e.Err }

// locate moves findings to the Go lines of their PTX, and adds the PTX lines as related places.
func locate(list diag.List, source Source) diag.List {
	p, ok := source.(placed)
	if !ok {
		return list
	}
	out := slices.Clone(list)
	for i := range out {
		at, from, ok := p.Place(out[i].Place.Line)
		if !ok {
			continue
		}
		out[i].Related = append(slices.Clone(out[i].Related),
			diag.Related{Place: out[i].Place, Message: "in the PTX"})
		out[i].Place, out[i].From = at, from
	}
	return out
}
