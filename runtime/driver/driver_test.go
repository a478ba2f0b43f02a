// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package driver_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ptxdsl/ptxdsl/internal/fakecuda"
	"github.com/ptxdsl/ptxdsl/runtime/device"
	"github.com/ptxdsl/ptxdsl/runtime/driver"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func refused(t *testing.T, err error, kind error, words string) {
	t.Helper()
	switch {
	case err == nil:
		t.Errorf("no error; one with %q is expected", words)
	case !strings.Contains(err.Error(), words):
		t.Errorf("%q does not say %q", err, words)
	case kind != nil && !errors.Is(err, kind):
		t.Errorf("%q is not of the kind %q", err, kind)
	}
}

// open returns GPU 0 of a fake driver.
func open(t *testing.T, d *fakecuda.Driver) *driver.Context {
	t.Helper()
	l, err := d.Library()
	check(t, err)
	c, err := l.Open(0)
	check(t, err)
	t.Cleanup(func() { check(t, c.Close()) })
	return c
}

// TestOld checks the errors of drivers that lack functions.
func TestOld(t *testing.T) {
	d := fakecuda.New()
	d.Missing = []string{"cuMemAlloc_v2", "cuLaunchKernelEx"}
	_, err := d.Library()
	refused(t, err, device.ErrTooOld,
		"the driver is too old: it has no cuMemAlloc_v2; CUDA 11.4 or later is required")

	d = fakecuda.New()
	d.Fail = func(symbol string) uintptr { return map[string]uintptr{"cuInit": 100}[symbol] }
	_, err = d.Library()
	refused(t, err, device.ErrAbsent,
		"cuInit: no CUDA-capable device is detected (CUDA_ERROR_NO_DEVICE)")

	d = fakecuda.New()
	d.Missing = []string{"cuLaunchKernelEx", "cuFuncGetParamInfo", "cuTensorMapEncodeTiled",
		"cuOccupancyMaxActiveClusters"}
	c := open(t, d)
	loaded, err := c.Load(device.Image{Name: "m", PTX: module("7.0")})
	check(t, err)
	k, err := c.Kernel(loaded.Module, "k", 0)
	check(t, err)
	if k.Info().Known {
		t.Error("parameters are known although the driver lacks the function that reports them")
	}
	cluster := &device.Launch{Grid: [3]uint32{2, 1, 1}, Block: [3]uint32{1, 1, 1},
		Cluster: [3]uint32{2, 1, 1}}
	refused(t, k.Launch(cluster), device.ErrTooOld,
		"cuLaunchKernelEx: the driver does not have this function (missing); it was added in CUDA 11.8")
	_, err = k.Clusters(cluster)
	refused(t, err, device.ErrTooOld,
		"cuOccupancyMaxActiveClusters: the driver does not have this function (missing); it was added in CUDA 11.8")
	var to [128]byte
	refused(t, c.Encode(&to,
		&device.TensorMap{Sizes: []uint64{64}, Box: []uint32{64},
			Steps: []uint32{
				1}}), device.ErrTooOld, "cuTensorMapEncodeTiled: the driver does not have this function (missing); it was added in CUDA 12.0")
	_, err = c.Kernel(loaded.Module, "other", -1)
	refused(t, err, nil, "cuModuleGetFunction: named symbol not found")
}

// TestCount checks the errors for GPUs that do not exist.
func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "this machine has no GPU",
		1: "this machine has one GPU, cuda:0", 3: "this machine has 3 GPUs, cuda:0 to cuda:2"} {
		d := fakecuda.New()
		d.GPUs = n
		l, err := d.Library()
		check(t, err)
		_, err = l.Open(3)
		refused(t, err, device.ErrAbsent, want)
		_, err = l.Open(-1)
		refused(t, err, device.ErrAbsent, want)
	}
}

