// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

const mostChannels = 1024

// arity is with how many arguments a command may be called, its name among them.
var arity = map[string][2]int{
	"PING": {1, 2}, "ECHO": {2, 2}, "GET": {2, 2}, "SET": {3, 3}, "DEL": {2, mostArgs}, "INCR": {2, 2}, "EXPIRE": {3, 3},
	"MGET": {2, mostArgs}, "MSET": {3, mostArgs}, "SUBSCRIBE": {2, mostArgs}, "UNSUBSCRIBE": {1, mostArgs},
	"PUBLISH": {3, 3}, "INFO": {1, mostArgs}, "QUIT": {1, mostArgs}, "CONFIG": {1, mostArgs}, "COMMAND": {1, mostArgs},
}

var besideMessages = map[string]bool{"SUBSCRIBE": true, "UNSUBSCRIBE": true, "PING": true, "QUIT": true}

// session is a connection and what it is asked for.
type session struct {
	server   *server
	conn     *net.TCPConn
	request  request
	reply    []byte
	err      error // of a write
	channels []string
	bytes    int     // of the channels' names
	outbox   *outbox // nil until the first SUBSCRIBE
}

func newSession(s *server, c *net.TCPConn) *session {
	return &session{server: s, conn: c, request: request{in: make([]byte, firstBuffer)}, reply: make([]byte, 0, firstBuffer)}
}

// run answers until the client ends, or has sent rubbish.
func (s *session) run() {
	more := s.answer()
	if s.outbox != nil {
		s.server.hub.mu.Lock()
		for _, c := range s.channels {
			s.server.hub.remove(c, s)
		}
		s.server.hub.mu.Unlock()
		s.outbox.close()
	}
	if more { // All is written by now.
		s.conn.CloseWrite()
		s.conn.SetReadDeadline(time.Now().Add(linger))
		io.CopyN(io.Discard, s.conn, mostBytes)
	}
}

// answer says whether the client may send more, though it ends here.
func (s *session) answer() bool {
	for s.err == nil {
		ok, err := s.request.next()
		if ok {
			if !s.command() {
				s.flush()
				return false
			}
			continue
		}
		if err == nil {
			s.flush() // all that was asked for is answered before this waits
			if s.err != nil {
				return false
			}
			err = s.request.read(s.conn)
		}
		if text, is := isRubbish(err); is {
			s.error("Protocol error: " + text)
			s.flush()
			return true
		}
		if err != nil {
			return false
		}
	}
	return false
}

// command says whether it was not the last.
func (s *session) command() bool {
	args := s.request.args
	capitalise(args[0])
	limits, known := arity[string(args[0])]
	switch {
	case !known:
		s.error("unknown command '" + string(args[0]) + "'")
		return true
	case len(args) < limits[0] || len(args) > limits[1] || string(args[0]) == "MSET" && len(args)%2 == 0:
		s.error("wrong number of arguments for '" + strings.ToLower(string(args[0])) + "' command")
		return true
	case len(s.channels) > 0 && !besideMessages[string(args[0])]:
		s.error("Can't execute '" + strings.ToLower(string(args[0])) +
			"': only SUBSCRIBE / UNSUBSCRIBE / PING / QUIT are allowed in this context")
		return true
	}
	s.perform(args)
	return string(args[0]) != "QUIT"
}

func capitalise(name []byte) {
	for i, c := range name {
		if c >= 'a' && c <= 'z' {
			name[i] = c - 'a' + 'A'
		}
	}
}

func (s *session) perform(args [][]byte) {
	st := &s.server.store
	switch string(args[0]) {
	case "PING":
		s.ping(args)
	case "ECHO":
		s.bulk(args[1])
	case "GET":
		s.bulk(st.get(args[1]))
	case "SET":
		st.set(args[1], args[2])
		s.put("+OK\r\n")
	case "DEL":
		gone := int64(0)
		for _, k := range args[1:] {
			if st.del(k) {
				gone++
			}
		}
		s.number(gone)
	case "INCR":
		n, err := st.incr(args[1])
		if err != nil {
			s.error(err.Error())
			return
		}
		s.number(n)
	case "EXPIRE":
		s.expire(args)
	case "MGET":
		s.prefix('*', int64(len(args)-1))
		for _, k := range args[1:] {
			s.bulk(st.get(k))
		}
	case "MSET":
		for i := 1; i < len(args); i += 2 {
			st.set(args[i], args[i+1])
		}
		s.put("+OK\r\n")
	case "SUBSCRIBE":
		s.subscribe(args[1:])
	case "UNSUBSCRIBE":
		s.unsubscribe(args[1:])
	case "PUBLISH":
		s.number(int64(s.server.hub.publish(string(args[1]), message(args[1], args[2]))))
	case "INFO":
		s.bulk([]byte(s.server.info()))
	case "QUIT":
		s.put("+OK\r\n")
	case "CONFIG": // what redis-benchmark asks first
		s.config(args)
	case "COMMAND": // and redis-cli
		s.put("*0\r\n")
	}
}

