// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/ptxdsl/ptxdsl/isa"
)

// ask1 returns the expected result of any operation that the oracle covers.
func ask1(q *question) answer {
	if len(q.types) == 0 {
		return answer{}
	}
	t := q.types[0]
	element, _ := splitType(t)
	_, float := oracleFormats[element]
	switch q.head {
	case "popc", "clz", "brev", "bfind", "bfe", "bfi", "fns", "szext", "bmsk", "shf", "shl", "shr",
		"and", "or", "xor", "not", "cnot", "lop3", "prmt", "dp4a", "dp2a":
		return bitsAnswer(q)
	case "cvt":
		return convertAnswer(q)
	case "set", "setp", "selp", "slct":
		return compareAnswer(q)
	case "mov":
		return moveAnswer(q)
	case "vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vset", "vmad":
		return videoAnswer(q)
	case "copysign", "testp":
		return signAnswer(q)
	}
	switch {
	case q.head[0] == 'v':
		return packedVideoAnswer(q)
	case !float:
		return integerAnswer(q)
	case slices.Contains([]string{"abs", "neg", "min", "max"}, q.head):
		return signAnswer(q)
	case slices.Contains([]string{"rsqrt", "sin", "cos", "lg2", "ex2", "tanh"}, q.head),
		q.has("approx"), q.has("full"):
		return approxAnswer(q)
	case (q.head == "div" || q.head == "rcp" || q.head == "sqrt") && t == "f32" &&
		!q.has("rn") && !q.has("rz") && !q.has("rm") && !q.has("rp"):
		return approxAnswer(q)
	}
	return floatAnswer(q)
}

func moveAnswer(q *question) answer {
	t := q.types[0]
	if t == "pred" {
		return answer{pred: []bool{q.in[0]&1 == 1}, ok: true}
	}
	r := answer{ok: true}
	for _, x := range q.in {
		if w := oracleTypes[t]; w < 64 {
			x &= 1<<w - 1
		}
		r.out = append(r.out, x)
	}
	return r
}

// operandBits returns edge cases and random bits for an operand.
func operandBits(r *rand.Rand, t isa.Type, try int) uint64 {
	element, n := splitType(t.String()[1:])
	width := t.Bits() / n
	f, float := oracleFormats[element]
	var x uint64
	for i := range n {
		var e uint64
		switch {
		case float:
			e = floatBits(r, f, try+i)
		default:
			e = integerBits(r, width)
		}
		if width < 64 {
			e &= 1<<width - 1
		}
		x |= e << (i * width)
	}
	return x
}

func integerBits(r *rand.Rand, width int) uint64 {
	switch r.IntN(4) {
	case 0:
		return [...]uint64{0, 1, 2, 3, ^uint64(0), ^uint64(1), 1 << (width - 1), 1<<(width-1) - 1,
			1<<(width-1) + 1, 31, 32, 33, 63, 64}[r.IntN(14)]
	case 1:
		return r.Uint64() >> r.IntN(64)
	case 2:
		return -(r.Uint64() >> r.IntN(64))
	}
	return r.Uint64()
}

// floatBits returns zeros, limits, ties of narrower formats, and random numbers, many of them close
// together.
func floatBits(r *rand.Rand, f oracleFormat, try int) uint64 {
	top := uint64(1)<<(f.exponent+f.mantissa) - 1
	sign := r.Uint64() & 1 << (f.exponent + f.mantissa)
	one := uint64(f.bias) << f.mantissa
	switch r.IntN(8) {
	case 0:
		inf := (uint64(1)<<f.exponent - 1) << f.mantissa
		list := [...]uint64{0, 1, 2, 1<<f.mantissa - 1, 1 << f.mantissa, 1<<f.mantissa + 1, one,
			one + 1,
			one - 1, inf - 1, inf, inf + 1, top, top - 1, inf | 1<<max(f.mantissa-1, 0),
			one + 1<<f.mantissa}
		return (sign | list[r.IntN(len(list))]&top) << f.low
	case 1, 2: // near one
		return (sign | (one+(r.Uint64()%(8<<f.mantissa))-4<<f.mantissa)&top) << f.low
	case 3, 4: // few bits
		x := r.Uint64() & top
		return (sign | x>>(f.mantissa/2)<<(f.mantissa/2) | r.Uint64()&1) << f.low
	case 5: // small integers and halves
		x := one + uint64(r.IntN(9))<<f.mantissa | r.Uint64()>>58<<max(f.mantissa-6, 0)
		return (sign | x&top) << f.low
	}
	return (r.Uint64()&top | sign) << f.low
}

