// Package exchange carries hot calls between host and plugin over long-lived streams.
//
// One unary RPC for each call costs several times what the same call costs on a stream that is already open, most of
// all for large bodies. An Exchange stream belongs to one instance and one method; it carries one call at a time: the
// host sends a request, the plugin answers, and the stream is free again. A call that is abandoned ends its stream.
//
// The wire format, all integers big endian. A message is one or more frames; every frame is one gRPC message:
//
//	byte    flags: 1 more frames follow, 2 the head is a google.rpc.Status
//	uint32  the time that the call may take in milliseconds, 0 for no limit (requests)
//	uint8   length of the request id
//	uint32  length of the head
//	bytes   request id, head (a protobuf message without its body), body (the rest of the frame, at most 1 MiB)
//
// The gRPC content subtype is "patchbay-raw"; health and control calls keep protobuf. A plugin that does not offer the
// service is called with unary RPCs instead.
package exchange

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
)

const (
	// Subtype is the gRPC content subtype of the frames.
	Subtype = "patchbay-raw"
	// MaxBody is the most that one frame carries of a body, in bytes.
	MaxBody = 1 << 20
	// MaxMessage is the largest whole message, in bytes.
	MaxMessage = 16 << 20

	fixedLen = 1 + 4 + 1 + 4
	flagMore = 1
	flagFail = 2
	// inlineBody is the size up to which a body is copied beside its head: one buffer is cheaper than two.
	inlineBody = 8 << 10
)

// buffers has steps between gRPC's own sizes: there a body of 50 KB takes, and clears, a megabyte.
var buffers = mem.NewTieredBufferPool(256, 1<<10, 4<<10, 16<<10, 32<<10, 64<<10, 128<<10, 256<<10, 512<<10, MaxBody+inlineBody)

// ErrTooLarge reports a message over MaxMessage.
var ErrTooLarge = fmt.Errorf("message is larger than %d bytes", MaxMessage)

var errFrame = errors.New("malformed frame")

// frame is one gRPC message. Outgoing frames set the fields; incoming ones hold buf, into which head and body point.
type frame struct {
	flags     byte
	timeout   time.Duration
	requestID string
	head      []byte
	body      []byte
	buf       mem.Buffer
}

func (f *frame) releaseBuffer() {
	if f.buf != nil {
		f.buf.Free()
		f.buf = nil
	}
}

func (f *frame) encodeFrame() mem.BufferSlice {
	id := f.requestID[:min(len(f.requestID), 255)]
	size := fixedLen + len(id) + len(f.head)
	inline := len(f.body) <= inlineBody
	if inline {
		size += len(f.body)
	}
	buf := buffers.Get(size)
	b := *buf
	b[0] = f.flags
	binary.BigEndian.PutUint32(b[1:], roundUpMillis(f.timeout))
	b[5] = byte(len(id))
	binary.BigEndian.PutUint32(b[6:], uint32(len(f.head)))
	n := fixedLen + copy(b[fixedLen:], id)
	n += copy(b[n:], f.head)
	if inline {
		copy(b[n:], f.body)
		return mem.BufferSlice{mem.NewBuffer(buf, buffers)}
	}
	return mem.BufferSlice{mem.NewBuffer(buf, buffers), mem.SliceBuffer(f.body)}
}

// roundUpMillis rounds up, so that a short deadline does not become "none".
func roundUpMillis(d time.Duration) uint32 {
	if d <= 0 {
		return 0
	}
	ms := (d + time.Millisecond - 1) / time.Millisecond
	return uint32(min(ms, time.Duration(1<<31)))
}

func (f *frame) decodeFrame(data mem.BufferSlice) error {
	f.buf = data.MaterializeToBuffer(buffers)
	b := f.buf.ReadOnlyData()
	if len(b) < fixedLen {
		return errFrame
	}
	f.flags = b[0]
	f.timeout = time.Duration(binary.BigEndian.Uint32(b[1:])) * time.Millisecond
	id, head := int(b[5]), uint64(binary.BigEndian.Uint32(b[6:]))
	b = b[fixedLen:]
	if uint64(len(b)) < uint64(id)+head {
		return errFrame
	}
	f.requestID = string(b[:id])
	f.head = b[id : id+int(head)]
	f.body = b[id+int(head):]
	return nil
}

// codec moves frames as they are. It is found by the content subtype and never forced on a server.
type codec struct{}

func (codec) Name() string { return Subtype }

func (codec) Marshal(v any) (mem.BufferSlice, error) {
	f, ok := v.(*frame)
	if !ok {
		return nil, fmt.Errorf("%s: cannot send a %T", Subtype, v)
	}
	return f.encodeFrame(), nil
}

func (codec) Unmarshal(data mem.BufferSlice, v any) error {
	f, ok := v.(*frame)
	if !ok {
		return fmt.Errorf("%s: cannot receive a %T", Subtype, v)
	}
	return f.decodeFrame(data)
}

// init registers the codec: gRPC finds codecs in a registry that may only be written while the program initialises.
func init() { encoding.RegisterCodecV2(codec{}) }

// Message is a whole message of the other side. Head and Body are valid until Release.
type Message struct {
	RequestID string
	Timeout   time.Duration
	Head      []byte
	Body      []byte

	fail bool
	buf  mem.Buffer
}

// Release gives the memory back. Calling it is optional, calling it twice is not allowed.
func (m *Message) Release() {
	if m.buf != nil {
		m.buf.Free()
		m.buf = nil
	}
}

// copyToOwnMemory moves the message into memory of its own, that may be kept. A plugin needs that: when its handler returns, an
// HTTP client may still be sending the request's body, and an answer that is a part of it is not written yet.
func (m *Message) copyToOwnMemory() {
	if m.buf == nil {
		return
	}
	n := len(m.Head)
	own := make([]byte, n+len(m.Body))
	copy(own, m.Head)
	copy(own[n:], m.Body)
	m.Head, m.Body = own[:n:n], own[n:]
	m.Release()
}

// messenger is what both ends of a gRPC stream have.
type messenger interface {
	SendMsg(m any) error
	RecvMsg(m any) error
}

// sendMessage writes one message, in as many frames as its body needs.
func sendMessage(s messenger, f frame) error {
	rest := f.body
	for {
		n := min(len(rest), MaxBody)
		f.body, rest = rest[:n], rest[n:]
		f.flags &^= flagMore
		if len(rest) > 0 {
			f.flags |= flagMore
		}
		if err := s.SendMsg(&f); err != nil || len(rest) == 0 {
			return err
		}
		f.head, f.requestID = nil, ""
	}
}

// receiveMessage reads one message.
func receiveMessage(s messenger) (*Message, error) {
	var f frame
	if err := s.RecvMsg(&f); err != nil {
		f.releaseBuffer()
		return nil, err
	}
	m := &Message{RequestID: f.requestID, Timeout: f.timeout, Head: f.head, Body: f.body, fail: f.flags&flagFail != 0, buf: f.buf}
	if f.flags&flagMore == 0 {
		return m, nil
	}
	body := append([]byte(nil), f.body...)
	m.Head = append([]byte(nil), f.head...)
	m.Release()
	for more := true; more; {
		var next frame
		if err := s.RecvMsg(&next); err != nil {
			next.releaseBuffer()
			return nil, err
		}
		body = append(body, next.body...)
		more = next.flags&flagMore != 0
		next.releaseBuffer()
		if len(body) > MaxMessage {
			return nil, ErrTooLarge
		}
	}
	m.Body = body
	return m, nil
}
