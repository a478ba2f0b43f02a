// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package calls

import (
	"errors"
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	topk "github.com/ptxdsl/ptxdsl/examples/25_topk"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// A Sampling specifies how a token is chosen among the largest elements of a row.
type Sampling struct {
	Count       int     // number of the largest elements: up to 256
	Temperature float32 // elements are divided by it
	TopP        float32 // the part of the probability that the tokens which are kept have
}

// TopK finds the largest elements of each row of X, of float32, runtime.F16 or runtime.BF16, in
// descending order, and their columns. It also chooses one of these columns for each row, with a
// random number from 0 to 1.
func TopK[E runtime.Element](
	l *Library, values *runtime.Buffer[float32], columns, tokens *runtime.Buffer[uint32],
	x *runtime.Buffer[E], random *runtime.Buffer[float32], rows, cols int, s Sampling,
) error {
	t := typeOf[E]()
	err := errors.Join(holds("X", x, rows*cols), holds("values", values, rows*s.Count),
		holds("columns", columns, rows*s.Count), holds("tokens", tokens, rows),
		holds("random", random, rows))
	switch {
	case t == 0:
		err = errTypes
	case rows < 1 || cols < 1 || s.Count < 1 || s.Count > min(cols, topk.Threads):
		err = fmt.Errorf(
			"the %d largest of %d rows of %d elements, expected up to %d, and no more than there are",
			s.Count, rows, cols, topk.Threads)
	case !(s.Temperature > 0) || !(s.TopP >= 0):
		err = fmt.Errorf("a temperature of %v and a part of %v, expected positive numbers",
			s.Temperature, s.TopP)
	}
	if err != nil {
		return fmt.Errorf("calls: TopK: %w", err)
	}
	name := topk.Name(t, s.Count)
	return l.run(plan{name, name, func(m *dsl.Module) { topk.Build(m, t, s.Count) },
		runtime.Grid(rows)},
		map[string]any{"x": x, "values": values, "indices": columns, "tokens": tokens,
			"random": random, "cols": uint32(cols), "temperature": s.Temperature, "top_p": s.TopP})
}
