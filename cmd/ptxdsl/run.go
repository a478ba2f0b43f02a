// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ptxdsl/ptxdsl/runtime"
)

func runCommand() *command {
	return &command{
		name:  "run",
		args:  "[flags] file.ptx|-",
		short: "run a kernel on a device",
		long: `
Run loads a module and runs one of its kernels on the given arrays. It then
prints, writes or compares the contents of the arrays. Flags may also follow
the file. The arguments are in the order of the parameters:

    1000                a number, of the parameter's type
    f32[1000]           an array of zeros
    f32[1000]=iota      0, 1, 2 and so on
    f32[1000]=random    floats in [-1, 1], or any integers; random:7 uses another
                        seed than random:8
    f32[1000]=2.5       the same value in every element
    f32=1,2,3           these values
    x.npy               a NumPy file
    bf16@x.npy          a NumPy file, converted to another type

The types are u8 to u64, s8 to s64, b8 to b64, f16, bf16, f32 and f64. -print,
-write and -want name an array by the index of its argument, from 1, or by the
name of the parameter.

Without a GPU the kernel runs in the emulator. "-device emu" chooses it, and
"-device emu:sm_90a" one with the limits of a target. The flags that say
"emulator" show what the kernel does there; they do not change results.

Exit codes: 0 success, 1 if a result differs from the expected one or the module
has errors, 2 if the kernel could not be run.`,
		examples: `
    ptxdsl run vecadd.ptx -threads 1000 -arg 'f32[1000]=random' \
        -arg 'f32[1000]=iota' -arg 'f32[1000]' -arg 1000 -print c
    ptxdsl run gemm.ptx -kernel gemm -grid 64,64 -block 256 -arg a.npy \
        -arg b.npy -arg 'f32[4096]' -want 3=c.npy -tolerance 1e-5 -time 100
    ptxdsl run gemm.ptx -device emu -stats -trace gemm.json ...
    ptxdsl run gemm.ptx -device emu -break 120 -tile 'tiles=f16[8x8]' -thread 0,33 ...`,
		run: runRun,
	}
}

// A repeatedFlag is a flag that may be given several times.
type repeatedFlag []string

func (r *repeatedFlag) String() string { return strings.Join(*r, " ") }

// Set adds a value.
func (r *repeatedFlag) Set(value string) error {
	*r = append(*r, value)
	return nil
}

// runFlags holds the flags of run.
type runFlags struct {
	kernel, device       string
	grid, block, cluster string
	threads, shared      int
	cooperative          bool
	args                 repeatedFlag
	print, write, want   repeatedFlag
	limit, time          int
	tolerance            float64
	timeout              time.Duration
	emulate              emulateFlags
}

func runRun(c *call) int {
	var f runFlags
	c.flags.StringVar(&f.kernel, "kernel", "", "`name` of the kernel, if the module has several")
	c.flags.StringVar(&f.device, "device", "", "device to use: cuda:0 is the first GPU (default: "+
		"the best available)")
	c.flags.StringVar(&f.grid, "grid", "", "grid size in blocks: x or `x,y,z`")
	c.flags.IntVar(&f.threads, "threads", 0, "launch enough blocks for `n` threads along x")
	c.flags.StringVar(&f.block, "block", "", "block size in threads: x or `x,y,z` (default: as "+
		"the\nkernel declares)")
	c.flags.StringVar(&f.cluster, "cluster", "", "cluster size in blocks: x or `x,y,z` (default: "+
		"as the kernel declares)")
	c.flags.IntVar(&f.shared, "shared", 0, "`bytes` of dynamic shared memory")
	c.flags.BoolVar(&f.cooperative, "cooperative", false, "cooperative launch: all blocks run at "+
		"the same time")
	c.flags.Var(&f.args, "arg", "an `argument`, once for each parameter")
	c.flags.Var(&f.print, "print", "print this `array`; may be repeated")
	c.flags.IntVar(&f.limit, "limit", 16, "print at most `n` elements of an array")
	c.flags.Var(&f.write, "write", "write an array to a file, `array=x.npy`; may be repeated")
	c.flags.Var(&f.want, "want", "compare an array with an argument in one of the forms "+
		"above,\n`array=argument`; may be repeated")
	c.flags.Float64Var(&f.tolerance, "tolerance", 0, "largest allowed difference: absolute for "+
		"values up to 1,\nrelative above")
	c.flags.IntVar(&f.time, "time", 0, "time `n` more launches")
	c.flags.DurationVar(&f.timeout, "timeout", 0, "stop waiting after this `time`, such as 10s; "+
		"an emulated\nkernel ends, a kernel on a GPU continues")
	f.emulate.declare(c.flags)
	path, code, ok := c.file()
	if !ok {
		return code
	}
	config, err := f.config()
	if err != nil {
		return c.reportMisuse("%v", err)
	}
	_, text, err := c.readOne(path)
	if err != nil {
		return c.reportTrouble(err)
	}
	d, err := f.open(c)
	if err != nil {
		return c.reportTrouble(err)
	}
	if info := d.Info(); info.Emulated {
		fmt.Fprintf(c.stderr, "ptxdsl run: on %s, %s\n", d, info.Name)
	}
	code, err = f.run(c, d, path, text, config)
	if err = errors.Join(err, d.Close()); err != nil {
		fmt.Fprintf(c.stderr, "ptxdsl run: %v\n", err)
		var load *runtime.LoadError
		if errors.As(err, &load) {
			return exitFindings
		}
		return exitTrouble
	}
	return code
}

