// SPDX-License-Identifier: Apache-2.0

// Command peers does in Go what gmp4j's benchmarks do, so that both can be measured in one session on one machine.
// It prints one JSON object a line, {"work":…,"unit":…,"value":…}; messages go to stderr.
//
//	go build -o peers . && ./peers [-runs N] [-seconds S] [-goroutines N] [WORK...]
//
// `gmp peers` starts it with -each: a line for each run instead of their median, for -seconds in all, and only what its
// catalogue has.
//
// Throughput figures are medians of -runs runs after one that is thrown away. Latencies (wake, handoff) are percentiles over
// all samples of -seconds for each gap; a late sample delays the next one, so the tail counts starts that were late, not
// what a constant arrival rate would have seen (coordinated omission).
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

var (
	runs       = flag.Int("runs", 5, "measured runs of each throughput work, at least 1")
	seconds    = flag.Float64("seconds", 5, "time for each gap of a latency work")
	goroutines = flag.Int("goroutines", 1_000_000, "goroutines to park")
	eachRun    = flag.Bool("each", false, "print each run, until -seconds are over; of wake only the gap of 200 µs")
	onlyProcs  = flag.Int("procs", 0, "of works on several numbers of Ps only this one")
)

type work struct {
	name, about string
	procs       int // fewest CPUs that make sense
	run         func()
}

var works = []work{
	{"yield", "Gosched between 2 goroutines on 1 P, ns a switch", 1, yield},
	{"spawn", "go + run + exit in batches on 1 P, ns each", 1, spawn},
	{"wake", "go f() to f on an idle P while the parent runs on, 2 Ps, ns", 2, wake},
	{"handoff", "send to a blocked receiver until it runs on the other P, 2 Ps, ns", 2, handoff},
	{"pingpong", "unbuffered round trip, ns", 1, pingpong},
	{"traced", "unbuffered round trip without and with an execution trace, ns, and how many times as long", 1, traced},
	{"buffered", "producer to consumer, capacity 128, ns an element", 1, buffered},
	{"select", "select of 2 and a send: a token goes to and fro between 2 buffered channels, ns", 1, selects},
	{"selectfed", "select of 2 fed by 2 goroutines, unbuffered and buffered, ns an element", 1, selectFed},
	{"selectdefault", "select that takes its default, of 1 and of 2 empty channels, ns", 1, selectDefault},
	{"sieve", "the first 2000 primes, a goroutine each, ms", 1, sieve},
	{"philosophers", "5 dining philosophers, 100,000 meals each, ms", 1, philosophers},
	{"pipeline", "200,000 numbers through 3 stages, then cancelled by a context, ms", 1, pipeline},
	{"skynet", "a tree of goroutines with 1,000,000 leaves, ns a leaf", 1, skynet},
	{"ring", "token through a ring of 1000 goroutines, ns a hop", 1, ring},
	{"mutex", "Lock and Unlock, nobody else there, 1 P, ns", 1, mutex},
	{"contended", "Lock and Unlock by 4 goroutines, 2 Ps, ns each", 2, contended},
	{"read", "RLock and RUnlock of an RWMutex, 1 P, ns", 1, read},
	{"waitgroup", "Add, go Done, Wait, 1 P, ns", 1, waitgroup},
	{"parked", "resident bytes of a goroutine blocked in a receive", 1, parked},
}

func main() {
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: peers [flags] [WORK...]   (no WORK: all of them)")
		for _, w := range works {
			fmt.Fprintf(os.Stderr, "  %-9s %s\n", w.name, w.about)
		}
		flag.PrintDefaults()
	}
	flag.Parse()
	if *runs < 1 || *seconds <= 0 || *goroutines < 1 {
		fail("-runs, -seconds and -goroutines must be above 0")
	}
	var chosen []work
	for _, name := range flag.Args() {
		if name == parkedChild {
			fmt.Println(parkedBytes())
			return
		}
		i := slices.IndexFunc(works, func(w work) bool { return w.name == name })
		if i < 0 {
			fail("unknown work %q; -help lists them", name)
		}
		chosen = append(chosen, works[i])
	}
	if len(chosen) == 0 {
		chosen = works
	}
	for _, w := range chosen {
		if runtime.NumCPU() < w.procs {
			fmt.Fprintf(os.Stderr, "peers: %s needs %d CPUs, left out\n", w.name, w.procs)
			continue
		}
		w.run()
	}
}

func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "peers: "+format+"\n", args...)
	os.Exit(2)
}

