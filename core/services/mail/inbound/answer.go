package inbound

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"io"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/patchbay-dev/patchbay/core/lists"
)

// deliveryKey returns what is equal for a delivery and its repetition: the id of an HTTP delivery, the envelope and the bytes.
func deliveryKey(env *Envelope, hash []byte) []byte {
	addresses := lists.ConvertAll(env.Recipients, func(r Recipient) string { return cmp.Or(r.EnvelopeTo, r.Address) })
	slices.Sort(addresses)
	digest := sha256.New()
	for _, part := range []string{env.Via, env.DeliveryID, env.From, strings.Join(addresses, ","), string(hash)} {
		_, _ = io.WriteString(digest, part+"\x00")
	}
	return digest.Sum(nil)
}

// answerState says how far the answer to a delivery has come.
type answerState int

const (
	// The zero state: the answer is not written yet.
	_ answerState = iota
	// answerWritten: it is written, and the client has not shown yet that it has come.
	answerWritten
	// answerSeen: it has reached the client. The delivery is to be forgotten.
	answerSeen
	// answerLost: it may not have reached the client, which may send the message again.
	answerLost
)

// Answer is the answer to one SMTP delivery.
type Answer struct {
	all  *answers
	conn net.Conn
	// id is that of the stored delivery. It and the state are guarded by all.mu.
	id    string
	state answerState
	// writtenAt is when it was written.
	writtenAt time.Time
}

// acknowledgeTime is how long a machine may take to acknowledge what it got, on a slow network.
const acknowledgeTime = 10 * time.Second

// answers are the answers under way in this process. A stored delivery that is not among them belongs to a former process, or its answer
// is lost: if it comes once more, it is the same delivery.
type answers struct {
	mu   sync.Mutex
	open map[string]*Answer
	// seen are the deliveries to be forgotten; changed gets a signal when there are some.
	seen    map[string]bool
	changed chan struct{}
}

func newAnswers() *answers {
	return &answers{open: map[string]*Answer{}, seen: map[string]bool{}, changed: make(chan struct{}, 1)}
}

// beginAnswer returns an answer that goes over a connection.
func (a *answers) beginAnswer(conn net.Conn) *Answer { return &Answer{all: a, conn: conn} }

// setDelivery says under which id the delivery of an answer is stored, "" if the transaction has failed.
func (a *Answer) setDelivery(id string) {
	if a == nil {
		return
	}
	a.all.mu.Lock()
	defer a.all.mu.Unlock()
	if a.id != "" {
		delete(a.all.open, a.id)
	}
	if a.id = id; id != "" {
		a.all.open[id] = a
	}
}

// setState notes what has become of the answer. What was seen or lost stays so.
func (a *Answer) setState(state answerState) {
	a.all.mu.Lock()
	defer a.all.mu.Unlock()
	if a.state == answerSeen || a.state == answerLost {
		return
	}
	a.state = state
	if state == answerWritten {
		a.writtenAt = time.Now()
	}
	switch {
	case a.id == "":
	case state == answerSeen:
		a.all.seen[a.id] = true
		select {
		case a.all.changed <- struct{}{}:
		default:
		}
	case state == answerLost:
		delete(a.all.open, a.id)
	}
}

// failDelivery notes that the delivery was refused, although it may be stored.
func (a *Answer) failDelivery() {
	if a != nil {
		a.setState(answerLost)
	}
}

// noteEnd notes that the connection has ended with err: nil where the client had said QUIT. An answer that the client's machine has
// acknowledged counts as seen unless the connection was reset.
func (a *Answer) noteEnd(err error) {
	acknowledged, known := isAcknowledged(a.conn)
	a.all.mu.Lock()
	written := a.state == answerWritten
	a.all.mu.Unlock()
	var timeout net.Error
	switch {
	case !written:
		a.setState(answerLost)
	case err == nil:
		a.setState(answerSeen)
	case known && !acknowledged:
		a.setState(answerLost)
	case errors.Is(err, io.EOF), known && errors.As(err, &timeout) && timeout.Timeout():
		a.setState(answerSeen)
	default:
		a.setState(answerLost)
	}
}

// isLost reports whether the answer to a stored delivery may not have reached the sender. One that is written and not acknowledged may
// be lost although its connection is still open: the sender may have gone without a word.
func (a *answers) isLost(id string) bool {
	a.mu.Lock()
	answer, ok := a.open[id]
	overdue := ok && answer.state == answerWritten && time.Since(answer.writtenAt) > acknowledgeTime
	a.mu.Unlock()
	if !overdue {
		return !ok
	}
	acknowledged, known := isAcknowledged(answer.conn)
	return known && !acknowledged
}

// toForget returns the deliveries whose answers were seen.
func (a *answers) toForget() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Sorted(maps.Keys(a.seen))
}

// forgetDeliveries notes that deliveries are not stored any more.
func (a *answers) forgetDeliveries(ids []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, id := range ids {
		delete(a.seen, id)
		delete(a.open, id)
	}
}