// wholeOracle returns the number of input warps per opcode, and whether all opcodes are compared.
func wholeOracle() (warps int, whole bool) {
	if n, err := strconv.Atoi(os.Getenv("EVAL_ORACLE")); err == nil && n > 0 {
		return (n + Lanes - 1) / Lanes, true
	}
	return 1, false
}

// unanswerable are the approximations whose results no rational number decides.
var unanswerable = map[string]bool{"ex2": true, "rsqrt": true, "tanh": true, "lg2": true,
	"sin": true, "cos": true, "sqrt": true, "rcp": true, "div": true}

// TestOracle compares opcodes of pure arithmetic with the oracle. By default it takes every n-th
// opcode; EVAL_ORACLE=1000 takes all of them, with 1000 input warps each.
func TestOracle(t *testing.T) {
	warps, whole := wholeOracle()
	r := rand.New(rand.NewPCG(3, 4))
	opcodes, cases, unanswered := 0, 0, map[string]int{}
	wrong := 0
	seen := map[string]bool{}
	for i, s := range spellings() {
		if seen[s.opcode] || !whole && i%3 != 0 {
			continue
		}
		seen[s.opcode] = true
		op, err := Of(s.form.Kind, s.mods)
		if err != nil {
			continue // TestEverySpellingHasAnOperation reports it
		}
		answered := 0
		for try := range warps {
			n, err := compareWarp(r, op, s.opcode, try)
			answered += n
			if err != nil {
				if wrong++; wrong < 40 {
					t.Error(err)
				}
				break
			}
		}
		cases += answered
		if answered == 0 {
			unanswered[s.name]++
			continue
		}
		opcodes++
	}
	for name := range unanswered {
		if !unanswerable[name] {
			t.Errorf("%s: the oracle has no answer; add one", name)
		}
	}
	t.Logf("%d opcodes, %d inputs, %d wrong opcodes; not answered: %v",
		opcodes, cases, wrong, unanswered)
	if opcodes < 2000 {
		t.Errorf("only %d opcodes were compared", opcodes)
	}
}

// compareWarp compares the lane function and the warp function with the oracle on the inputs of one
// warp.
func compareWarp(r *rand.Rand, op *Op, opcode string, try int) (answered int, err error) {
	var frame Frame
	var vectors [12]Vector
	for i := range op.In {
		for l := range Lanes {
			vectors[i][l] = operandBits(r, op.In[i], try)
			if i == 3 && opcode[:4] == "lop3" {
				vectors[i][l] = vectors[i][0] & 255 // a constant operand
			}
		}
		frame.In[i] = &vectors[i]
	}
	for i := range op.Out {
		frame.Out[i] = &vectors[8+i]
	}
	frame.PIn = [2]uint32{r.Uint32(), r.Uint32()}
	op.Warp(&frame)
	for l := range Lanes {
		ok, err := compareLane(op, opcode, &frame, l)
		if err != nil {
			return answered, err
		}
		answered += btoi(ok)
	}
	return answered, nil
}

func compareLane(op *Op, opcode string, frame *Frame, l int) (answered bool, err error) {
	q := ask(opcode)
	q.pred = frame.PIn[0]>>l&1 == 1
	for i := range op.In {
		q.in = append(q.in, frame.In[i][l])
	}
	cell := Cell{PIn: [2]bool{frame.PIn[0]>>l&1 == 1, frame.PIn[1]>>l&1 == 1}}
	copy(cell.In[:], q.in)
	if len(op.In) == 0 {
		for i := range op.PIn {
			q.in = append(q.in, uint64(frame.PIn[i]>>l&1))
		}
	}
	want := ask1(q)
	if !want.ok {
		return false, nil
	}
	op.Lane(&cell)
	for i, x := range want.out {
		warp, lane := frame.Out[i][l], cell.Out[i]
		good := warp == x || want.within != nil && want.within(warp)
		if warp != lane || !good {
			return true, fmt.Errorf("%s %#x, predicate %v: warp %#x, lane %#x, oracle %#x",
				opcode, q.in, q.pred, warp, lane, x)
		}
	}
	for i, x := range want.pred {
		warp, lane := frame.POut[i]>>l&1 == 1, cell.POut[i]
		if warp != x || lane != x {
			return true, fmt.Errorf("%s %#x, predicate %v: predicate %d is %v and %v, oracle %v",
				opcode, q.in, q.pred, i, warp, lane, x)
		}
	}
	return true, nil
}
