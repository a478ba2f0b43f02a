// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gemm

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ptxdsl/ptxdsl/runtime"
)

// choices holds the kernels that measurements found to be the fastest.
type choices struct {
	path   string
	known  map[string]choice
	choose func([]*plan) *plan // if not nil, chooses a plan without measuring, for tests
}

// A choice is the kernel that was chosen for a product. Kernel is the name of its plan.
type choice struct {
	Kernel       string  `json:"kernel"`
	Microseconds float64 `json:"microseconds"`
}

// Tuned returns a library that measures all possible kernels when it first computes a product of
// some shape, types and layout, and then uses the fastest kernel. It stores the choices in a file
// for the device and driver in folder; "" means ptxdsl/gemm in the user's cache directory.
func Tuned(d *runtime.Device, folder string) (*Library, error) {
	if folder == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("gemm: %w", err)
		}
		folder = filepath.Join(cache, "ptxdsl", "gemm")
	}
	l, info := New(d), d.Info()
	clean := func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' {
			return r
		}
		return '-'
	}
	name := strings.Map(clean,
		strings.ToLower(fmt.Sprintf("%s %s %d %s", info.Name, info.Target, info.SMs, info.Driver)))
	l.choices = &choices{path: filepath.Join(folder, name+".json")}
	var err error
	if l.choices.known, err = readChoices(l.choices.path); err != nil {
		return nil, fmt.Errorf("gemm: %w", err)
	}
	return l, nil
}

// readChoices reads a file of choices. If the file does not exist, there are no choices.
func readChoices(path string) (map[string]choice, error) {
	known := make(map[string]choice)
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return known, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &known)
	}
	return known, err
}