// config says that nothing is written to a disk; nothing else can be asked for.
func (s *session) config(args [][]byte) {
	values := map[string]string{"save": "", "appendonly": "no"}
	if len(args) == 3 {
		if v, ok := values[string(args[2])]; ok {
			s.prefix('*', 2)
			s.bulk(args[2])
			s.bulk([]byte(v))
			return
		}
	}
	s.put("*0\r\n")
}

func (s *session) expire(args [][]byte) {
	seconds, err := strconv.ParseInt(string(args[2]), 10, 64)
	there := false
	if err == nil {
		there, err = s.server.store.expire(args[1], seconds)
	}
	switch {
	case err != nil:
		s.error(errNumber.Error())
	case there:
		s.number(1)
	default:
		s.number(0)
	}
}

func (s *session) ping(args [][]byte) {
	var text []byte
	if len(args) > 1 {
		text = args[1]
	}
	switch {
	case len(s.channels) > 0:
		s.put("*2\r\n$4\r\npong\r\n")
		s.bulk(append([]byte{}, text...))
	case text == nil:
		s.put("+PONG\r\n")
	default:
		s.bulk(text)
	}
}

// channels

func (s *session) subscribe(names [][]byte) {
	total := s.bytes
	for _, n := range names {
		total += len(n)
	}
	if len(s.channels)+len(names) > mostChannels || total > mostBytes {
		s.error("too many channels")
		return
	}
	if s.outbox == nil {
		s.flush() // before another writes
		s.outbox = newOutbox(s.conn)
	}
	h := &s.server.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, n := range names {
		name := string(n)
		if s.index(name) < 0 {
			s.channels = append(s.channels, name)
			s.bytes += len(name)
			h.add(name, s)
		}
		s.told("subscribe", n)
	}
	s.flush()
}

func (s *session) unsubscribe(names [][]byte) {
	h := &s.server.hub
	if len(s.channels) == 0 {
		if len(names) == 0 {
			names = [][]byte{nil}
		}
		for _, n := range names {
			s.told("unsubscribe", n)
		}
		return
	}
	if len(names) == 0 {
		for _, c := range s.channels {
			names = append(names, []byte(c))
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, n := range names {
		if i := s.index(string(n)); i >= 0 {
			s.channels = append(s.channels[:i], s.channels[i+1:]...)
			s.bytes -= len(n)
			h.remove(string(n), s)
		}
		s.told("unsubscribe", n)
	}
	s.flush()
}

func (s *session) index(name string) int {
	for i, c := range s.channels {
		if c == name {
			return i
		}
	}
	return -1
}

func (s *session) told(what string, channel []byte) {
	s.prefix('*', 3)
	s.bulk([]byte(what))
	s.bulk(channel)
	s.number(int64(len(s.channels)))
}

// message is what subscribers get.
func message(channel, text []byte) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "*3\r\n$7\r\nmessage\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n", len(channel), channel, len(text), text)
	return b.Bytes()
}

// answers

func (s *session) error(text string) {
	s.put("-ERR " + strings.NewReplacer("\r", " ", "\n", " ").Replace(text) + "\r\n")
}

func (s *session) number(v int64) {
	s.prefix(':', v)
}

// bulk writes bytes, nil for none.
func (s *session) bulk(b []byte) {
	if b == nil {
		s.put("$-1\r\n")
		return
	}
	s.prefix('$', int64(len(b)))
	s.room(len(b) + 2)
	s.reply = append(s.reply, b...)
	s.reply = append(s.reply, crlf...)
}

func (s *session) prefix(kind byte, v int64) {
	s.room(24)
	s.reply = append(s.reply, kind)
	s.reply = strconv.AppendInt(s.reply, v, 10)
	s.reply = append(s.reply, crlf...)
}

func (s *session) put(text string) {
	s.room(len(text))
	s.reply = append(s.reply, text...)
}

// room keeps what answers take bounded.
func (s *session) room(n int) {
	if len(s.reply)+n > mostBytes {
		s.flush()
	}
}

func (s *session) flush() {
	if len(s.reply) == 0 || s.err != nil {
		s.reply = s.reply[:0]
		return
	}
	if s.outbox == nil {
		_, s.err = s.conn.Write(s.reply)
	} else if !s.outbox.offer(append([]byte{}, s.reply...)) {
		s.conn.Close() // before anybody waits for what cannot be sent
		s.err = errSlow
	}
	s.reply = s.reply[:0]
}
