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
	addr, path, token, body string
	// request is the whole request as it goes over the wire.
	request []byte
	// pids are the processes that serve the target, by name; their CPU time is accounted.
	pids []process
}

// process is one process of the chain behind a target.
type process struct {
	name string
	pid  int
}

func newTarget(base, path, token, body string, pids ...process) target {
	host := strings.TrimPrefix(base, "http://")
	var b bytes.Buffer
	fmt.Fprintf(&b, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n", path, host, len(body))
	if token != "" {
		fmt.Fprintf(&b, "Authorization: Bearer %s\r\n", token)
	}
	fmt.Fprintf(&b, "\r\n%s", body)
	return target{addr: host, path: path, token: token, body: body, request: b.Bytes(), pids: pids}
}

// sample is what one round found.
type sample struct {
	rate float64
	p50  time.Duration
	// cpu is the processor time of each of the target's processes for one request, in the order of target.pids.
	cpu []time.Duration
}

// measureRound sends requests to t over c connections for d and accounts the processor time of t's processes. Any
// answer but 200 is an error. The load comes from wrk where it is installed, since it costs a fraction of a Go client.
func measureRound(t target, c int, d time.Duration) (sample, error) {
	before := make([]time.Duration, len(t.pids))
	for i, p := range t.pids {
		before[i] = cpuTime(p.pid)
	}
	generate := loadFromHere
	if hasWrk() {
		generate = loadFromWrk
	}
	s, requests, err := generate(t, c, d)
	if err != nil || requests == 0 {
		return s, err
	}
	for i, p := range t.pids {
		s.cpu = append(s.cpu, (cpuTime(p.pid)-before[i])/time.Duration(requests))
	}
	return s, nil
}

// loadFromHere sends the requests from goroutines of this process. It returns how many were answered.
func loadFromHere(t target, c int, d time.Duration) (sample, int, error) {
	var mu sync.Mutex
	var all []time.Duration
	var failed error
	var wg sync.WaitGroup
	began := time.Now()
	deadline := began.Add(d)
	for range c {
		wg.Go(func() {
			took, err := driveLoad(t, deadline)
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
		return sample{}, 0, failed
	}
	slices.Sort(all)
	return sample{rate: float64(len(all)) / elapsed.Seconds(), p50: all[len(all)/2]}, len(all), nil
}

func driveLoad(t target, deadline time.Time) ([]time.Duration, error) {
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

func medianValue[T int64 | float64 | time.Duration](v []T) T {
	s := slices.Clone(v)
	slices.Sort(s)
	return s[len(s)/2]
}