// TestInfo checks the device properties.
func TestInfo(t *testing.T) {
	d := fakecuda.New()
	i := open(t, d).Info()
	if i.Name != "Pretended H200" || i.Place != "cuda:0" || i.Target != "sm_90a" ||
		i.Capability != 90 || i.Bus != "0000:01:00.0" || i.PTX != "9.0" ||
		i.Driver != "CUDA 13.0" ||
		i.SMs != 132 || i.MaxGrid != [3]int{1<<31 - 1, 65535, 65535} ||
		i.MaxBlock != [3]int{1024, 1024, 64} || i.SharedOptIn != 232448 || !i.Clusters ||
		!i.TensorMaps ||
		i.MaxParameter != 32764 || i.Memory != 1<<30 {
		t.Errorf("%+v", i)
	}
	for version, ptx := range map[int]string{11040: "7.4", 11080: "7.8", 12000: "8.0", 12050: "8.5",
		12060: "8.5", 12080: "8.7", 12090: "8.8", 13000: "9.0", 13050: "9.5"} {
		d := fakecuda.New()
		d.Version = version
		d.Attributes = map[int]int{75: 8, 76: 6}
		if i := open(t, d).Info(); i.PTX != ptx || i.Target != "sm_86" {
			t.Errorf("CUDA %d reads PTX %s and runs %s", version, i.PTX, i.Target)
		}
	}
}

// module returns PTX of a version.
func module(version string) string {
	return ".version " + version +
		"\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n"
}

// stub installs a script in place of ptxas. It writes "cubin" and counts its runs.
func stub(t *testing.T, release, script string) (runs func() int) {
	t.Helper()
	folder := t.TempDir()
	log := filepath.Join(folder, "log")
	text := `#!/bin/sh
case "$*" in
*--version*) echo "Cuda compilation tools, release ` + release + `, V` + release + `.0"; exit 0;;
esac
` + script + `
echo run >> ` + log + `
while [ $# -gt 0 ]; do
	if [ "$1" = -o ]; then printf '\177ELF cubin' > "$2"; fi
	shift
done
`
	path := filepath.Join(folder, "ptxas")
	check(t, os.WriteFile(path, []byte(text), 0o755))
	t.Setenv("PTXAS", path)
	return func() int {
		b, err := os.ReadFile(log)
		if err != nil {
			return 0
		}
		return strings.Count(string(b), "run")
	}
}

// TestTooNew loads PTX that is newer than the driver.
func TestTooNew(t *testing.T) {
	d := fakecuda.New()
	c := open(t, d)
	image := device.Image{Name: "m", PTX: module("9.3")}
	t.Setenv("PTXAS", filepath.Join(t.TempDir(), "none"))
	_, err := c.Load(image)
	refused(t, err, device.ErrTooOld,
		"the driver is too old: PTX 9.3 requires a driver for CUDA 13.3, but this one is for CUDA 13.0; ptxas of CUDA 13.3 could compile it instead, but ptxas not found")

	runs := stub(t, "13.5", "")
	loaded, err := c.Load(image)
	check(t, err)
	if runs() != 1 || loaded.Cached || !strings.HasSuffix(loaded.Assembler, "ptxas") {
		t.Errorf("%d runs, loaded as %+v", runs(), loaded)
	}
	check(t, c.Unload(loaded.Module))

	stub(t, "13.5", `echo "ptxas m.ptx, line 5; error   : Something is wrong" >&2; exit 1`)
	_, err = c.Load(image)
	var r *device.Rejection
	if !errors.As(err, &r) || r.Findings.Errors() != 1 || r.Findings[0].Place.Line != 5 ||
		!errors.Is(err, device.ErrTooOld) {
		t.Errorf("%v", err)
	}

	// The driver may also reject a version that should be supported.
	runs = stub(t, "13.5", "")
	d.Fail = func(symbol string) uintptr {
		if symbol == "cuModuleLoadDataEx" {
			d.Fail = nil
			return 222
		}
		return 0
	}
	loaded, err = c.Load(device.Image{Name: "m", PTX: module("9.0")})
	check(t, err)
	if runs() != 1 {
		t.Errorf("%d runs", runs())
	}
	check(t, c.Unload(loaded.Module))
}

