// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"io"
)

const (
	mostArgs    = 1024
	mostBytes   = 1 << 20 // the longest request, and so what the buffer takes at most
	mostLine    = 64 << 10
	firstBuffer = 4 << 10
)

// rubbish is what the protocol does not allow: its connection is told why, and closed.
type rubbish string

func (r rubbish) Error() string { return string(r) }

var crlf = []byte("\r\n")

// request is what a client sends: *2\r\n$3\r\nGET\r\n$1\r\nk\r\n, or words in a line. Arguments stay in the buffer, where they
// are valid until the next request is asked for.
type request struct {
	in      []byte
	at, end int
	args    [][]byte
}

// next says whether all of the next request has come; an empty one is passed over.
func (r *request) next() (bool, error) {
	for {
		was := r.at
		ok, err := r.parsed()
		if err != nil {
			return false, err
		}
		if !ok {
			r.at = was
			return false, nil
		}
		if len(r.args) > 0 {
			return true, nil
		}
	}
}

// read waits for more of a request.
func (r *request) read(c io.Reader) error {
	if r.at > 0 {
		copy(r.in, r.in[r.at:r.end])
		r.end -= r.at
		r.at = 0
	} else if r.end == len(r.in) {
		if len(r.in) >= mostBytes {
			return rubbish("too big a request")
		}
		larger := make([]byte, 2*len(r.in))
		copy(larger, r.in)
		r.in = larger
	}
	n, err := c.Read(r.in[r.end:])
	r.end += n
	if n > 0 {
		return nil
	}
	return err
}

func (r *request) parsed() (bool, error) {
	r.args = r.args[:0]
	eol, err := r.line()
	if eol < 0 {
		return false, err
	}
	if r.in[r.at] != '*' {
		for _, word := range bytes.Fields(r.in[r.at:eol]) {
			if len(r.args) == mostArgs {
				return false, rubbish("too many arguments")
			}
			r.args = append(r.args, word)
		}
		r.at = eol + 2
		return true, nil
	}
	count, err := length(r.in[r.at+1:eol], mostArgs)
	if err != nil {
		return false, rubbish("invalid multibulk length")
	}
	r.at = eol + 2
	for range count {
		if eol, err = r.line(); eol < 0 {
			return false, err
		}
		if r.in[r.at] != '$' {
			return false, rubbish("expected '$'")
		}
		n, err := length(r.in[r.at+1:eol], mostBytes)
		if err != nil {
			return false, rubbish("invalid bulk length")
		}
		r.at = eol + 2
		if r.end-r.at < n+2 {
			return false, nil
		}
		r.args = append(r.args, r.in[r.at:r.at+n])
		r.at += n + 2
	}
	return true, nil
}

// line finds where the line ends that begins here; -1 when its end is not there yet.
func (r *request) line() (int, error) {
	rest := r.in[r.at:min(r.end, r.at+mostLine)]
	if i := bytes.Index(rest, crlf); i >= 0 {
		return r.at + i, nil
	}
	if len(rest) == mostLine {
		return -1, rubbish("too big inline request")
	}
	return -1, nil
}

func length(digits []byte, most int) (int, error) {
	if len(digits) == 0 {
		return 0, errNumber
	}
	v := 0
	for _, d := range digits {
		if d < '0' || d > '9' || v > most {
			return 0, errNumber
		}
		v = 10*v + int(d-'0')
	}
	if v > most {
		return 0, errNumber
	}
	return v, nil
}

func isRubbish(err error) (string, bool) {
	var r rubbish
	return string(r), errors.As(err, &r)
}
