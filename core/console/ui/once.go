package ui

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/patchbay-dev/patchbay/core/cluster"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/store"
)

const (
	onceCookie = "patchbay_once"
	// onceFor is how long a secret waits for the page that shows it.
	onceFor = time.Minute
	// maxOnce is how many secrets wait at once; more drop the oldest.
	maxOnce = 256
)

// Secret is a text that a form has made and that is shown once, on the page that the form leads to.
type Secret struct {
	// Of is the page that shows the secret, or what it belongs to; Name what people call that.
	Of, Name string
	Text     string
}

// Secrets keeps secrets between the answer to a form, which is a redirect, and the page that follows. They stay in memory: the
// browser carries a random name alone. The zero value is ready to use.
//
// Where several cores share the database they are there, sealed: the page may be asked of another core.
type Secrets struct {
	// Store and Keyring are those of the core.
	Store   *store.Store
	Keyring *secret.Keyring

	mu      sync.Mutex
	waiting []waitingSecret
}

// waitingSecret is a secret that was not shown yet.
type waitingSecret struct {
	id, userID string
	secret     Secret
	until      time.Time
}

// addSecret keeps a secret for a user and returns its random name.
func (s *Secrets) addSecret(userID string, shown Secret, now time.Time) (id string) {
	id = secret.RandomString(32, secret.Alphanumeric)
	if s.Store != nil && s.Store.Shared() && s.shareSecret(id, userID, shown) == nil {
		return id
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropExpired(now)
	if len(s.waiting) == maxOnce {
		s.waiting = slices.Delete(s.waiting, 0, 1)
	}
	s.waiting = append(s.waiting, waitingSecret{id, userID, shown, now.Add(onceFor)})
	return id
}

// takeSecret returns the secret with a random name, and forgets it. It reports whether there is one of this for this user.
func (s *Secrets) takeSecret(id, userID, of string, now time.Time) (Secret, bool) {
	if s.Store != nil && s.Store.Shared() {
		if found, ok := s.takeShared(id, userID, of); ok {
			return found, true
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropExpired(now)
	i := slices.IndexFunc(s.waiting, func(w waitingSecret) bool { return w.id == id && w.userID == userID && w.secret.Of == of })
	if i < 0 {
		return Secret{}, false
	}
	found := s.waiting[i].secret
	s.waiting = slices.Delete(s.waiting, i, i+1)
	return found, true
}

// dropExpired forgets the secrets that have waited too long.
func (s *Secrets) dropExpired(now time.Time) {
	s.waiting = slices.DeleteFunc(s.waiting, func(w waitingSecret) bool { return now.After(w.until) })
}

// ShowOnce answers a form that has made a secret: the browser goes on to a page of ours, which takes it with TakeSecret.
func (k *Kit) ShowOnce(c *gin.Context, to string, s Secret) {
	k.setCookie(c, onceCookie, k.cfg.Secrets.addSecret(principalUser(c), s, k.cfg.Now()), int(onceFor/time.Second))
	k.Redirect(c, to)
}

// TakeSecret returns the secret of something that the form before this page has made, or the zero value. A page that is loaded
// again has none.
func (k *Kit) TakeSecret(c *gin.Context, of string) (s Secret) {
	id := readCookie(c, onceCookie)
	if id == "" || c.Request.Method != http.MethodGet {
		return s
	}
	s, found := k.cfg.Secrets.takeSecret(id, principalUser(c), of, k.cfg.Now())
	if found {
		k.setCookie(c, onceCookie, "", -1)
	}
	return s
}

// principalUser returns the id of the caller; "" for one without an account.
func principalUser(c *gin.Context) string {
	if p := auth.From(c.Request.Context()); p != nil {
		return p.User.ID
	}
	return ""
}

const (
	// onceTable is what secrets are sealed for, sharedTime bounds a look at the database.
	onceTable  = "core_values"
	sharedTime = 5 * time.Second
)

// shareSecret keeps a secret for a user where all cores find it. The page and the user are part of its key.
func (s *Secrets) shareSecret(id, userID string, shown Secret) error {
	ctx, cancel := context.WithTimeout(context.Background(), sharedTime)
	defer cancel()
	raw, err := json.Marshal(shown)
	if err != nil {
		return err
	}
	key := onceKey(id, userID, shown.Of)
	return cluster.PutValue(ctx, s.Store, key, s.Keyring.Seal(raw, onceTable, key, "value"), onceFor)
}

// takeShared returns a secret that a core has kept, and forgets it.
func (s *Secrets) takeShared(id, userID, of string) (found Secret, ok bool) {
	ctx, cancel := context.WithTimeout(context.Background(), sharedTime)
	defer cancel()
	key := onceKey(id, userID, of)
	sealed, ok, err := cluster.TakeValue(ctx, s.Store, key)
	if err != nil || !ok {
		return Secret{}, false
	}
	raw, err := s.Keyring.Open(sealed, onceTable, key, "value")
	if err != nil || json.Unmarshal(raw, &found) != nil {
		return Secret{}, false
	}
	return found, true
}

// onceKey names a secret among the values that cores share.
func onceKey(id, userID, of string) string { return "once/" + id + "/" + userID + "/" + of }