// save adds the choices to the file. It keeps choices that another process has written.
func (c *choices) save() error {
	known, err := readChoices(c.path)
	if err != nil {
		return err
	}
	maps.Copy(known, c.known)
	text, e1 := json.MarshalIndent(known, "", "\t")
	folder := filepath.Dir(c.path)
	if err := errors.Join(e1, os.MkdirAll(folder, 0o777)); err != nil {
		return err
	}
	f, err := os.CreateTemp(folder, ".new")
	if err != nil {
		return err
	}
	_, e1 = f.Write(append(text, '\n'))
	if err := errors.Join(e1, f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return os.Rename(f.Name(), c.path)
}

// choose returns the plan to use for a product.
func choose[D, E runtime.Element](l *Library, d Matrix[D], a, b Matrix[E],
	o Options) (*plan, error) {
	list, err := plans(l.device.Info(), d, a, b, o)
	if err != nil || l.choices == nil || len(list) == 1 {
		return append(list, nil)[0], err
	}
	if l.choices.choose != nil {
		return l.choices.choose(list), nil
	}
	key := list[0].key(a.Transposed, b.Transposed, o)
	if c, ok := l.choices.known[key]; ok {
		if i := slices.IndexFunc(list, func(p *plan) bool { return p.name == c.Kernel }); i >= 0 {
			return list[i], nil
		}
	}
	trials, err := measure(l, list, d, a, b, o)
	if err != nil {
		return nil, err
	}
	best := trials[0]
	l.choices.known[key] = choice{best.Kernel, float64(best.Took.Nanoseconds()) / 1e3}
	return best.plan, l.choices.save()
}

// key returns a description of the product, which is its key in the file of choices.
func (p *plan) key(turnedA, turnedB bool, o Options) string {
	layout := func(turned bool) string {
		if turned {
			return "columns"
		}
		return "rows"
	}
	key := fmt.Sprintf("%dx%dx%d %s to %s, A by %s, B by %s", p.m, p.n, p.depth, p.operand,
		p.result, layout(turnedA), layout(turnedB))
	if !o.plain() {
		key += ", scaled"
	}
	return key
}

// A Trial is the measured time of a kernel.
type Trial struct {
	Kernel string
	Took   time.Duration // typical time, as typical returns it
	rounds int
	plan   *plan
}

// Trials measures all kernels that can compute a product, and returns them in order of increasing
// time. Slow kernels, which are measured less often, are last. It overwrites D.
func Trials[D, E runtime.Element](l *Library, d Matrix[D], a, b Matrix[E],
	o Options) ([]Trial, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	list, err := plans(l.device.Info(), d, a, b, o.resolve())
	if err != nil {
		return nil, fmt.Errorf("gemm: %w", err)
	}
	return measure(l, list, d, a, b, o.resolve())
}

// Kernels are measured in rounds. After some rounds, those whose shortest time is more than slower
// times the time of the fastest kernel are dropped. If the fastest kernel is short, its times vary
// more than those of similar kernels differ, so the others are dropped later, and those that take
// at most close times its time are measured in more rounds. Before the first round a kernel runs
// for the time warm, because the clock of an idle GPU is low.
const (
	firstRounds, rounds           = 3, 15
	firstRoundsShort, roundsShort = 10, 90
	slower, close                 = 1.15, 1.1
	short                         = 100 * time.Microsecond
	warm                          = 200 * time.Millisecond
)

// another reports whether a kernel with the given sorted times is measured in a round, if the
// fastest kernel took best.
func another(round int, times []time.Duration, best time.Duration) bool {
	over := func(factor float64, took time.Duration) bool {
		return float64(took) > factor*float64(best)
	}
	isShort := best < short
	switch {
	case round < firstRounds || isShort && round < firstRoundsShort:
		return true
	case over(slower, times[0]):
		return false
	default:
		return round < rounds || isShort && !over(close, typical(times))
	}
}

// typical returns the typical one of some sorted times: their median, or the tenth percentile if
// that is short. A short kernel has two typical times, 10 to 15 % apart, and which of them is more
// frequent does not depend on the kernel.
func typical(times []time.Duration) time.Duration {
	if low := times[len(times)/10]; low < short {
		return low
	}
	return times[len(times)/2]
}

// measure measures all plans in rounds, with a cold cache, and returns them in order of their
// typical times, after those that were measured in more rounds. The order of the plans rotates, so
// that no plan always follows the same other one.
func measure[D, E runtime.Element](l *Library, list []*plan, d Matrix[D], a, b Matrix[E],
	o Options) ([]Trial, error) {
	if err := l.preload(list); err != nil {
		return nil, err
	}
	cache := l.device.Info().L2
	if l.device.Info().Emulated { // an emulator has no cache
		cache = 0
	}
	cold, err := reserve[uint32](l, "cold", max(1024, cache))
	if err != nil {
		return nil, err
	}
	if l.stream != nil {
		cold = cold.On(l.stream)
	}
	first, e1 := l.device.Event()
	last, e2 := l.device.Event()
	if err := errors.Join(e1, e2); err != nil {
		return nil, err
	}
	trials, times := make([]Trial, len(list)), make([][]time.Duration, len(list))
	for i, p := range list {
		trials[i] = Trial{Kernel: p.name, plan: p}
	}
	for start := time.Now(); time.Since(start) < warm; {
		steps, err := product(l, list[0], d, a, b, o)
		if err := errors.Join(err, runAll(steps), first.Record(l.stream),
			first.Sync()); err != nil {
			return nil, fmt.Errorf("%s: %w", list[0], err)
		}
	}
	for round := range roundsShort {
		best := fastest(trials)
		for turn := range list {
			i := (turn + round) % len(list)
			p := list[i]
			if !another(round, times[i], best) {
				continue
			}
			list, err := product(l, p, d, a, b, o)
			if err == nil {
				err = runAll(list[:len(list)-1])
			}
			if err == nil {
				err = errors.Join(cold.Fill(uint32(round)), first.Record(l.stream),
					list[len(list)-1](), last.Record(l.stream), last.Sync())
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", p, err)
			}
			took, err := last.Since(first)
			if err != nil {
				return nil, err
			}
			if round > 0 { // the first launch also loads the kernel
				times[i] = append(times[i], took)
				slices.Sort(times[i])
				trials[i].Took, trials[i].rounds = typical(times[i]), len(times[i])
			}
		}
	}
	slices.SortStableFunc(trials, func(x, y Trial) int {
		return cmp.Or(cmp.Compare(y.rounds, x.rounds), cmp.Compare(x.Took, y.Took))
	})
	return trials, errors.Join(first.Close(), last.Close())
}

// runAll calls functions until one of them returns an error.
func runAll(list []func() error) error {
	for _, f := range list {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// preload loads the kernels of all plans concurrently.
func (l *Library) preload(list []*plan) error {
	modules, kernels := make([]*runtime.Module, len(list)), make([]*runtime.Kernel, len(list))
	errs := make([]error, len(list))
	free := make(chan struct{}, 16)
	var group sync.WaitGroup
	for i, p := range list {
		if l.kernels[p.name] == nil {
			group.Go(func() {
				free <- struct{}{}
				modules[i], kernels[i], errs[i] = l.load(p.name, p.kernel, p.build)
				<-free
			})
		}
	}
	group.Wait()
	for i, p := range list {
		if kernels[i] != nil {
			l.modules[p.name], l.kernels[p.name] = modules[i], kernels[i]
		}
	}
	return errors.Join(errs...)
}

// fastest returns the shortest time.
func fastest(trials []Trial) time.Duration {
	return slices.MinFunc(trials, func(x, y Trial) int { return cmp.Compare(x.Took, y.Took) }).Took
}
