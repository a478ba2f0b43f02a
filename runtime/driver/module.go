// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package driver

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"strconv"
	"unsafe"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/internal/ptxas"
	"github.com/ptxdsl/ptxdsl/runtime/device"
)

// Load loads a module. PTX is assembled by the driver, or by ptxas where it is newer than the driver.
func (c *Context) Load(image device.Image) (device.Handle, error) {
	if image.Cubin != nil {
		return c.load(image.Cubin, nil)
	}
	major, minor, ok := version(image.PTX)
	if !ok {
		return 0, fmt.Errorf("%s: there is no .version in the text: PTX begins with it", image.Name)
	}
	if m, n := c.library.PTX(); major > m || major == m && minor > n {
		return c.assemble(image, major, minor)
	}
	store := c.store(image, "driver "+driverRelease())
	if cubin := store.load(); cubin != nil {
		if module, err := c.load(cubin, nil); err == nil {
			return module, nil
		}
		store.drop() // made by a driver that calls itself the same, and is not
	}
	if store.folder == "" {
		return c.rejected(image, func(log *log) (device.Handle, error) { return c.load(append([]byte(image.PTX), 0), log) })
	}
	return c.rejected(image, func(log *log) (device.Handle, error) {
		cubin, err := c.link(image, log)
		if err != nil {
			return 0, err
		}
		store.save(cubin)
		return c.load(cubin, nil)
	})
}

// rejected makes of a failure to assemble an error with lines. PTX that the driver says is too new is given to ptxas.
func (c *Context) rejected(image device.Image, load func(*log) (device.Handle, error)) (device.Handle, error) {
	log := newLog(image.Debug)
	module, err := load(log)
	var f *device.Fault
	if err == nil || !errors.As(err, &f) || f.Kind == device.ErrLost {
		return module, err
	}
	if f.Code == errUnsupported {
		major, minor, _ := version(image.PTX)
		return c.assemble(image, major, minor)
	}
	text := log.text()
	if findings := findings(image.Name, text); findings.Errors() > 0 || f.Code == errInvalidPTX {
		return 0, &device.Rejection{Module: image.Name, Findings: findings, Log: text, Cause: err}
	}
	return 0, err
}

// assemble loads PTX that is newer than the driver, by way of ptxas: what it makes runs on older drivers, too.
func (c *Context) assemble(image device.Image, major, minor int) (device.Handle, error) {
	old := fmt.Sprintf("PTX %d.%d needs a driver of CUDA %s, and this one is of CUDA %s", major, minor, Needs(major, minor), c.library.Version())
	tool, err := ptxas.Find()
	if err != nil {
		return 0, fmt.Errorf("%s: %w: %s; a ptxas of CUDA %s would do, too, but: %w", image.Name, device.ErrTooOld, old, Needs(major, minor), err)
	}
	release, err := tool.Release(context.Background())
	if err != nil {
		return 0, fmt.Errorf("%s: %w: %s: %w", image.Name, device.ErrTooOld, old, err)
	}
	store := c.store(image, "ptxas "+release)
	cubin := store.load()
	if cubin == nil {
		var o ptxas.Options
		if image.Debug {
			o.Flags = []string{"-lineinfo"}
		}
		var verdict ptxas.Verdict
		if cubin, verdict, err = tool.Assemble(context.Background(), image.PTX, o); err != nil {
			return 0, fmt.Errorf("%s: %w: %s: %w", image.Name, device.ErrTooOld, old, err)
		}
		if !verdict.OK() {
			return 0, &device.Rejection{Module: image.Name, Findings: verdict.Diagnostics(image.Name), Log: verdict.String(),
				Cause: fmt.Errorf("%s refused it (%s)", tool.Path, old)}
		}
		store.save(cubin)
	}
	return c.load(cubin, nil)
}

// A log takes what the driver says while it assembles.
type log struct {
	options []uint32
	values  []uintptr
	errors  []byte
}

// Options of the assembler in the driver, as it numbers them.
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

// onHeap makes a slice that does not move with the stack.
//
//go:noinline
func onHeap(n int) []byte { return make([]byte, n) }

func (l *log) text() string { return cString(l.errors) }

// load hands an image to the driver: a cubin, or PTX with a zero at its end.
func (c *Context) load(image []byte, l *log) (device.Handle, error) {
	if len(image) == 0 {
		return 0, errors.New("a module of no bytes")
	}
	if l == nil {
		l = newLog(false)
	}
	var module uint64
	err := c.call(cuModuleLoadDataEx, uintptr(unsafe.Pointer(&module)), uintptr(unsafe.Pointer(&image[0])), uintptr(len(l.options)),
		uintptr(unsafe.Pointer(&l.options[0])), uintptr(unsafe.Pointer(&l.values[0])))
	runtime.KeepAlive(l)
	return device.Handle(module), err
}

// link assembles PTX to a cubin.
func (c *Context) link(image device.Image, l *log) (cubin []byte, err error) {
	const ptx = 1
	var state uintptr
	err = c.call(cuLinkCreate, uintptr(len(l.options)), uintptr(unsafe.Pointer(&l.options[0])), uintptr(unsafe.Pointer(&l.values[0])), uintptr(unsafe.Pointer(&state)))
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := c.call(cuLinkDestroy, state); err == nil {
			err = e
		}
	}()
	text, name := append([]byte(image.PTX), 0), append([]byte(image.Name), 0)
	err = c.call(cuLinkAddData, state, ptx, uintptr(unsafe.Pointer(&text[0])), uintptr(len(text)), uintptr(unsafe.Pointer(&name[0])), 0, 0, 0)
	if err != nil {
		return nil, err
	}
	var start *byte
	var size uint64
	if err := c.call(cuLinkComplete, state, uintptr(unsafe.Pointer(&start)), uintptr(unsafe.Pointer(&size))); err != nil {
		return nil, err
	}
	runtime.KeepAlive(l)
	return append([]byte(nil), unsafe.Slice(start, size)...), nil
}

// Unload lets a module go.
func (c *Context) Unload(m device.Handle) error { return c.call(cuModuleUnload, uintptr(m)) }

// Variable finds a variable of a module.
func (c *Context) Variable(m device.Handle, name string) (device.Address, int64, error) {
	var a, size uint64
	word := append([]byte(name), 0)
	err := c.call(cuModuleGetGlobal, uintptr(unsafe.Pointer(&a)), uintptr(unsafe.Pointer(&size)), uintptr(m), uintptr(unsafe.Pointer(&word[0])))
	return device.Address(a), int64(size), err
}

// version is the PTX version of a text.
func version(text string) (major, minor int, ok bool) {
	m := regexp.MustCompile(`(?m)^\s*\.version\s+(\d+)\.(\d+)`).FindStringSubmatch(text)
	if m == nil {
		return 0, 0, false
	}
	major, _ = strconv.Atoi(m[1])
	minor, _ = strconv.Atoi(m[2])
	return major, minor, true
}

// findings are the lines of an assembler's log that tell of lines of the text.
func findings(name, text string) diag.List {
	var list diag.List
	line := regexp.MustCompile(`(?m)line (\d+); (error|fatal|warning)\s*: (.*?)\s*$`)
	for _, m := range line.FindAllStringSubmatch(text, -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			continue
		}
		d := diag.Diagnostic{Place: diag.Place{File: name, Line: n}, Rule: "driver", Severity: diag.Error, Message: m[3]}
		if m[2] == "warning" {
			d.Severity = diag.Review
		}
		list = append(list, d)
	}
	return list
}