func report(work, unit string, value float64) {
	line, err := json.Marshal(struct {
		Work  string  `json:"work"`
		Unit  string  `json:"unit"`
		Value float64 `json:"value"`
	}{work, unit, value})
	if err != nil {
		panic(err)
	}
	fmt.Println(string(line))
}

// median runs body, which does ops operations, and reports ns for each.
func median(work string, ops int, body func()) {
	if *eachRun {
		body()
		end := clock() + int64(*seconds*1e9)
		for i := 0; i < 3 || clock() < end; i++ {
			start := time.Now()
			body()
			report(work, "ns", float64(time.Since(start))/float64(ops))
		}
		return
	}
	var all []float64
	for i := 0; i <= *runs; i++ {
		start := time.Now()
		body()
		if i > 0 { // the first one warms up
			all = append(all, float64(time.Since(start))/float64(ops))
		}
	}
	report(work, "ns", middle(all))
}

// medianMs runs body and reports milliseconds.
func medianMs(work string, body func()) {
	var all []float64
	for i := 0; i <= *runs; i++ {
		start := time.Now()
		body()
		if i > 0 {
			all = append(all, float64(time.Since(start))/1e6)
		}
	}
	report(work, "ms", middle(all))
}

// percentiles reports the median and p99.
func percentiles(work string, values []float64) {
	slices.Sort(values)
	last := len(values) - 1
	report(work+"/p50", "ns", values[last/2])
	report(work+"/p99", "ns", values[last*99/100])
}

func middle(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

// each runs body on 1 P and, where there are two CPUs, on 2.
func each(body func(suffix string)) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for procs := 1; procs <= 2 && procs <= runtime.NumCPU(); procs++ {
		if *onlyProcs == 0 || *onlyProcs == procs {
			runtime.GOMAXPROCS(procs)
			body("/procs=" + strconv.Itoa(procs))
		}
	}
}

func yield() {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const n = 1_000_000
	median("yield", 2*n, func() {
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				for range n {
					runtime.Gosched()
				}
			})
		}
		wg.Wait()
	})
}

func spawn() {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	// 100 fit the P's own queue and the cache; 10,000 go over the global queue and touch 20 MB of stacks, so they vary.
	for _, batch := range []int{100, 10_000} {
		const n = 2_000_000
		median("spawn/batch="+strconv.Itoa(batch), n, func() {
			var wg sync.WaitGroup
			done := wg.Done
			for range n / batch {
				wg.Add(batch)
				for range batch {
					go done()
				}
				wg.Wait()
			}
		})
	}
}

func pingpong() {
	each(func(suffix string) {
		const n = 500_000
		median("pingpong"+suffix, n, func() { roundTrips(n) })
	})
}

// roundTrips goes there and back n times between two goroutines, on unbuffered channels.
func roundTrips(n int) {
	ping, pong := make(chan int), make(chan int)
	go func() {
		for v := range ping {
			pong <- v
		}
	}()
	for i := range n {
		ping <- i
		<-pong
	}
	close(ping)
}

func buffered() {
	each(func(suffix string) {
		const n = 5_000_000
		median("buffered"+suffix, n, func() {
			c := make(chan int, 128)
			go func() {
				for i := range n {
					c <- i
				}
				close(c)
			}()
			for range c {
			}
		})
	})
}

func selects() {
	each(func(suffix string) {
		const n = 2_000_000
		median("select"+suffix, n, func() {
			a, b := make(chan int, 1), make(chan int, 1)
			a <- 0
			for range n {
				select {
				case <-a:
					b <- 0
				case <-b:
					a <- 0
				}
			}
		})
	})
}

func selectFed() {
	each(func(suffix string) {
		for _, capacity := range []int{0, 128} {
			const n = 1_000_000
			median("selectfed/cap="+strconv.Itoa(capacity)+suffix, n, func() {
				a, b := make(chan int, capacity), make(chan int, capacity)
				for _, c := range []chan int{a, b} {
					go func() {
						for i := range n / 2 {
							c <- i
						}
					}()
				}
				for range n {
					select {
					case <-a:
					case <-b:
					}
				}
			})
		}
	})
}

func selectDefault() {
	each(func(suffix string) {
		const n = 10_000_000
		a, b := make(chan int), make(chan int)
		median("selectdefault/1"+suffix, n, func() {
			for range n {
				select {
				case <-a:
				default:
				}
			}
		})
		median("selectdefault/2"+suffix, n, func() {
			for range n {
				select {
				case <-a:
				case <-b:
				default:
				}
			}
		})
	})
}

// sieve, philosophers, pipeline and skynet do what the examples of these names do.

