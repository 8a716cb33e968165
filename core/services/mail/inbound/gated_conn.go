package inbound

import (
	"net"
	"sync/atomic"
	"time"
)

// gatedConn is a connection that is counted until it closes, and follows what becomes of the answer to a delivery.
type gatedConn struct {
	net.Conn
	gate   *connectionGate
	client string
	timer  *time.Timer
	answer atomic.Pointer[Answer]
}

// answerNext has the next write be the answer to a delivery.
func (c *gatedConn) answerNext(a *Answer) { c.answer.Store(a) }

// endAnswer says that the connection ends, if an answer is followed.
func (c *gatedConn) endAnswer(err error) {
	if a := c.answer.Swap(nil); a != nil {
		a.noteEnd(err)
	}
}

// Write implements net.Conn.
func (c *gatedConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if a := c.answer.Load(); a != nil {
		if err != nil {
			c.answer.Store(nil)
			a.setState(answerLost)
		} else {
			a.setState(answerWritten)
		}
	}
	return n, err
}

// Read implements net.Conn. What a client sends after the answer shows that it has seen it.
func (c *gatedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		if a := c.answer.Swap(nil); a != nil {
			a.setState(answerSeen)
		}
	} else if err != nil {
		c.endAnswer(err)
	}
	return n, err
}

// Close implements net.Conn.
func (c *gatedConn) Close() error {
	c.timer.Stop()
	c.endAnswer(nil)
	c.gate.release(c)
	return c.Conn.Close()
}
