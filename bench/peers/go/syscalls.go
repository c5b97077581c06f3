// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

func init() {
	works = append(works,
		work{"syscall", "what the scheduler adds to a system call, 1 P, ns", 1, syscalls},
		work{"blocked", "a call that blocks its thread for 2 ms until another goroutine runs, 1 P, ns", 1, blocked},
	)
}

// syscalls reports the difference of a call that tells the scheduler and the same call that does not.
func syscalls() {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const calls = 1_000_000
	each := func(call func(trap, a1, a2, a3 uintptr) (r1, r2 uintptr, err syscall.Errno)) float64 {
		start := clock()
		for range calls {
			call(syscall.SYS_GETPID, 0, 0, 0)
		}
		return float64(clock()-start) / calls
	}
	var all []float64
	for i := 0; i <= *runs; i++ {
		raw := each(syscall.RawSyscall)
		told := each(syscall.Syscall)
		if i > 0 {
			all = append(all, told-raw)
		}
	}
	report("syscall", "ns", middle(all))
}

func blocked() {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var all []float64
	pause := syscall.NsecToTimespec(int64(2 * time.Millisecond))
	for end := clock() + int64(*seconds*1e9); clock() < end; {
		var start atomic.Int64
		took := make(chan int64, 1)
		start.Store(clock()) // The other may run at once, should this one's quantum end here.
		go func() { took <- clock() - start.Load() }()
		start.Store(clock())
		syscall.Syscall(syscall.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&pause)), 0, 0)
		all = append(all, float64(<-took))
	}
	percentiles("blocked", all)
}