// TestCache checks when ptxas is run, and what is cached.
func TestCache(t *testing.T) {
	d := fakecuda.New()
	c := open(t, d)
	folder := t.TempDir()
	image := device.Image{Name: "m", PTX: module("8.0"), Cache: folder}
	load := func(image device.Image) device.Loaded {
		t.Helper()
		loaded, err := c.Load(image)
		check(t, err)
		check(t, c.Unload(loaded.Module))
		return loaded
	}
	runs := stub(t, "13.0", "")
	for i, want := range []struct {
		cached bool
		runs   int
	}{{false, 1}, {true, 1}, {true, 1}} {
		if l := load(image); l.Cached != want.cached || runs() != want.runs ||
			!strings.HasSuffix(l.Assembler, "ptxas") {
			t.Errorf("time %d: %+v, %d runs", i, l, runs())
		}
	}
	// Another text, or debug information, makes another cache entry.
	other := image
	other.PTX += "// other\n"
	debug := image
	debug.Debug = true
	if load(other).Cached || load(debug).Cached || runs() != 3 {
		t.Errorf("%d runs", runs())
	}
	// A damaged file is replaced, and so is one that the driver rejects.
	files, err := filepath.Glob(filepath.Join(folder, "*", "*.cubin"))
	check(t, err)
	if len(files) != 3 {
		t.Errorf("files %v", files)
	}
	for _, f := range files {
		check(t, os.WriteFile(f, []byte("damaged"), 0o644))
	}
	if load(image).Cached || !load(image).Cached {
		t.Error("a damaged file was loaded, or not mended")
	}
	d.Fail = func(symbol string) uintptr {
		if symbol == "cuModuleLoadDataEx" {
			d.Fail = nil
			return 200
		}
		return 0
	}
	if l := load(image); !strings.HasPrefix(l.Assembler, "the driver") {
		t.Errorf("a cubin that the driver refuses was loaded: %+v", l)
	}
	if load(image).Cached {
		t.Error("it was kept, too")
	}
	// The driver assembles if there is no cache folder, or if ptxas is older than the driver.
	plain := image
	plain.Cache = ""
	if l := load(plain); l.Assembler != "the driver, CUDA 13.0" {
		t.Errorf("%+v", l)
	}
	runs = stub(t, "12.9", "")
	if l := load(image); l.Assembler != "the driver, CUDA 13.0" || runs() != 0 {
		t.Errorf("%+v, %d runs", l, runs())
	}
	// If ptxas rejects a module, the driver assembles it; failures of the cache do not fail the
	// program.
	stub(t, "13.5", "exit 3")
	if l := load(image); l.Assembler != "the driver, CUDA 13.0" {
		t.Errorf("%+v", l)
	}
	file := filepath.Join(folder, "file")
	check(t, os.WriteFile(file, nil, 0o644))
	image.Cache = filepath.Join(file, "below")
	runs = stub(t, "13.5", "")
	first, second := load(image), load(image)
	if first.Cached || second.Cached || runs() != 2 {
		t.Error("a cache that cannot be written was")
	}
}

// TestRealAssembler checks that ptxas assembles a module for an older target into a cubin for the
// device.
func TestRealAssembler(t *testing.T) {
	folder := t.TempDir()
	c := open(t, fakecuda.New())
	for _, cached := range []bool{false, true} {
		loaded, err := c.Load(device.Image{Name: "m", PTX: module("7.0"), Cache: folder,
			Debug: true})
		check(t, err)
		if loaded.Cached != cached || filepath.Base(loaded.Assembler) != "ptxas" {
			t.Errorf("%+v", loaded)
		}
		check(t, c.Unload(loaded.Module))
	}
	files, err := filepath.Glob(filepath.Join(folder, "*", "*.cubin"))
	check(t, err)
	if len(files) != 1 {
		t.Fatal(files)
	}
	b, err := os.ReadFile(files[0])
	check(t, err)
	if !strings.HasPrefix(string(b[32:]), "\x7fELF") {
		t.Errorf("the file holds %q", b[:40])
	}
}

