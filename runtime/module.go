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

// PTX is the text of a module. It is a Source.
type PTX string

// Text returns p.
func (p PTX) Text() (string, error) { return string(p), nil }

// Optional methods of a Source, which return properties that the text does not contain. A
// *dsl.Module has all of them.
type (
	namedSource  interface{ Name() string }
	placedSource interface {
		Place(line int) (diag.Place, []diag.Place, bool)
	}
	mappedSource interface {
		Places(text string) func(line int) (diag.Place, []diag.Place, bool)
	}
	dynamicSource interface {
		DynamicShared(kernel string) (bytes int, ok bool)
	}
	elementSource interface {
		Element(kernel, param string) (ptx string, ok bool)
	}
	boxSource interface {
		Box(kernel, param string) (ptx string, sizes []int, pixels, swizzle int, ok bool)
	}
)

// A Module is a module that is loaded on a device.
type Module struct {
	*resource
	loaded  device.Loaded
	name    string
	source  Source
	entries map[string]*signature // signatures by kernel name; nil if the text is not known

	mutex   sync.Mutex
	kernels map[string]*Kernel
}

// A LoadOption changes how a module is loaded.
type LoadOption func(*device.Image)

// Name sets the name that messages use for a module of which only the text is known.
func Name(name string) LoadOption { return func(i *device.Image) { i.Name = name } }

// LineInfo keeps source line numbers for profilers and debuggers.
func LineInfo() LoadOption { return func(i *device.Image) { i.Debug = true } }

// Cache sets the directory that caches modules assembled by ptxas. It is used if there is a ptxas
// at least as new as the device's own assembler. The default is the directory ptxdsl in the user's
// cache directory. With "", or without such a ptxas, the device assembles the module.
func Cache(folder string) LoadOption { return func(i *device.Image) { i.Cache = folder } }

// Load loads a module. If it cannot be assembled, the error shows the offending lines.
func (d *Device) Load(source Source, options ...LoadOption) (*Module, error) {
	if err := d.checkOpen(); err != nil {
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
	if n, ok := source.(namedSource); ok {
		image.Name = n.Name()
	}
	if p, ok := source.(mappedSource); ok {
		image.Place = p.Places(text)
	}
	if folder, err := os.UserCacheDir(); err == nil {
		image.Cache = filepath.Join(folder, "ptxdsl")
	}
	for _, option := range options {
		option(&image)
	}
	entries, target := signatures(image.Name, text)
	if problem := misfit(target, d.info); problem != "" {
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

// LoadCubin loads a module that is already assembled. The types and names of its kernels'
// parameters are not known, only their sizes.
func (d *Device) LoadCubin(name string, cubin []byte) (*Module, error) {
	if err := d.checkOpen(); err != nil {
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
	return m, d.addResource(m.resource, "module "+m.name,
		func() error { return d.back.Unload(loaded.Module) })
}

// Assembler returns the name of the assembler that assembled the module, or "" for a cubin, and
// whether the module came from the cache.
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
	if err := m.checkOpen(nil); err != nil {
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

// A LoadError is the error for a module that could not be assembled.
type LoadError struct {
	Module   string
	Findings diag.List // findings at lines of the Go source if it is known, otherwise of the PTX
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

// locate moves findings from lines of the PTX to the Go lines that emitted them, and adds the PTX
// lines as related positions.
func locate(list diag.List, source Source) diag.List {
	p, ok := source.(placedSource)
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
