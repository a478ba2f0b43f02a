// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// A Kind holds the types of a matrix product as cuBLAS constants.
type Kind struct {
	in, out     uintptr // cudaDataType
	compute     uintptr // cublasComputeType_t
	scale       uintptr // cudaDataType of alpha and beta
	alpha, beta [8]byte
	scaled      bool // FP8, with scale factors and fast accumulation
}

// Constants of cuBLAS and CUDA.
const (
	dataF32, dataF64, dataF16, dataS8, dataS32, dataBF16 = 0, 1, 2, 3, 10, 14
	dataE4M3, dataE5M2                                   = 28, 29
	computeF32, computeF64, computeS32, computeTF32      = 68, 70, 72, 77
	transpose                                            = 1 // CUBLAS_OP_T
)

// KindOf returns the Kind for operands and results of the given types. The libraries reject
// unsupported combinations.
func KindOf(in, out isa.Type) Kind {
	data := map[isa.Type]uintptr{isa.Bf16: dataBF16, isa.F16: dataF16, isa.Tf32: dataF32,
		isa.F32: dataF32, isa.F64: dataF64, isa.S8: dataS8, isa.S32: dataS32, isa.E4m3: dataE4M3,
		isa.E5m2: dataE5M2}
	// the bytes of 1.0
	k := Kind{in: data[in], out: data[out], compute: computeF32, scale: dataF32,
		alpha: [8]byte{2: 0x80, 3: 0x3f}}
	switch in {
	case isa.Tf32:
		k.compute = computeTF32
	case isa.F64:
		k.compute, k.scale, k.alpha = computeF64, dataF64, [8]byte{6: 0xf0, 7: 0x3f}
	case isa.E4m3, isa.E5m2:
		k.scaled = true
	case isa.S8:
		k.compute, k.scale, k.alpha = computeS32, dataS32, [8]byte{0: 1}
	}
	return k
}

// A Problem is the product D = A * B' for row-major A (m x k), B (n x k) and D (m x n). If
// TransposeA is set, A is stored as k x m; if TransposeB is set, B is stored as k x n.
type Problem struct {
	M, N, K                int
	A, B, D                runtime.Address
	TransposeA, TransposeB bool
	ScaleA, ScaleB         runtime.Address // addresses of the scale factors of FP8
}

// layout returns how an operand of some rows is passed to the libraries, whose matrices are
// column-major: the transpose operation, and the distance between columns.
func (p Problem) layout(transposed bool, rows int) (operation, leading int) {
	if transposed {
		return 0, rows
	}
	return transpose, p.K
}

// A BLAS holds the functions of cuBLAS and cuBLASLt, as far as the libraries were found.
type BLAS struct {
	device        *runtime.Device
	cublas, light *library
	handle        uintptr // cuBLAS handle
	lightHandle   uintptr
	stream        uintptr
	workspace     *runtime.Buffer[uint8]
	Origin        []string // the paths of the libraries, or why a library was not found
}

// workspaceBytes is the workspace size that NVIDIA recommends for Hopper.
const workspaceBytes = 64 << 20