// TestCacheTogether loads one module from many goroutines with one cache folder.
func TestCacheTogether(t *testing.T) {
	stub(t, "13.5", "")
	folder := t.TempDir()
	var group sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		c := open(t, fakecuda.New()) // as if in a separate process
		group.Go(func() {
			for range 5 {
				loaded, err := c.Load(device.Image{Name: "m", PTX: module("8.0"), Cache: folder})
				if err == nil {
					err = c.Unload(loaded.Module)
				}
				errs[i] = errors.Join(errs[i], err)
			}
		})
	}
	group.Wait()
	check(t, errors.Join(errs...))
	files, err := filepath.Glob(filepath.Join(folder, "*", "*"))
	check(t, err)
	if len(files) != 1 {
		t.Errorf("files %v; one is expected", files)
	}
}

// TestRejected checks how the messages of the driver's assembler are reported.
func TestRejected(t *testing.T) {
	d := fakecuda.New()
	d.Reject = true
	d.Log = "ptxas application ptx input, line 6; error   : Unknown symbol '%r0'\nptxas application ptx input, line 6; error   : Unknown symbol '%r0'\n" +
		"ptxas application ptx input, line 4; warning : Slow\nptxas fatal   : Ptx assembly aborted due to errors\n"
	c := open(t, d)
	_, err := c.Load(device.Image{Name: "m.ptx", PTX: module("8.0")})
	var r *device.Rejection
	if !errors.As(err, &r) || len(r.Findings) != 2 || r.Findings.Errors() != 1 ||
		r.Findings[0].Place.String() != "m.ptx:6:2" ||
		r.Findings[0].Message != "Unknown symbol '%r0'" {
		t.Errorf("%+v", r)
	}
	d.Log = "an unknown message"
	_, err = c.Load(device.Image{Name: "m.ptx", PTX: module("8.0")})
	refused(t, err, nil, "an unknown message")
	_, err = c.Load(device.Image{Name: "m.ptx", PTX: "// nothing"})
	refused(t, err, nil, "the text has no .version, which must come first in PTX")
	_, err = c.Load(device.Image{Name: "m.ptx", Cubin: []byte{}})
	refused(t, err, nil, "the module is empty")
}

// TestLaunchAllocations checks that the driver's part of a launch does not allocate.
func TestLaunchAllocations(t *testing.T) {
	d := fakecuda.New()
	l, err := driver.With(driver.TableOf(func(symbol string) func([]uintptr) uintptr {
		if symbol == "cuLaunchKernel" || symbol == "cuLaunchKernelEx" ||
			symbol == "cuCtxSetCurrent" {
			return func([]uintptr) uintptr { return 0 }
		}
		return d.Lookup(symbol)
	}))
	check(t, err)
	c, err := l.Open(0)
	check(t, err)
	loaded, err := c.Load(device.Image{Name: "m", PTX: module("8.0")})
	check(t, err)
	k, err := c.Kernel(loaded.Module, "k", 0)
	check(t, err)
	plain := &device.Launch{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{1, 1, 1},
		Values: make([]byte, 16), Places: []int{0, 8}}
	more := *plain
	more.Cluster, more.Cooperative, more.Programmatic = [3]uint32{1, 1, 1}, true, true
	for _, launch := range []*device.Launch{plain, &more} {
		each := testing.AllocsPerRun(200, func() {
			if err := k.Launch(launch); err != nil {
				t.Fatal(err)
			}
		})
		// less than one: under the race detector pools drop one entry in four, and a packet needs
		// two allocations
		if each >= 1 {
			t.Errorf("a launch allocates %v times", each)
		}
	}
	check(t, c.Close())
}
