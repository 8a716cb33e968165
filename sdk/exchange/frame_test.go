package exchange

import (
	"bytes"
	"testing"
	"time"

	"google.golang.org/grpc/mem"
)

func FuzzFrame(f *testing.F) {
	for _, fr := range []frame{
		{}, {flags: flagMore, timeout: time.Second, requestID: "id", head: []byte("head"), body: []byte("body")},
		{flags: flagFail, head: []byte("status")}, {body: bytes.Repeat([]byte("b"), inlineBody+1)},
	} {
		f.Add(fr.encodeFrame().Materialize())
	}
	f.Add([]byte{})
	f.Add([]byte{0, 0, 0, 0, 0, 255, 255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, data []byte) {
		var got frame
		if err := got.decodeFrame(mem.BufferSlice{mem.SliceBuffer(data)}); err != nil {
			got.releaseBuffer()
			return
		}
		out := frame{flags: got.flags, timeout: got.timeout, requestID: got.requestID, head: got.head, body: got.body}
		again := out.encodeFrame().Materialize()
		if out.timeout <= time.Duration(1<<31)*time.Millisecond && !bytes.Equal(again, data) {
			t.Errorf("%x became %x", data, again)
		}
		got.releaseBuffer()
	})
}

func TestMillis(t *testing.T) {
	tests := map[time.Duration]uint32{
		-time.Second: 0, 0: 0, 1: 1, time.Millisecond: 1, time.Millisecond + 1: 2, time.Minute: 60000, 1 << 62: 1 << 31,
	}
	for in, want := range tests {
		if got := roundUpMillis(in); got != want {
			t.Errorf("millis(%d) = %d, want %d", in, got, want)
		}
	}
}

// script plays frames to receive and takes those of send.
type script struct {
	in  []frame
	out []frame
}

func (s *script) RecvMsg(m any) error {
	if len(s.in) == 0 {
		return errFrame
	}
	f := m.(*frame)
	*f, s.in = s.in[0], s.in[1:]
	return nil
}

func (s *script) SendMsg(m any) error {
	s.out = append(s.out, *m.(*frame))
	return nil
}

func TestReceiveIsBounded(t *testing.T) {
	s := &script{}
	for range 18 {
		s.in = append(s.in, frame{flags: flagMore, body: make([]byte, MaxBody)})
	}
	if _, err := receiveMessage(s); err != ErrTooLarge {
		t.Errorf("got %v", err)
	}
	if len(s.in) != 1 {
		t.Errorf("%d frames left", len(s.in))
	}
	if _, err := receiveMessage(&script{in: []frame{{flags: flagMore}}}); err == nil {
		t.Error("a message that is cut short is whole")
	}
}

func TestSendSplits(t *testing.T) {
	s := &script{}
	body := make([]byte, 2*MaxBody+5)
	if err := sendMessage(s, frame{flags: flagFail, requestID: "id", head: []byte("h"), body: body}); err != nil {
		t.Fatal(err)
	}
	if len(s.out) != 3 {
		t.Fatalf("%d frames", len(s.out))
	}
	for i, f := range s.out {
		last := i == 2
		if (f.flags&flagMore == 0) != last || f.flags&flagFail == 0 || (len(f.head) > 0) != (i == 0) || (f.requestID != "") != (i == 0) {
			t.Errorf("frame %d: %+v", i, f.flags)
		}
	}
	if len(s.out[2].body) != 5 {
		t.Errorf("the last frame carries %d bytes", len(s.out[2].body))
	}
}