// NewBLAS opens the libraries. It searches folders first.
func NewBLAS(b *Bench, folders []string) (*BLAS, error) {
	l := &BLAS{device: b.Device, stream: b.Stream.Handle()}
	var err error
	if l.workspace, err = runtime.Alloc[uint8](b.Device, workspaceBytes); err != nil {
		return nil, err
	}
	light, err := load(folders,
		[]string{"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"}, "cublasLtCreate",
		"cublasLtMatmulDescCreate",
		"cublasLtMatmulDescSetAttribute", "cublasLtMatrixLayoutCreate",
		"cublasLtMatmulPreferenceCreate", "cublasLtMatmulPreferenceSetAttribute",
		"cublasLtMatmulAlgoGetHeuristic", "cublasLtMatmul")
	if err == nil {
		err = b.Device.Do(func() error {
			return light.call("cublasLtCreate", uintptr(unsafe.Pointer(&l.lightHandle)))
		})
	}
	if err != nil {
		l.Origin = append(l.Origin, "no cuBLASLt: "+err.Error())
	} else {
		l.light = light
		l.Origin = append(l.Origin, "cuBLASLt from "+light.path)
	}
	blas, err := load(folders, []string{"libcublas.so.13", "libcublas.so.12", "libcublas.so"},
		"cublasCreate_v2", "cublasSetStream_v2", "cublasSetWorkspace_v2",
		"cublasGemmEx", "cublasGetVersion_v2")
	if err == nil {
		err = b.Device.Do(func() error {
			return blas.call("cublasCreate_v2", uintptr(unsafe.Pointer(&l.handle)))
		})
	}
	var version int32
	if err == nil {
		err = errors.Join(blas.call("cublasSetStream_v2", l.handle, l.stream),
			blas.call("cublasSetWorkspace_v2", l.handle, uintptr(l.workspace.Address()),
				workspaceBytes),
			blas.call("cublasGetVersion_v2", l.handle, uintptr(unsafe.Pointer(&version))))
	}
	if err != nil {
		l.Origin = append(l.Origin, "no cuBLAS: "+err.Error())
	} else {
		l.cublas = blas
		l.Origin = append(l.Origin,
			fmt.Sprintf("cuBLAS %d.%d.%d from %s", version/10000, version/100%100, version%100,
				blas.path))
	}
	return l, nil
}

// Contenders returns the library calls that compute a problem. The libraries treat a row-major
// matrix as a transposed column-major one, so the calls compute D' = B * A'.
func (l *BLAS) Contenders(k Kind, p Problem) []Contender {
	var list []Contender
	if l.cublas != nil && !k.scaled {
		opB, leadB := p.layout(p.TransposeB, p.N)
		opA, leadA := p.layout(p.TransposeA, p.M)
		opA = transpose - opA
		list = append(list, l.contender("cuBLAS", func() error {
			return l.cublas.call("cublasGemmEx", l.handle, uintptr(opB), uintptr(opA), uintptr(p.N),
				uintptr(p.M), uintptr(p.K), uintptr(unsafe.Pointer(&k.alpha)),
				uintptr(p.B), k.in, uintptr(leadB), uintptr(p.A), k.in, uintptr(leadA),
				uintptr(unsafe.Pointer(&k.beta)),
				uintptr(p.D), k.out, uintptr(p.N), k.compute, ^uintptr(0))
		}))
	}
	if l.light == nil {
		return list
	}
	m, err := l.plan(k, p)
	if err != nil {
		return append(list, Contender{"cuBLASLt", func() error { return err }})
	}
	for i := range m.algorithms {
		name := fmt.Sprintf("cuBLASLt %d", i)
		if i == 0 {
			name = "cuBLASLt"
		}
		list = append(list, l.contender(name, func() error { return m.run(i) }))
	}
	return list
}

// contender returns a contender that runs a library call on a thread on which the device is
// current.
func (l *BLAS) contender(name string, run func() error) Contender {
	return Contender{name, func() error { return l.device.Do(run) }}
}

// An algorithm has the memory layout of cublasLtMatmulHeuristicResult_t.
type algorithm struct {
	data      [8]uint64
	workspace uint64
	state     int32
	waves     float32
	_         [4]int32
}

// A plan is a matrix product that is prepared for cuBLASLt.
type plan struct {
	l           *BLAS
	kind        Kind
	problem     Problem
	description uintptr
	a, b, d     uintptr // matrix layouts
	algorithms  []algorithm
	preferences uintptr
	turnedA     int32
	turnedB     int32
	scaleA      runtime.Address
	scaleB      runtime.Address
	fast        int8
}

