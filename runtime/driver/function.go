// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package driver

// A Function is an entry point of the CUDA driver.
type Function int

// The entry points of the driver. The CUDA headers map the plain names to symbols with _v2.
const (
	cuInit Function = iota
	cuDriverGetVersion
	cuGetErrorName
	cuGetErrorString
	cuDeviceGet
	cuDeviceGetCount
	cuDeviceGetName
	cuDeviceGetAttribute
	cuDeviceGetPCIBusId
	cuDeviceTotalMem
	cuDevicePrimaryCtxRetain
	cuDevicePrimaryCtxRelease
	cuCtxSetCurrent
	cuCtxSynchronize
	cuMemGetInfo
	cuMemAlloc
	cuMemFree
	cuMemHostAlloc
	cuMemFreeHost
	cuMemcpyHtoD
	cuMemcpyDtoH
	cuMemcpyHtoDAsync
	cuMemcpyDtoHAsync
	cuMemcpyDtoDAsync
	cuMemcpyPeerAsync
	cuMemsetD8Async
	cuMemsetD16Async
	cuMemsetD32Async
	cuStreamCreateWithPriority
	cuStreamDestroy
	cuStreamSynchronize
	cuStreamQuery
	cuStreamWaitEvent
	cuEventCreate
	cuEventDestroy
	cuEventRecord
	cuEventSynchronize
	cuEventQuery
	cuEventElapsedTime
	cuModuleLoadDataEx
	cuModuleUnload
	cuModuleGetFunction
	cuModuleGetGlobal
	cuFuncGetAttribute
	cuFuncSetAttribute
	cuFuncGetParamInfo
	cuLaunchKernel
	cuLaunchKernelEx
	cuOccupancyMaxActiveBlocksPerMultiprocessor
	cuOccupancyMaxActiveClusters
	cuTensorMapEncodeTiled
	cuTensorMapEncodeIm2col
	cuStreamBeginCapture
	cuStreamEndCapture
	cuGraphInstantiateWithFlags
	cuGraphDestroy
	cuGraphLaunch
	cuGraphExecDestroy
	cuDeviceCanAccessPeer
	cuCtxEnablePeerAccess

	functionCount
)

// An entry names the symbol of a function.
type entry struct {
	symbol string
	since  string // first CUDA version with it, or "" if every supported driver has it
}

// entries returns the symbol of every Function.
func entries() [functionCount]entry {
	return [functionCount]entry{
		cuInit:                      {"cuInit", ""},
		cuDriverGetVersion:          {"cuDriverGetVersion", ""},
		cuGetErrorName:              {"cuGetErrorName", ""},
		cuGetErrorString:            {"cuGetErrorString", ""},
		cuDeviceGet:                 {"cuDeviceGet", ""},
		cuDeviceGetCount:            {"cuDeviceGetCount", ""},
		cuDeviceGetName:             {"cuDeviceGetName", ""},
		cuDeviceGetAttribute:        {"cuDeviceGetAttribute", ""},
		cuDeviceGetPCIBusId:         {"cuDeviceGetPCIBusId", ""},
		cuDeviceTotalMem:            {"cuDeviceTotalMem_v2", ""},
		cuDevicePrimaryCtxRetain:    {"cuDevicePrimaryCtxRetain", ""},
		cuDevicePrimaryCtxRelease:   {"cuDevicePrimaryCtxRelease_v2", ""},
		cuCtxSetCurrent:             {"cuCtxSetCurrent", ""},
		cuCtxSynchronize:            {"cuCtxSynchronize", ""},
		cuMemGetInfo:                {"cuMemGetInfo_v2", ""},
		cuMemAlloc:                  {"cuMemAlloc_v2", ""},
		cuMemFree:                   {"cuMemFree_v2", ""},
		cuMemHostAlloc:              {"cuMemHostAlloc", ""},
		cuMemFreeHost:               {"cuMemFreeHost", ""},
		cuMemcpyHtoD:                {"cuMemcpyHtoD_v2", ""},
		cuMemcpyDtoH:                {"cuMemcpyDtoH_v2", ""},
		cuMemcpyHtoDAsync:           {"cuMemcpyHtoDAsync_v2", ""},
		cuMemcpyDtoHAsync:           {"cuMemcpyDtoHAsync_v2", ""},
		cuMemcpyDtoDAsync:           {"cuMemcpyDtoDAsync_v2", ""},
		cuMemcpyPeerAsync:           {"cuMemcpyPeerAsync", ""},
		cuMemsetD8Async:             {"cuMemsetD8Async", ""},
		cuMemsetD16Async:            {"cuMemsetD16Async", ""},
		cuMemsetD32Async:            {"cuMemsetD32Async", ""},
		cuStreamCreateWithPriority:  {"cuStreamCreateWithPriority", ""},
		cuStreamDestroy:             {"cuStreamDestroy_v2", ""},
		cuStreamSynchronize:         {"cuStreamSynchronize", ""},
		cuStreamQuery:               {"cuStreamQuery", ""},
		cuStreamWaitEvent:           {"cuStreamWaitEvent", ""},
		cuEventCreate:               {"cuEventCreate", ""},
		cuEventDestroy:              {"cuEventDestroy_v2", ""},
		cuEventRecord:               {"cuEventRecord", ""},
		cuEventSynchronize:          {"cuEventSynchronize", ""},
		cuEventQuery:                {"cuEventQuery", ""},
		cuEventElapsedTime:          {"cuEventElapsedTime", ""},
		cuModuleLoadDataEx:          {"cuModuleLoadDataEx", ""},
		cuModuleUnload:              {"cuModuleUnload", ""},
		cuModuleGetFunction:         {"cuModuleGetFunction", ""},
		cuModuleGetGlobal:           {"cuModuleGetGlobal_v2", ""},
		cuFuncGetAttribute:          {"cuFuncGetAttribute", ""},
		cuFuncSetAttribute:          {"cuFuncSetAttribute", ""},
		cuFuncGetParamInfo:          {"cuFuncGetParamInfo", "12.4"},
		cuLaunchKernel:              {"cuLaunchKernel", ""},
		cuLaunchKernelEx:            {"cuLaunchKernelEx", "11.8"},
		cuTensorMapEncodeTiled:      {"cuTensorMapEncodeTiled", "12.0"},
		cuTensorMapEncodeIm2col:     {"cuTensorMapEncodeIm2col", "12.0"},
		cuStreamBeginCapture:        {"cuStreamBeginCapture_v2", ""},
		cuStreamEndCapture:          {"cuStreamEndCapture", ""},
		cuGraphInstantiateWithFlags: {"cuGraphInstantiateWithFlags", ""},
		cuGraphDestroy:              {"cuGraphDestroy", ""},
		cuGraphLaunch:               {"cuGraphLaunch", ""},
		cuGraphExecDestroy:          {"cuGraphExecDestroy", ""},
		cuDeviceCanAccessPeer:       {"cuDeviceCanAccessPeer", ""},
		cuCtxEnablePeerAccess:       {"cuCtxEnablePeerAccess", ""},

		cuOccupancyMaxActiveBlocksPerMultiprocessor: {"cuOccupancyMaxActiveBlocksPerMultiprocessor",
			""},
		cuOccupancyMaxActiveClusters: {"cuOccupancyMaxActiveClusters", "11.8"},
	}
}

// String returns the function's symbol in the driver library.
func (f Function) String() string { return entries()[f].symbol }
