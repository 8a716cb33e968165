package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// target is where requests go.
type target struct {
	addr    string
	request []byte
}

func newTarget(base, path, token, body string) target {
	host := strings.TrimPrefix(base, "http://")
	var b bytes.Buffer
	fmt.Fprintf(&b, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n", path, host, len(body))
	if token != "" {
		fmt.Fprintf(&b, "Authorization: Bearer %s\r\n", token)
	}
	fmt.Fprintf(&b, "\r\n%s", body)
	return target{addr: host, request: b.Bytes()}
}

// sample is what one round found.
type sample struct {
	rate float64
	p50  time.Duration
	p99  time.Duration
}

// load sends requests over c connections for a while. Any answer but 200 is an error.
func load(t target, c int, d time.Duration) (sample, error) {
	var mu sync.Mutex
	var all []time.Duration
	var failed error
	var wg sync.WaitGroup
	began := time.Now()
	deadline := began.Add(d)
	for range c {
		wg.Go(func() {
			took, err := drive(t, deadline)
			mu.Lock()
			defer mu.Unlock()
			all = append(all, took...)
			if err != nil {
				failed = err
			}
		})
	}
	wg.Wait()
	elapsed := time.Since(began)
	if failed != nil {
		return sample{}, failed
	}
	slices.Sort(all)
	return sample{rate: float64(len(all)) / elapsed.Seconds(), p50: all[len(all)/2], p99: all[len(all)*99/100]}, nil
}

func drive(t target, deadline time.Time) ([]time.Duration, error) {
	conn, err := net.Dial("tcp", t.addr)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	r := bufio.NewReaderSize(conn, 64<<10)
	took := make([]time.Duration, 0, 16<<10)
	for {
		began := time.Now()
		if began.After(deadline) {
			return took, nil
		}
		if _, err := conn.Write(t.request); err != nil {
			return nil, err
		}
		if err := readAnswer(r); err != nil {
			return nil, err
		}
		took = append(took, time.Since(began))
	}
}

func readAnswer(r *bufio.Reader) error {
	status, err := r.ReadSlice('\n')
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(status, []byte("HTTP/1.1 200")) {
		rest, _ := r.Peek(min(r.Buffered(), 600))
		return fmt.Errorf("answer %s%s", status, rest)
	}
	length := -1
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return err
		}
		if len(line) <= 2 {
			break
		}
		if v, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(v))); err != nil {
				return err
			}
		}
	}
	if length < 0 {
		return fmt.Errorf("answer without Content-Length")
	}
	_, err = io.CopyN(io.Discard, r, int64(length))
	return err
}

func median[T int64 | float64 | time.Duration](v []T) T {
	s := slices.Clone(v)
	slices.Sort(s)
	return s[len(s)/2]
}