// file parses flags before and after the file name. If ok is false, the command must return code.
func (c *call) file() (path string, code int, ok bool) {
	if code, ok := c.parse(); !ok {
		return "", code, false
	}
	if c.flags.NArg() > 0 {
		path, c.args = c.flags.Arg(0), c.flags.Args()[1:]
		if code, ok := c.parse(); !ok {
			return "", code, false
		}
	}
	if path == "" || c.flags.NArg() > 0 {
		return "", c.reportMisuse("expected one file, or - for standard input"), false
	}
	return path, exitClean, true
}

// readOne returns the name and the text of one file or of standard input.
func (c *call) readOne(path string) (name, text string, err error) {
	in := input{name: standardInput}
	if path != "-" {
		walk([]string{path}, func(found input) bool {
			in = found
			if found.name != path {
				in.err = errors.New(path + ": is a directory, expected one file")
			}
			return false
		})
	}
	text, err = in.read(c.stdin)
	return in.name, text, err
}

// device opens a device.
func (c *call) device(name string) (*runtime.Device, error) {
	if c.open != nil {
		return c.open(name)
	}
	return runtime.Open(name)
}

// sizes parses the value of a flag, x,y,z, of which y and z are optional.
func sizes(flag, text string) (x int, yz []int, err error) {
	for i, word := range strings.FieldsFunc(text,
		func(r rune) bool { return r == ',' || r == 'x' }) {
		n, err := strconv.Atoi(word)
		if err != nil || i > 2 {
			return 0, nil, fmt.Errorf("-%s %s: expected x, x,y or x,y,z", flag, text)
		}
		if i == 0 {
			x = n
		} else {
			yz = append(yz, n)
		}
	}
	return x, yz, nil
}

// config returns the launch configuration that the flags specify.
func (f *runFlags) config() (runtime.Config, error) {
	var config runtime.Config
	switch {
	case f.grid != "" && f.threads != 0:
		return config, errors.New("-grid and -threads cannot be used together")
	case f.grid != "":
		x, yz, err := sizes("grid", f.grid)
		if err != nil {
			return config, err
		}
		config = runtime.Grid(x, yz...)
	case f.threads > 0:
		config = runtime.Threads(f.threads)
	case f.threads == 0:
		return config, errors.New("missing grid size: use -grid or -threads")
	default:
		return config, fmt.Errorf("-threads %d: expected one or more", f.threads)
	}
	if f.block != "" {
		x, yz, err := sizes("block", f.block)
		if err != nil {
			return config, err
		}
		config = config.Block(x, yz...)
	}
	if f.cluster != "" {
		x, yz, err := sizes("cluster", f.cluster)
		if err != nil {
			return config, err
		}
		config = config.Cluster(x, yz...)
	}
	if f.shared != 0 {
		config = config.Shared(f.shared)
	}
	if f.cooperative {
		config = config.Cooperative()
	}
	if f.limit < 0 || f.time < 0 || f.tolerance < 0 {
		return config, errors.New("-limit, -time and -tolerance must not be negative")
	}
	return config, nil
}

// choose returns the kernel that -kernel names, or the only kernel of the module.
func (f *runFlags) choose(m *runtime.Module) (*runtime.Kernel, error) {
	name := f.kernel
	if names := m.Kernels(); name == "" {
		switch len(names) {
		case 0:
			return nil, errors.New("the module has no kernel")
		case 1:
			name = names[0]
		default:
			return nil, fmt.Errorf("the module has several kernels (%s); choose one with -kernel",
				strings.Join(names, ", "))
		}
	}
	return m.Kernel(name)
}

