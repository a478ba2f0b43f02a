// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"runtime"
	"sync"
	"time"
)

// each runs work on every input, several at once, and passes the results to emit in the order
// of the inputs, as early as possible. The total size of the inputs in progress is bounded: a
// file above the bound is processed alone.
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

// A budget is a number of bytes shared by several goroutines. Requests are granted and returned in
// order, so the oldest can always proceed.
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

// take waits for n bytes, at most for all of them, and returns how many to give back.
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

// A progress shows on a terminal, after the first second, how far the work is. Elsewhere it is
// silent.
type progress struct {
	w     *output
	doing string
	tick  <-chan time.Time // nil without a terminal
	stop  func()
	begun time.Time
	files int
	bytes int64
	shown bool
}

func newProgress(w *output, doing string) *progress {
	p := &progress{w: w, doing: doing, begun: time.Now(), stop: func() {}}
	if w.terminal() {
		t := time.NewTicker(200 * time.Millisecond)
		p.tick, p.stop = t.C, t.Stop
	}
	return p
}

func (p *progress) show() {
	since := time.Since(p.begun)
	if since < time.Second {
		return
	}
	p.shown = true
	fmt.Fprintf(p.w, "\r\x1b[K%s: %d files, %.1f MB, %.0f s", p.doing, p.files,
		float64(p.bytes)/1e6, since.Seconds())
}

// clear removes the line, before other output.
func (p *progress) clear() {
	if p.shown {
		p.shown = false
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