func sieve() {
	each(func(suffix string) {
		medianMs("sieve"+suffix, func() {
			const primes = 2000
			stop := make(chan int64)
			in := make(chan int64)
			send := func(c chan int64, v int64) bool {
				select {
				case c <- v:
					return true
				case <-stop:
					return false
				}
			}
			numbers := in
			go func() {
				for i := int64(2); send(numbers, i); i++ {
				}
			}()
			for range primes {
				prime := <-in
				from, to := in, make(chan int64)
				go func() {
					for {
						select {
						case v := <-from:
							if v%prime != 0 && !send(to, v) {
								return
							}
						case <-stop:
							return
						}
					}
				}()
				in = to
			}
			close(stop)
		})
	})
}

func philosophers() {
	const n, meals = 5, 100_000
	each(func(suffix string) {
		medianMs("philosophers"+suffix, func() {
			var forks [n]chan *int
			for i := range forks {
				forks[i] = make(chan *int, 1)
				forks[i] <- new(int)
			}
			var wg sync.WaitGroup
			for i := range n {
				wg.Go(func() { philosopher(forks[i], forks[(i+1)%n], meals) })
			}
			wg.Wait()
			uses := 0
			for _, fork := range forks {
				uses += *<-fork
			}
			if uses != 2*n*meals {
				fail("philosophers: two held one fork")
			}
		})
	})
}

func philosopher(left, right chan *int, meals int) {
	for eaten := 0; eaten < meals; {
		var held *int
		first, second := left, right
		select {
		case held = <-left:
		case held = <-right:
			first, second = right, left
		}
		var both bool
		select {
		case other := <-second:
			both = true
			*held++
			*other++
			eaten++
			second <- other
		default:
		}
		first <- held
		if !both {
			runtime.Gosched()
		}
	}
}

func pipeline() {
	const numbers, wanted, squarers = 1_000_000, 200_000, 4
	send := func(ctx context.Context, c chan int64, v int64) bool {
		select {
		case c <- v:
			return true
		case <-ctx.Done():
			return false
		}
	}
	each(func(suffix string) {
		medianMs("pipeline"+suffix, func() {
			ctx, cancel := context.WithCancel(context.Background())
			source, results := make(chan int64), make(chan int64)
			go func() {
				for n := int64(1); n <= numbers && send(ctx, source, n); n++ {
				}
				close(source)
			}()
			var all sync.WaitGroup
			for range squarers {
				out := make(chan int64)
				go func() {
					for v := range source {
						if !send(ctx, out, v*v) {
							break
						}
					}
					close(out)
				}()
				all.Go(func() {
					for v := range out {
						if !send(ctx, results, v) {
							return
						}
					}
				})
			}
			for range wanted {
				v := <-results
				if root := int64(math.Round(math.Sqrt(float64(v)))); root*root != v {
					fail("pipeline: wrong number")
				}
			}
			cancel()
			all.Wait()
		})
	})
}

func skynet() {
	var node func(up chan int64, first int64, size int)
	node = func(up chan int64, first int64, size int) {
		if size == 1 {
			up <- first
			return
		}
		mine := make(chan int64)
		for i := range 10 {
			go node(mine, first+int64(i*size/10), size/10)
		}
		var sum int64
		for range 10 {
			sum += <-mine
		}
		up <- sum
	}
	each(func(suffix string) {
		leaves := 1_000_000
		if *eachRun {
			leaves = 100_000
		}
		median("skynet"+suffix, leaves, func() {
			up := make(chan int64)
			go node(up, 0, leaves)
			if <-up != int64(leaves)*int64(leaves-1)/2 {
				fail("skynet: wrong sum")
			}
		})
	})
}

func ring() {
	each(func(suffix string) {
		const size, hops = 1000, 1_000_000
		median("ring"+suffix, hops, func() {
			var links [size]chan int
			for i := range links {
				links[i] = make(chan int)
			}
			done := make(chan struct{})
			for i := range links {
				go func() {
					next := links[(i+1)%size]
					for hop := range links[i] {
						if hop == hops {
							close(done)
						} else {
							next <- hop + 1
						}
					}
				}()
			}
			links[0] <- 1
			<-done
			for _, link := range links {
				close(link)
			}
		})
	})
}

func mutex() {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const n = 10_000_000
	var m sync.Mutex
	counter := 0
	median("mutex", n, func() {
		for range n {
			m.Lock()
			counter++
			m.Unlock()
		}
	})
}

