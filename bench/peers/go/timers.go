// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"math"
	"runtime"
	"time"
)

func init() {
	works = append(works,
		work{"timerstop", "NewTimer and Stop on 1 P, ns", 1, timerstop},
		work{"funcstop", "AfterFunc and Stop on 1 P, ns", 1, funcstop},
		work{"timerreset", "Reset of a running timer on 1 P, ns", 1, timerreset},
		work{"funcreset", "Reset of a running AfterFunc timer on 1 P, ns", 1, funcreset},
		work{"withtimeout", "WithTimeout and cancel on 1 P, ns", 1, withtimeout},
		work{"sleep", "how late Sleep(50 µs) returns, p50 and p99 on 1 P, ns", 1, sleep},
	)
}

const timers = 1_000_000

func onOneP(name string, body func()) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	median(name, timers, body)
}

func timerstop() {
	onOneP("timerstop", func() {
		for range timers {
			time.NewTimer(time.Hour).Stop()
		}
	})
}

func funcstop() {
	onOneP("funcstop", func() {
		for range timers {
			time.AfterFunc(time.Hour, func() {}).Stop()
		}
	})
}

func timerreset() {
	onOneP("timerreset", func() {
		t := time.NewTimer(time.Hour)
		for range timers {
			t.Reset(time.Hour)
		}
		t.Stop()
	})
}

func funcreset() {
	onOneP("funcreset", func() {
		t := time.AfterFunc(time.Hour, func() {})
		for range timers {
			t.Reset(time.Hour)
		}
		t.Stop()
	})
}

func withtimeout() {
	onOneP("withtimeout", func() {
		root, stop := context.WithCancel(context.Background())
		for range timers {
			_, cancel := context.WithTimeout(root, time.Hour)
			cancel()
		}
		stop()
	})
}

func sleep() {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const d = 50 * time.Microsecond
	var late []float64
	most := int64(5_000)
	if *eachRun {
		most = math.MaxInt64
	}
	end := clock() + int64(*seconds*1e9)
	for i := int64(0); i < most && (!*eachRun || clock() < end); i++ {
		start := time.Now()
		time.Sleep(d)
		late = append(late, float64(time.Since(start)-d))
	}
	percentiles("sleep", late)
}
