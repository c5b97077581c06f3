// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
)

const (
	mostMessages = 1024 // wait for a client at most
	mostWaiting  = 2 * mostBytes
	together     = 16 << 10
)

var errSlow = errors.New("the client does not read its answers")

// hub knows who has subscribed to what. A subscriber is told of its subscription under the lock that publishers take, so a
// message never comes before that answer.
type hub struct {
	mu       sync.Mutex
	channels map[string]map[*session]bool
}

// publish sends a message to all subscribers and says how many there are; those that have no room for it are closed.
func (h *hub) publish(channel string, message []byte) int {
	var slow []*session
	h.mu.Lock()
	n := len(h.channels[channel])
	for s := range h.channels[channel] {
		if !s.outbox.offer(message) {
			slow = append(slow, s)
		}
	}
	h.mu.Unlock()
	for _, s := range slow {
		s.conn.Close()
	}
	return n
}

func (h *hub) add(channel string, s *session) {
	if h.channels[channel] == nil {
		h.channels[channel] = make(map[*session]bool)
	}
	h.channels[channel][s] = true
}

func (h *hub) remove(channel string, s *session) {
	delete(h.channels[channel], s)
	if len(h.channels[channel]) == 0 {
		delete(h.channels, channel)
	}
}

// outbox is what waits to be sent to a client that has subscribed, and the goroutine that sends it. Who offers never waits.
type outbox struct {
	conn     *net.TCPConn
	messages chan []byte
	sent     chan struct{}
	bytes    atomic.Int64
}

func newOutbox(c *net.TCPConn) *outbox {
	o := &outbox{conn: c, messages: make(chan []byte, mostMessages), sent: make(chan struct{})}
	go o.send()
	return o
}

// offer takes a message that nobody changes any more; false when there is no room.
func (o *outbox) offer(message []byte) bool {
	if o.bytes.Add(int64(len(message))) <= mostWaiting {
		select {
		case o.messages <- message:
			return true
		default:
		}
	}
	o.bytes.Add(-int64(len(message)))
	return false
}

// close is called when no more is offered; it waits until all is sent, or the connection has failed.
func (o *outbox) close() {
	close(o.messages)
	<-o.sent
}

func (o *outbox) send() {
	defer close(o.sent)
	buffer := make([]byte, 0, together)
	for first := range o.messages {
		buffer = o.append(buffer[:0], first)
		for more := true; more && len(buffer) < together; {
			select {
			case m, ok := <-o.messages:
				if more = ok; ok {
					buffer = o.append(buffer, m)
				}
			default:
				more = false
			}
		}
		if _, err := o.conn.Write(buffer); err != nil {
			o.conn.Close() // its session notices, and takes it out of all channels
			return
		}
		if cap(buffer) > together {
			buffer = make([]byte, 0, together)
		}
	}
}

func (o *outbox) append(buffer, message []byte) []byte {
	o.bytes.Add(-int64(len(message)))
	return append(buffer, message...)
}
