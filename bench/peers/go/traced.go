// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"runtime/trace"
	"time"
)

// traced does what Traced.java does: round trips without and with a trace, in turns.
func traced() {
	each(func(suffix string) {
		const n = 50_000
		var off, on, cost []float64
		end := clock() + int64(*seconds*1e9)
		for i := 0; i < *runs && !*eachRun || *eachRun && (i < 4 || clock() < end); i++ {
			without := secondRun(n)
			with := whileTraced(func() float64 { return secondRun(n) })
			if *eachRun && i == 0 {
				end = clock() + int64(*seconds*1e9)
				continue // It warmed up.
			}
			if *eachRun {
				report("traced/off"+suffix, "ns", without)
				report("traced/on"+suffix, "ns", with)
				report("traced/cost"+suffix, "times", with/without)
			}
			off, on, cost = append(off, without), append(on, with), append(cost, with/without)
		}
		if !*eachRun {
			report("traced/off"+suffix, "ns", middle(off))
			report("traced/on"+suffix, "ns", middle(on))
			report("traced/cost"+suffix, "times", middle(cost))
		}
	})
}

// secondRun is nanoseconds a round trip of the second of two runs.
func secondRun(n int) float64 {
	roundTrips(n)
	start := time.Now()
	roundTrips(n)
	return float64(time.Since(start)) / float64(n)
}

// whileTraced calls body while a trace is written to a file, which it removes.
func whileTraced(body func() float64) float64 {
	file, err := os.CreateTemp("", "peers*.trace")
	if err != nil {
		panic(err)
	}
	defer os.Remove(file.Name())
	defer file.Close()
	if err := trace.Start(file); err != nil {
		panic(err)
	}
	defer trace.Stop()
	return body()
}
