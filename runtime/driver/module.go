// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package driver

import (
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/runtime/device"
)

// Load loads a module. The driver can assemble PTX itself and has a cache. The cache of this
// package is faster. Its modules are assembled by ptxas, if ptxas is at least as new as the
// driver's assembler, so that the code is never slower. PTX that is newer than the driver always
// needs ptxas, whose output also runs on older drivers.
//
// The driver's linker could also return the assembled code, but it assembles relocatable code,
// which uses more registers and is slower.
func (c *Context) Load(image device.Image) (device.Loaded, error) {
	if image.Cubin != nil {
		module, err := c.load(image.Cubin, nil)
		return device.Loaded{Module: module}, err
	}
	v, ok := versionOf(image.PTX)
	if !ok {
		return device.Loaded{}, fmt.Errorf("the text has no .version, which must come first in PTX")
	}
	if v.isNewerThan(c.library) {
		return c.loadAssembled(image, v)
	}
	if image.Cache != "" {
		if loaded, ok := c.loadCached(image); ok {
			return loaded, nil
		}
	}
	log := newLog(image.Debug)
	module, err := c.load(append([]byte(image.PTX), 0), log)
	if err != nil {
		return c.explainRejection(image, v, log.text(), err)
	}
	return device.Loaded{Module: module, Assembler: "the driver, CUDA " + c.library.Version()}, nil
}

// explainRejection converts the failure of the driver's assembler to an error with source lines.
// If the PTX version is too new for the driver, it loads the module with ptxas instead.
func (c *Context) explainRejection(image device.Image, v version, log string,
	err error) (device.Loaded, error) {
	var f *device.Fault
	if !errors.As(err, &f) || f.Kind == device.ErrLost {
		return device.Loaded{}, err
	}
	if f.Code == errUnsupported {
		return c.loadAssembled(image, v)
	}
	if findings := findings(image, log); findings.Errors() > 0 || f.Code == errInvalidPTX {
		return device.Loaded{},
			&device.Rejection{Module: image.Name, Findings: findings, Log: log, Cause: err}
	}
	return device.Loaded{}, err
}

// loadCached loads the cubin of a module from the cache, or assembles the module with ptxas and
// caches the cubin. It returns false if the driver must assemble the module.
func (c *Context) loadCached(image device.Image) (device.Loaded, bool) {
	tool, err := findAssembler()
	if err != nil {
		return device.Loaded{}, false
	}
	store := c.store(image, tool.path)
	cubin, kept := store.load()
	if !kept {
		if tool.isOlder(c.library.Version()) {
			return device.Loaded{}, false
		}
		// The driver will also reject the module, and its message is shown.
		if cubin, _, err = tool.assemble(image, c.info.Capability); err != nil {
			return device.Loaded{}, false
		}
		store.save(cubin)
	}
	module, err := c.load(cubin, nil)
	if err != nil {
		store.drop()
		return device.Loaded{}, false
	}
	return device.Loaded{Module: module, Assembler: tool.path, Cached: kept}, true
}

// loadAssembled assembles PTX that is newer than the driver with ptxas, and loads the cubin.
func (c *Context) loadAssembled(image device.Image, v version) (device.Loaded, error) {
	old := fmt.Errorf("%w: PTX %s requires a driver for CUDA %s, but this one is for CUDA %s",
		device.ErrTooOld, v, v.requiredCUDA(), c.library.Version())
	tool, err := findAssembler()
	if err != nil {
		return device.Loaded{},
			fmt.Errorf("%w; ptxas of CUDA %s could compile it instead, but %w", old,
				v.requiredCUDA(), err)
	}
	store := c.store(image, tool.path)
	cubin, kept := store.load()
	if !kept {
		var log string
		if cubin, log, err = tool.assemble(image, c.info.Capability); err != nil {
			return device.Loaded{},
				&device.Rejection{Module: image.Name, Findings: findings(image, log), Log: log,
					Cause: fmt.Errorf("%w (%w)", err, old)}
		}
		store.save(cubin)
	}
	module, err := c.load(cubin, nil)
	return device.Loaded{Module: module, Assembler: tool.path, Cached: kept}, err
}

// A log receives the messages of the driver's assembler.
type log struct {
	options []uint32
	values  []uintptr
	errors  []byte
}

// Values of CUjit_option.
const (
	jitErrorLog     = 5
	jitErrorLogSize = 6
	jitLineInfo     = 13
)

func newLog(lines bool) *log {
	l := &log{errors: onHeap(64 << 10)}
	l.options = []uint32{jitErrorLog, jitErrorLogSize}
	l.values = []uintptr{uintptr(unsafe.Pointer(&l.errors[0])), uintptr(len(l.errors))}
	if lines {
		l.options, l.values = append(l.options, jitLineInfo), append(l.values, 1)
	}
	return l
}

// onHeap returns a slice on the heap, which does not move with the stack.
//
//go:noinline
func onHeap(n int) []byte { return make([]byte, n) }

func (l *log) text() string { return cString(l.errors) }

// load passes a cubin, or zero-terminated PTX, to the driver.
func (c *Context) load(image []byte, l *log) (device.Handle, error) {
	if len(image) == 0 {
		return 0, errors.New("the module is empty")
	}
	if l == nil {
		l = newLog(false)
	}
	var module uint64
	err := c.call(cuModuleLoadDataEx, uintptr(unsafe.Pointer(&module)),
		uintptr(unsafe.Pointer(&image[0])), uintptr(len(l.options)),
		uintptr(unsafe.Pointer(&l.options[0])), uintptr(unsafe.Pointer(&l.values[0])))
	runtime.KeepAlive(l)
	return device.Handle(module), err
}

// Unload unloads a module.
func (c *Context) Unload(m device.Handle) error { return c.call(cuModuleUnload, uintptr(m)) }

// Variable returns the address and size of a module variable.
func (c *Context) Variable(m device.Handle, name string) (device.Address, int64, error) {
	var a, size uint64
	word := append([]byte(name), 0)
	err := c.call(cuModuleGetGlobal, uintptr(unsafe.Pointer(&a)), uintptr(unsafe.Pointer(&size)),
		uintptr(m), uintptr(unsafe.Pointer(&word[0])))
	return device.Address(a), int64(size), err
}

// findings returns the messages in an assembler's log that refer to lines of the PTX. They have
// no columns, so each refers to a whole line.
func findings(image device.Image, text string) diag.List {
	var list diag.List
	line := regexp.MustCompile(`(?m)line (\d+); (error|fatal|warning)\s*: (.*?)\s*$`)
	for _, m := range line.FindAllStringSubmatch(text, -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			continue
		}
		d := diag.Diagnostic{Place: diag.Place{File: image.Name, Line: n, Column: 1},
			Rule: "driver", Severity: diag.Error, Message: m[3]}
		if source, ok := diag.Line(image.PTX, n); ok {
			d.Place.Column = len(source) - len(strings.TrimLeft(source, " \t")) + 1
			d.Place.EndLine, d.Place.EndColumn = n, len(strings.TrimRight(source, " \t\r"))+1
		}
		if m[2] == "warning" {
			d.Severity = diag.Review
		}
		again := slices.ContainsFunc(list, func(e diag.Diagnostic) bool {
			return e.Place == d.Place && e.Message == d.Message
		})
		if !again {
			list = append(list, d)
		}
	}
	return list
}