func contended() {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	const n, users = 4_000_000, 4
	var m sync.Mutex
	counter := 0
	median("contended", n, func() {
		var wg sync.WaitGroup
		for range users {
			wg.Go(func() {
				for range n / users {
					m.Lock()
					counter++
					m.Unlock()
				}
			})
		}
		wg.Wait()
	})
}

func read() {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const n = 10_000_000
	var m sync.RWMutex
	median("read", n, func() {
		for range n {
			m.RLock()
			m.RUnlock()
		}
	})
}

func waitgroup() {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const n = 1_000_000
	var wg sync.WaitGroup
	done := wg.Done
	median("waitgroup", n, func() {
		for range n {
			wg.Add(1)
			go done()
			wg.Wait()
		}
	})
}

var base = time.Now()

// clock is what both ends of a latency read: monotonic ns since the start of the program.
func clock() int64 { return int64(time.Since(base)) }

// spin keeps the CPU for ns.
func spin(ns int64) {
	for end := clock() + ns; clock() < end; {
	}
}

// latency takes samples until the time is up and reports their percentiles. sample gives one latency in ns; before each the
// parent computes for gap, so that the other P's thread has had that long to find nothing to do and go to sleep.
func latency(work string, gap time.Duration, sample func() int64) {
	const most, warmup = 1_000_000, 100
	all := make([]float64, 0, most)
	for range warmup {
		spin(int64(gap))
		sample()
	}
	for end := clock() + int64(*seconds*1e9); len(all) < most && clock() < end; {
		spin(int64(gap))
		all = append(all, float64(sample()))
	}
	if *eachRun {
		percentiles(work, all)
		return
	}
	slices.Sort(all)
	work += "/gap_ns=" + strconv.FormatInt(int64(gap), 10)
	for _, p := range []struct {
		name string
		part float64
	}{{"p50", 0.5}, {"p99", 0.99}, {"p999", 0.999}} {
		report(work+"/"+p.name, "ns", all[int(p.part*float64(len(all)-1))])
	}
	report(work+"/samples", "count", float64(len(all)))
}

func wake() {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	gaps := []time.Duration{0, 20 * time.Microsecond, 200 * time.Microsecond, time.Millisecond}
	if *eachRun {
		gaps = gaps[2:3]
	}
	for _, gap := range gaps {
		var took atomic.Int64
		latency("wake", gap, func() int64 {
			took.Store(0)
			start := clock()
			go func() { took.Store(max(1, clock()-start)) }()
			// The parent keeps its P, so f has to start on the other one, or here when the parent is preempted.
			for took.Load() == 0 {
			}
			return took.Load()
		})
	}
}

func handoff() {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	// The shortest gap is long enough for a receiver on the other P to block again.
	for _, gap := range []time.Duration{2 * time.Microsecond, 20 * time.Microsecond, 200 * time.Microsecond, time.Millisecond} {
		var took atomic.Int64
		c := make(chan int64)
		go func() {
			for sent := range c {
				took.Store(max(1, clock()-sent))
			}
		}()
		latency("handoff", gap, func() int64 {
			took.Store(0)
			c <- clock()
			for took.Load() == 0 {
			}
			return took.Load()
		})
		close(c)
	}
}

// parkedChild is what this program calls itself with: memory is measured in a process that has done nothing else.
const parkedChild = "parked-child"

func parked() {
	var all []float64
	times := *runs
	if *eachRun {
		times = 1
	}
	for range times {
		self, err := os.Executable()
		if err != nil {
			fail("%v", err)
		}
		out, err := exec.Command(self, "-goroutines", strconv.Itoa(*goroutines), parkedChild).Output()
		if err != nil {
			fmt.Fprintf(os.Stderr, "peers: parked: %v (out of memory?)\n", err)
			os.Exit(1)
		}
		bytes, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
		if err != nil {
			fail("%v", err)
		}
		all = append(all, bytes)
	}
	report("parked", "bytes", middle(all))
}

func parkedBytes() float64 {
	before := resident()
	c := make(chan struct{})
	var started atomic.Int64
	for range *goroutines {
		go func() {
			started.Add(1)
			<-c
		}()
	}
	for started.Load() < int64(*goroutines) {
		runtime.Gosched()
	}
	time.Sleep(100 * time.Millisecond) // the last ones are on their way into the receive
	debug.FreeOSMemory()
	return float64(resident()-before) / float64(*goroutines)
}

// resident is the second number of statm, in bytes.
func resident() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		fail("%v", err)
	}
	pages, err := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
	if err != nil {
		fail("%v", err)
	}
	return pages * int64(os.Getpagesize())
}
