// SPDX-License-Identifier: Apache-2.0

// The server of `gmp service` on Go's scheduler: a goroutine for each connection, which reads how many nanoseconds of CPU time
// a request needs, computes for so long, and answers with the number. Prints its port and how many rounds of its loop take a
// nanosecond; ends with its standard input. Its twin is bench/src/main/java/org/gmp4j/bench/service/Server.java.
// Built as go build -o FILE main.go.
package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"slices"
	"sync/atomic"
	"time"
)

const (
	calibrations      = 400
	calibrationRounds = 100_000
)

var sink atomic.Uint64

func main() {
	perNano := calibrate()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(l.Addr().(*net.TCPAddr).Port, perNano)
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	for {
		c, err := l.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go serve(c, perNano)
	}
}

func serve(c net.Conn, perNano float64) {
	defer c.Close() // net sets TCP_NODELAY by itself
	var buffer [8]byte
	for {
		if _, err := io.ReadFull(c, buffer[:]); err != nil {
			return // the client is done, or was ended
		}
		nanos := int64(binary.BigEndian.Uint64(buffer[:]))
		sink.Add(compute(int64(float64(nanos) * perNano)))
		if _, err := c.Write(buffer[:]); err != nil {
			return
		}
	}
}

// compute is a random number generator (xorshift): no call, nothing to vectorise, and each step needs the last, so that a
// round takes as long however it is compiled.
//
//go:noinline
func compute(rounds int64) uint64 {
	h := uint64(rounds) | 1
	for i := int64(0); i < rounds; i++ {
		h ^= h << 13
		h ^= h >> 7
		h ^= h << 17
	}
	return h
}

// calibrate says how many rounds take a nanosecond, on this CPU with nothing beside: the median of some times.
func calibrate() float64 {
	nanos := make([]time.Duration, calibrations)
	for i := range nanos {
		start := time.Now()
		sink.Add(compute(calibrationRounds))
		nanos[i] = time.Since(start)
	}
	slices.Sort(nanos)
	return float64(calibrationRounds) / float64(nanos[calibrations/2])
}
