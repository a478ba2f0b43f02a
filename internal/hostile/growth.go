// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"math"
	"runtime"
	"runtime/debug"
	"time"
)

// Limits for the growth of processor time: a text 32 times as long may take 32 to the power of
// 1.25 times as long, which is a factor of 76. Quadratic work takes 1024 times as long. Times
// below the floor are treated as equal to it.
const (
	Times    = 32
	Exponent = 1.25
	floor    = time.Millisecond
	tries    = 6
)

// Growth returns the exponent with which the processor time of work grows between a text of size
// bytes and a text of Times*size bytes, and the two times. The exponent is 0 if the long text
// takes too little time to measure, and under the race detector.
func (t *Text) Growth(size int,
	work func(text string)) (exponent float64, short, long time.Duration) {
	// the garbage collector would make measurements vary
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	few, many := t.Of(size), t.Of(Times*size)
	long = measureOnce(many, work)
	most := math.Pow(Times, Exponent)
	if raceDetector || long.Seconds() <= most*floor.Seconds() {
		return 0, 0, long
	}
	short = floor
	if s := measureOnce(few, work); s > floor {
		short = s
	}
	// other load on the machine makes a run slower, never faster, so the shortest time counts
	for n := 1; n < tries && long.Seconds() > most*short.Seconds(); n++ {
		long = min(long, measureOnce(many, work))
	}
	return math.Log(long.Seconds()/short.Seconds()) / math.Log(Times), short, long
}

// Measure returns the processor time of work on texts of the given sizes: the shorter of two runs
// each.
func (t *Text) Measure(work func(text string), sizes ...int) []time.Duration {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	out := make([]time.Duration, len(sizes))
	for i, size := range sizes {
		text := t.Of(size)
		out[i] = min(measureOnce(text, work), measureOnce(text, work))
	}
	return out
}

// measureOnce returns the processor time of work on a text.
func measureOnce(text string, work func(string)) time.Duration {
	runtime.GC()
	start := processorTime()
	work(text)
	return processorTime() - start
}
