// SPDX-License-Identifier: Apache-2.0

// A web server on Go's scheduler that gives the answers which the web servers of the library tests give: a request's body
// turned around, under /sleep after a millisecond.
// Prints its port and serves until its standard input ends. Built as go build -o FILE main.go.
package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"
)

func main() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(l.Addr().(*net.TCPAddr).Port)
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	log.Fatal(http.Serve(l, http.HandlerFunc(answer)))
}

func answer(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if strings.HasPrefix(r.URL.Path, "/sleep") {
		time.Sleep(time.Millisecond)
	}
	slices.Reverse(body)
	w.Header().Set("X-Thread", "goroutine")
	w.Header().Set("Content-Length", fmt.Sprint(len(body)))
	w.Write(body)
}