// run loads the module, launches the kernel, and prints or compares the results.
func (f *runFlags) run(c *call, d *runtime.Device, path, text string,
	config runtime.Config) (int, error) {
	m, err := d.Load(runtime.PTX(text), runtime.Name(path))
	if err != nil {
		return exitTrouble, err
	}
	k, err := f.choose(m)
	if err != nil {
		return exitTrouble, err
	}
	params := k.Params()
	if len(f.args) != len(params) {
		return exitTrouble,
			fmt.Errorf("kernel %s has %d parameters, but -arg is given %d times: %s", k.Name(),
				len(params), len(f.args), list(params))
	}
	values := make([]any, len(params))
	arrays := make([]*array, len(params))
	buffers := make([]*runtime.Buffer[uint8], len(params))
	for i, p := range params {
		if values[i], arrays[i], err = argumentFor(p, f.args[i]); err != nil {
			return exitTrouble, fmt.Errorf("-arg %s, for parameter %s: %w", f.args[i], p.Name, err)
		}
		if arrays[i] != nil && values[i] == nil {
			if buffers[i], err = runtime.Upload(d, arrays[i].bytes); err != nil {
				return exitTrouble, err
			}
			values[i] = buffers[i]
		}
	}
	shown, err := f.arrayResults(params, buffers)
	if err != nil {
		return exitTrouble, err
	}
	if names := launchShared(text, k.Name()); f.shared == 0 && len(names) > 0 {
		fmt.Fprintf(c.stderr, "ptxdsl run: kernel %s uses dynamic shared memory (%s), but the "+
			"launch gives none: set its size with -shared\n", k.Name(), strings.Join(names, ", "))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if f.timeout > 0 {
		var end func()
		ctx, end = context.WithTimeout(ctx, f.timeout)
		defer end()
	}
	if err = k.LaunchContext(ctx, config, values...); err == nil {
		err = d.SyncContext(ctx)
	}
	if err := errors.Join(err, f.emulate.report(c)); err != nil {
		return exitTrouble, err
	}
	code := exitClean
	for _, s := range shown {
		a := arrays[s.index]
		if err := buffers[s.index].Read(a.bytes); err != nil {
			return exitTrouble, err
		}
		ok, err := s.show(c, f, params[s.index].Name, a)
		if err != nil {
			return exitTrouble, err
		}
		if !ok {
			code = exitFindings
		}
	}
	if f.time > 0 {
		if err := f.measure(c, d, func() error { return k.Launch(config, values...) }); err != nil {
			return exitTrouble, err
		}
	}
	return code, nil
}

// list describes parameters, for messages.
func list(params []runtime.Param) string {
	var words []string
	for _, p := range params {
		words = append(words, p.Name+": "+p.String())
	}
	return strings.Join(words, ", ")
}

// A result is an operation on an array after the launch: print, write to a file, or compare.
type result struct {
	index   int
	compare *array
	path    string // output file, or "" to print
}

// arrayResults returns the operations that the flags request, in the order print, write, compare.
func (f *runFlags) arrayResults(params []runtime.Param,
	buffers []*runtime.Buffer[uint8]) ([]result, error) {
	find := func(flag, name string) (int, error) {
		i := slices.IndexFunc(params, func(p runtime.Param) bool { return p.Name == name })
		if n, err := strconv.Atoi(name); err == nil && i < 0 {
			i = n - 1
		}
		if i < 0 || i >= len(params) {
			return 0, fmt.Errorf("-%s %s: no argument has that name or index; the parameters are "+
				"%s", flag, name, list(params))
		}
		if buffers[i] == nil {
			return 0, fmt.Errorf("-%s %s: that argument is not an array", flag, name)
		}
		return i, nil
	}
	var out []result
	for _, name := range f.print {
		i, err := find("print", name)
		if err != nil {
			return nil, err
		}
		out = append(out, result{index: i})
	}
	for _, text := range f.write {
		name, path, ok := strings.Cut(text, "=")
		if !ok || path == "" {
			return nil, fmt.Errorf("-write %s: expected array=file.npy", text)
		}
		i, err := find("write", name)
		if err != nil {
			return nil, err
		}
		out = append(out, result{index: i, path: path})
	}
	for _, text := range f.want {
		name, what, ok := strings.Cut(text, "=")
		if !ok {
			return nil, fmt.Errorf("-want %s: expected array=argument", text)
		}
		i, err := find("want", name)
		if err != nil {
			return nil, err
		}
		a, err := parseArray(what)
		if err != nil {
			return nil, fmt.Errorf("-want %s: %w", text, err)
		}
		out = append(out, result{index: i, compare: a})
	}
	return out, nil
}

// show performs the operation on an array. ok is false if a comparison failed.
func (s result) show(c *call, f *runFlags, name string, a *array) (ok bool, err error) {
	switch {
	case s.compare != nil:
		problem := a.describeDifference(s.compare, f.tolerance)
		if problem == "" {
			fmt.Fprintf(c.stdout, "%s: as expected\n", name)
			return true, nil
		}
		fmt.Fprintf(c.stdout, "%s: %s\n", name, problem)
		return false, nil
	case s.path != "":
		file, err := os.Create(s.path)
		if err != nil {
			return false, err
		}
		return true, errors.Join(a.write(file), file.Close())
	}
	n := min(a.length(), f.limit)
	var numbers []string
	for i := range n {
		numbers = append(numbers, a.text(i))
	}
	rest := ""
	if left := a.length() - n; left > 0 {
		rest = fmt.Sprintf(" and %d more", left)
	}
	fmt.Fprintf(c.stdout, "%s: %s%s\n", name, strings.Join(numbers, " "), rest)
	return true, nil
}
