// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"math"
	"strconv"
	"sync"
	"time"
)

var errNumber = errors.New("value is not an integer or out of range")

// value has the time in milliseconds when it expires, 0 for never.
type value struct {
	bytes   []byte
	expires int64
}

func (v value) lives() bool {
	return v.expires == 0 || time.Now().UnixMilli() < v.expires
}

// store has keys and values.
type store struct {
	mu     sync.RWMutex
	values map[string]value
	timed  bool // whether some values may have a time
}

// get returns nil where there is none.
func (s *store) get(key []byte) []byte {
	s.mu.RLock()
	v, ok := s.values[string(key)]
	s.mu.RUnlock()
	if !ok || !v.lives() {
		return nil
	}
	return v.bytes
}

func (s *store) set(key, bytes []byte) {
	b := make([]byte, len(bytes))
	copy(b, bytes)
	s.mu.Lock()
	s.values[string(key)] = value{bytes: b}
	s.mu.Unlock()
}

func (s *store) del(key []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.values[string(key)]
	delete(s.values, string(key))
	return ok && v.lives()
}

func (s *store) incr(key []byte) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.values[string(key)]
	if !ok || !v.lives() {
		v = value{bytes: []byte("0")}
	}
	n, err := strconv.ParseInt(string(v.bytes), 10, 64)
	if err != nil || n == math.MaxInt64 {
		return 0, errNumber
	}
	n++
	v.bytes = strconv.AppendInt(nil, n, 10)
	s.values[string(key)] = v
	return n, nil
}

func (s *store) expire(key []byte, seconds int64) (bool, error) {
	now := time.Now().UnixMilli()
	if seconds > (math.MaxInt64-now)/1000 || seconds < math.MinInt64/1000 {
		return false, errNumber
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.values[string(key)]
	if !ok || !v.lives() {
		return false, nil
	}
	v.expires = max(now+seconds*1000, 1)
	s.values[string(key)] = v
	s.timed = true
	return true, nil
}

func (s *store) size() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.values)
}

// sweep removes what has expired and nobody asks for.
func (s *store) sweep() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timed {
		s.timed = false
		for k, v := range s.values {
			if !v.lives() {
				delete(s.values, k)
			} else if v.expires != 0 {
				s.timed = true
			}
		}
	}
}
