// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"runtime"
	"sync"
	"time"
)

// each calls work for every input, several at a time, and passes the results to emit in the order
// of the inputs, as early as possible. The total size of the inputs in progress is limited; a
// file above the limit is processed alone.
func each[T any](c *call, inputs func(yield func(input) bool), doing string, work func(*input) T,
	emit func(T)) {
	type job struct {
		done   chan T
		weight int64
	}
	collectSeldom()
	threads := runtime.GOMAXPROCS(0)
	room := newBudget(int64(threads) * 4 << 20)
	jobs := make(chan job, 4*threads)
	go func() {
		defer close(jobs)
		inputs(func(in input) bool {
			collectUsually(in.weight())
			j := job{make(chan T, 1), room.take(in.weight())}
			jobs <- j
			go func() { j.done <- work(&in) }()
			return true
		})
	}()
	p := newProgress(c.stderr, doing)
	defer p.stop()
	for j := range jobs {
		for waiting := true; waiting; {
			select {
			case result := <-j.done:
				waiting = false
				p.clear()
				emit(result)
				room.give(j.weight)
				p.files++
				p.bytes += j.weight
			case <-p.tick:
				p.show()
			}
		}
	}
	p.clear()
}

// A budget is a number of bytes that several goroutines share. Requests are granted in order, so
// that the oldest request can always proceed.
type budget struct {
	mu         sync.Mutex
	back       *sync.Cond
	size, left int64
}

func newBudget(size int64) *budget {
	b := &budget{size: size, left: size}
	b.back = sync.NewCond(&b.mu)
	return b
}

// take waits until n bytes, or all bytes if n is larger, are available. It returns the number of
// bytes to give back.
func (b *budget) take(n int64) int64 {
	n = min(n, b.size)
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.left < n {
		b.back.Wait()
	}
	b.left -= n
	return n
}

func (b *budget) give(n int64) {
	b.mu.Lock()
	b.left += n
	b.mu.Unlock()
	b.back.Broadcast()
}

// A progress shows the progress of the work on a terminal, after the first second. If the output
// is not a terminal, it shows nothing.
type progress struct {
	w       *output
	doing   string
	tick    <-chan time.Time // nil if the output is not a terminal
	stop    func()
	started time.Time
	files   int
	bytes   int64
	shown   bool
}

func newProgress(w *output, doing string) *progress {
	p := &progress{w: w, doing: doing, started: time.Now(), stop: func() {}}
	if w.terminal() {
		t := time.NewTicker(200 * time.Millisecond)
		p.tick, p.stop = t.C, t.Stop
	}
	return p
}

func (p *progress) show() {
	since := time.Since(p.started)
	if since < time.Second {
		return
	}
	p.shown = true
	fmt.Fprintf(p.w, "\r\x1b[K%s: %d files, %.1f MB, %.0f s", p.doing, p.files,
		float64(p.bytes)/1e6, since.Seconds())
}

// clear removes the progress line before other output is written.
func (p *progress) clear() {
	if p.shown {
		p.shown = false
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
