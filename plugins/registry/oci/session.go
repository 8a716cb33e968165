package oci

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"sync"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// session is one registry and the way in which it wants to be asked.
type session struct {
	reader *reader
	key    sessionKey
	// host and scheme are where it answers.
	host, scheme string

	mu sync.Mutex
	// want is the challenge that the registry gave last; nil while it has given none.
	want *challenge
	// used are the credentials that the tokens belong to.
	used   credential
	tokens map[string]*token
	// heads are the last answers about digests, by reference.
	heads map[string]headAnswer
}

// headAnswer is what a registry has said of the manifest that a reference names, without the manifest.
type headAnswer struct{ digest, mediaType string }

// expectedETag returns the ETag that registries give to the manifest: its digest in quotes. It is "" where no digest is known.
func (h headAnswer) expectedETag() string {
	if h.digest == "" {
		return ""
	}
	return `"` + h.digest + `"`
}

// maxHeads bounds the answers that a session remembers.
const maxHeads = 2000

func (s *session) lastHead(ref string) headAnswer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.heads[ref]
}

// rememberHead keeps an answer for asking conditionally, if its ETag is the digest: another might outlive a digest that was wrong.
func (s *session) rememberHead(ref string, h headAnswer, etag string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if etag != h.expectedETag() {
		delete(s.heads, ref)
		return
	}
	if s.heads == nil || len(s.heads) >= maxHeads {
		s.heads = map[string]headAnswer{}
	}
	s.heads[ref] = h
}

// question is one request to a registry.
type question struct {
	method string
	// repo is the repository; path is what follows it.
	repo, path, query string
	accept            string
	// etag, if there is one, has the registry answer only with what differs from what it gave with that ETag.
	etag  string
	limit int64
}

// answer is what came back. Its status is always 200, or 304 to a question with an ETag: then it is unchanged, and has no body.
type answer struct {
	header    http.Header
	body      []byte
	unchanged bool
}

func (s *session) questionURL(q question) *url.URL {
	return &url.URL{Scheme: s.scheme, Host: s.host, Path: "/v2/" + q.repo + "/" + q.path, RawQuery: q.query}
}

// askRegistry sends a question with the credentials that the registry wants. A registry that refuses what was remembered is asked once
// more with what it says then; nothing else is tried twice.
func (s *session) askRegistry(ctx context.Context, q question) (*answer, error) {
	ctx, cancel := context.WithTimeout(ctx, 3*s.reader.timeout)
	defer cancel()
	sent, err := s.initialHeader(ctx, q.repo)
	if err != nil {
		return nil, err
	}
	got, status, err := s.sendRequest(ctx, q, sent)
	if err != nil || !status.hasStatus(http.StatusUnauthorized) {
		return got, status.orError(err)
	}
	again, err := s.answerChallenge(ctx, q.repo, status, sent)
	switch {
	case err != nil:
		return nil, err
	case again == sent:
		return nil, status.orError(nil)
	}
	got, status, err = s.sendRequest(ctx, q, again)
	return got, status.orError(err)
}

// sendRequest makes one request. A status besides 200, and 304 where it answers the question, is in the second value; the error is for
// what gave no status.
func (s *session) sendRequest(ctx context.Context, q question, authorization string) (*answer, *refusal, error) {
	ctx, cancel := context.WithTimeout(ctx, s.reader.timeout)
	defer cancel()
	req := &httpx.Request{Method: q.method, URL: s.questionURL(q), Header: http.Header{}, Own: true}
	if q.accept != "" {
		req.Header["Accept"] = []string{q.accept}
	}
	if q.etag != "" {
		req.Header["If-None-Match"] = []string{q.etag}
	}
	if authorization != "" {
		req.Header["Authorization"] = []string{authorization}
	}
	st, err := s.reader.followRedirects(ctx, req)
	if err != nil {
		return nil, nil, err
	}
	defer st.Close()
	if st.Status == http.StatusNotModified && q.etag != "" {
		return &answer{header: st.Header, unchanged: true}, nil, nil
	}
	if st.Status != http.StatusOK {
		return nil, s.toRefusal(q, st), nil
	}
	if q.method == http.MethodHead {
		return &answer{header: st.Header}, nil, nil
	}
	body, err := readAll(st, q.limit)
	if err != nil {
		return nil, nil, err
	}
	return &answer{header: st.Header, body: body}, nil, nil
}

// initialHeader returns the header to send at first: nothing before the registry has said what it wants.
func (s *session) initialHeader(ctx context.Context, repo string) (string, error) {
	s.mu.Lock()
	want := s.want
	s.mu.Unlock()
	if want == nil {
		return "", nil
	}
	return s.headerFor(ctx, want, repo, "")
}

// answerChallenge takes a challenge in, and returns the header for the second request; it is what was sent if there is nothing
// better.
func (s *session) answerChallenge(ctx context.Context, repo string, r *refusal, sent string) (string, error) {
	want := parseChallenge(r.header["Www-Authenticate"])
	if want == nil {
		return sent, nil
	}
	s.mu.Lock()
	before := s.want
	s.want = want
	s.mu.Unlock()
	// At the first contact a refusal is how a registry says what it wants. Later it says that the credentials are wrong.
	if before != nil {
		s.reader.creds.forgetCredential(s.key.dockerConfig, s.key.domain)
	}
	return s.headerFor(ctx, want, repo, sent)
}

// headerFor returns the header that answers a challenge. refused is a header that the registry has refused: its token is not used again.
func (s *session) headerFor(ctx context.Context, want *challenge, repo, refused string) (string, error) {
	c, err := s.reader.creds.findCredential(ctx, s.key.dockerConfig, s.key.domain)
	if err != nil {
		return "", err
	}
	if want.scheme == schemeBasic {
		if c.user == "" && c.password == "" {
			return "", nil
		}
		return basicHeader(c), nil
	}
	return s.bearerHeader(ctx, want, c, repo, refused)
}

func basicHeader(c credential) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(c.user+":"+c.password))
}

// contextError returns the error of a call whose context has ended.
func contextError(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return errs.Unavailable(errs.ReasonTimeout, "no answer in time")
	}
	return errs.New(errs.Caller, codes.Canceled, httpx.ReasonCanceled, "the call was cancelled")
}

// readAll reads a body of at most limit bytes.
func readAll(st *httpx.Stream, limit int64) ([]byte, error) {
	body, err := st.ReadAll()
	if err == nil && int64(len(body)) > limit {
		return nil, errs.Unavailable(errs.ReasonProtocol, "the answer is larger than %d bytes", limit)
	}
	return body, err
}
