// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

func init() {
	works = append(works,
		work{"hogs", "a turn beside 1 and 4 goroutines that do not yield, 1 P, ns", 1, hogs},
		work{"tree", "an unbalanced tree of starts, 2 Ps, ns a leaf", 2, tree},
		work{"fan", "fan-out to 8 goroutines and fan-in, 2 Ps, ns an element", 2, fan},
		work{"storm", "one wakes 1000 until all have run, 2 Ps, ns each", 2, storm},
		work{"idle", "CPU of a program that wakes every 10 ms, ms a second", 1, idle},
	)
}

var sink atomic.Uint64

func hogs() {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, n := range []int{1, 4} {
		var stop atomic.Bool
		var wg sync.WaitGroup
		for range n {
			wg.Go(func() {
				count := uint64(0)
				for !stop.Load() {
					count++
				}
				sink.Store(count)
			})
		}
		turns(*seconds / 4)
		all := turns(*seconds)
		stop.Store(true)
		wg.Wait()
		percentiles("hogs/"+strconv.Itoa(n), all)
	}
}

// turns lets others go first again and again, and says how long each time took.
func turns(seconds float64) []float64 {
	var all []float64
	last := clock()
	for end := last + int64(seconds*1e9); last < end; {
		runtime.Gosched()
		now := clock()
		all = append(all, float64(now-last))
		last = now
	}
	return all
}

// compute takes some 100 ns.
func compute(x uint64) {
	for range 64 {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	if x == 0 {
		sink.Store(x)
	}
}

// Each node gives an eighth of its leaves to a child, again and again.
func tree() {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	const leaves = 300_000
	median("tree/procs=2", leaves, func() {
		var left atomic.Int64
		left.Store(leaves)
		var wg sync.WaitGroup
		wg.Add(1)
		var branch func(size int)
		branch = func(size int) {
			for mine := size; mine > 1; {
				part := max(1, mine/8)
				go branch(part)
				mine -= part
			}
			compute(uint64(size))
			if left.Add(-1) == 0 {
				wg.Done()
			}
		}
		go branch(leaves)
		wg.Wait()
	})
}

func fan() {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	const workers, each = 8, 50_000
	median("fan/procs=2", workers*each, func() {
		in, out := make(chan int, 128), make(chan int, 128)
		go func() {
			for i := range workers * each {
				in <- i
			}
		}()
		for range workers {
			go func() {
				for range each {
					v := <-in
					compute(uint64(v))
					out <- v
				}
			}()
		}
		sum := 0
		for range workers * each {
			sum += <-out
		}
		sink.Store(uint64(sum))
	})
}

func storm() {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	const waiters = 1000
	once := func() float64 {
		gate := make(chan struct{})
		var ready, all sync.WaitGroup
		ready.Add(waiters)
		all.Add(waiters)
		for range waiters {
			go func() {
				ready.Done()
				<-gate
				all.Done()
			}()
		}
		ready.Wait()
		time.Sleep(time.Millisecond) // the last ones are on their way into their wait
		start := clock()
		close(gate)
		all.Wait()
		return float64(clock()-start) / waiters
	}
	once()
	var all []float64
	end := clock() + int64(*seconds*1e9)
	for i := 0; i < 3 || clock() < end; i++ {
		all = append(all, once())
	}
	report("storm/procs=2", "ns", middle(all))
}

func idle() {
	go func() {
		for {
			time.Sleep(10 * time.Millisecond)
		}
	}()
	time.Sleep(100 * time.Millisecond)
	before, start := used(), clock()
	time.Sleep(time.Duration(3 * *seconds * 1e9))
	report("idle", "ms/s", 1000*float64(used()-before)/float64(clock()-start))
}

// used is the CPU time of the process, in ns.
func used() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		fail("%v", err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