// plan prepares a matrix product, with the first eight algorithms that the heuristic of cuBLASLt
// returns.
func (l *BLAS) plan(k Kind, p Problem) (*plan, error) {
	m := &plan{l: l, kind: k, problem: p, algorithms: make([]algorithm, 8), scaleA: p.ScaleA,
		scaleB: p.ScaleB, fast: 1}
	const optionTurnA, optionTurnB, optionScaleA, optionScaleB, optionFast, optionWorkspace = 3, 4,
		17, 18, 25, 1
	size := uint64(workspaceBytes)
	layout := func(to *uintptr, t uintptr, rows, cols int) error {
		return l.light.call("cublasLtMatrixLayoutCreate", uintptr(unsafe.Pointer(to)), t,
			uintptr(rows), uintptr(cols), uintptr(rows))
	}
	// the first operand of the library call is B
	colsB, colsA := p.N, p.M
	opB, leadB := p.layout(p.TransposeB, p.N)
	opA, leadA := p.layout(p.TransposeA, p.M)
	if p.TransposeB {
		colsB = p.K
	}
	if p.TransposeA {
		colsA = p.K
	}
	m.turnedA, m.turnedB = int32(opB), int32(transpose-opA)
	err := errors.Join(
		l.light.call("cublasLtMatmulDescCreate", uintptr(unsafe.Pointer(&m.description)), k.compute,
			k.scale),
		layout(&m.b, k.in, leadB, colsB), layout(&m.a, k.in, leadA, colsA),
		layout(&m.d, k.out, p.N, p.M),
		l.light.call("cublasLtMatmulPreferenceCreate", uintptr(unsafe.Pointer(&m.preferences))),
	)
	if err != nil {
		return nil, err
	}
	err = errors.Join(
		l.light.call("cublasLtMatmulDescSetAttribute", m.description, optionTurnA,
			uintptr(unsafe.Pointer(&m.turnedA)), 4),
		l.light.call("cublasLtMatmulDescSetAttribute", m.description, optionTurnB,
			uintptr(unsafe.Pointer(&m.turnedB)), 4),
		l.light.call("cublasLtMatmulPreferenceSetAttribute", m.preferences, optionWorkspace,
			uintptr(unsafe.Pointer(&size)), 8),
	)
	if k.scaled {
		err = errors.Join(err,
			l.light.call("cublasLtMatmulDescSetAttribute", m.description, optionScaleA,
				uintptr(unsafe.Pointer(&m.scaleB)), 8),
			l.light.call("cublasLtMatmulDescSetAttribute", m.description, optionScaleB,
				uintptr(unsafe.Pointer(&m.scaleA)), 8),
			l.light.call("cublasLtMatmulDescSetAttribute", m.description, optionFast,
				uintptr(unsafe.Pointer(&m.fast)), 1),
		)
	}
	if err != nil {
		return nil, err
	}
	var n int32
	err = l.light.call("cublasLtMatmulAlgoGetHeuristic", l.lightHandle, m.description, m.b, m.a,
		m.d, m.d, m.preferences, uintptr(len(m.algorithms)),
		uintptr(unsafe.Pointer(&m.algorithms[0])), uintptr(unsafe.Pointer(&n)))
	if err != nil {
		return nil, err
	}
	m.algorithms = m.algorithms[:n]
	return m, nil
}

// run computes the product with algorithm i.
func (m *plan) run(i int) error {
	return m.l.light.call("cublasLtMatmul", m.l.lightHandle, m.description,
		uintptr(unsafe.Pointer(&m.kind.alpha)), uintptr(m.problem.B), m.b,
		uintptr(m.problem.A), m.a, uintptr(unsafe.Pointer(&m.kind.beta)), uintptr(m.problem.D), m.d,
		uintptr(m.problem.D), m.d,
		uintptr(unsafe.Pointer(&m.algorithms[i])), uintptr(m.l.workspace.Address()), workspaceBytes,
		m.l.stream)
}
