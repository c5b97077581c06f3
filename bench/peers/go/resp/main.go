// SPDX-License-Identifier: Apache-2.0

// A server that speaks Redis' protocol on Go's scheduler, the twin of bench/examples/resp: a goroutine a connection; requests
// that come together are answered in one write; what is published goes through channels. Its argument is the port, 0 for any
// that is free. Ends at SIGTERM, when its connections have answered what they were asked.
// Built as go build -o FILE hub.go main.go request.go session.go store.go.
package main

import (
	"fmt"
	"net"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"
)

const (
	badUsage = 2
	grace    = 5 * time.Second // so long a client that does not read its answers may hold up the end
	linger   = time.Second     // so long a client that sent rubbish is listened to, so that it gets the answer
	pause    = 10 * time.Millisecond
)

// server is what all connections share, and their beginning and end.
type server struct {
	store       store
	hub         hub
	listener    *net.TCPListener
	mu          sync.Mutex
	connections map[*net.TCPConn]bool
	stopping    bool
	sessions    sync.WaitGroup
}

func main() {
	port := -1
	if len(os.Args) == 2 {
		if n, err := strconv.ParseUint(os.Args[1], 10, 16); err == nil {
			port = int(n)
		}
	}
	if port < 0 {
		fmt.Fprintln(os.Stderr, "resp: its argument is a port, from 0, for any, to 65535.")
		os.Exit(badUsage)
	}
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
	if err != nil {
		fmt.Fprintf(os.Stderr, "resp: %v.\n", err)
		os.Exit(1)
	}
	s := &server{listener: l, connections: make(map[*net.TCPConn]bool)}
	s.store.values = make(map[string]value)
	s.hub.channels = make(map[string]map[*session]bool)
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM, syscall.SIGINT)
	fmt.Println("ready on", l.Addr().(*net.TCPAddr).Port)
	go s.accept()
	go func() {
		for range time.Tick(time.Second) {
			s.store.sweep()
		}
	}()
	<-end
	s.stop()
}

func (s *server) accept() {
	for {
		c, err := s.listener.AcceptTCP()
		s.mu.Lock()
		stopping := s.stopping
		if err == nil && !stopping {
			s.connections[c] = true
			s.sessions.Go(func() { s.serve(c) })
		}
		s.mu.Unlock()
		switch {
		case stopping && err == nil:
			c.Close()
		case stopping:
			return
		case err != nil:
			time.Sleep(pause) // there is no descriptor just now
		}
	}
}

func (s *server) serve(c *net.TCPConn) {
	newSession(s, c).run()
	c.Close()
	s.mu.Lock()
	delete(s.connections, c)
	s.mu.Unlock()
}

// stop takes no connection any more; those that there are answer what they have been asked.
func (s *server) stop() {
	s.mu.Lock()
	s.stopping = true
	for c := range s.connections {
		c.CloseRead()
	}
	s.mu.Unlock()
	s.listener.Close()
	over := make(chan struct{})
	go func() {
		s.sessions.Wait()
		close(over)
	}()
	select {
	case <-over:
	case <-time.After(grace):
	}
}

func (s *server) info() string {
	s.mu.Lock()
	n := len(s.connections)
	s.mu.Unlock()
	return fmt.Sprintf("# Server\r\nredis_version:7.0.0\r\n# Clients\r\nconnected_clients:%d\r\n# Keyspace\r\ndb0:keys=%d\r\n",
		n, s.store.size())
}
