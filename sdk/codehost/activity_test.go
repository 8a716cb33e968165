package codehost_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/plugintest"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

const token = schema.Secret("token-of-the-tests")

// filled returns a T none of whose exported members is zero.
func filled[T any]() T {
	var out T
	fill(reflect.ValueOf(&out).Elem(), 0)
	return out
}

var timeType = reflect.TypeFor[time.Time]()

func fill(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int64:
		v.SetInt(int64(7 * time.Millisecond))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), depth+1)
		}
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]int64{"heart": 3}))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth+1)
	case reflect.Struct:
		if v.Type() == timeType {
			v.Set(reflect.ValueOf(time.UnixMilli(1_700_000_000_123).UTC()))
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), depth+1)
		}
	default:
		panic("no value for a " + v.Kind().String())
	}
}

// fullHost answers every call with all members set. It is a double that checks what arrives.
type fullHost struct{ t *testing.T }

var page = codehost.PageRequest{Size: 50, Validators: codehost.Validators{ETag: `"e"`, LastModified: "l"}}

// answer checks what a call was made with.
func answer[T any](h fullHost, got schema.Secret, asked ...any) (T, error) {
	if got != token {
		h.t.Errorf("the token is %q", got.Reveal())
	}
	for _, a := range asked {
		switch a := a.(type) {
		case string:
			if !strings.HasPrefix(a, "a") {
				h.t.Errorf("asked is %q", a)
			}
		case codehost.PageRequest:
			if a != page {
				h.t.Errorf("the page is %+v", a)
			}
		}
	}
	return filled[T](), nil
}

func (h fullHost) Resolve(context.Context, schema.Secret, string) (*codehost.Resolution, error) {
	return nil, errors.New("not asked for")
}

func (h fullHost) Viewer(_ context.Context, t schema.Secret) (*codehost.ViewerInfo, error) {
	return answer[*codehost.ViewerInfo](h, t)
}

func (h fullHost) ListStarred(_ context.Context, t schema.Secret, p codehost.PageRequest) (*codehost.Page[codehost.Starred], error) {
	return answer[*codehost.Page[codehost.Starred]](h, t, p)
}

func (h fullHost) FindRepository(_ context.Context, t schema.Secret, repo string) (*codehost.RepositoryInfo, error) {
	return answer[*codehost.RepositoryInfo](h, t, repo)
}

func (h fullHost) ListReleases(_ context.Context, t schema.Secret, repo string,
	p codehost.PageRequest) (*codehost.Page[codehost.Release], error) {
	return answer[*codehost.Page[codehost.Release]](h, t, repo, p)
}

func (h fullHost) ListTags(_ context.Context, t schema.Secret, repo string, p codehost.PageRequest) (*codehost.Page[codehost.Tag], error) {
	return answer[*codehost.Page[codehost.Tag]](h, t, repo, p)
}

func (h fullHost) ListNotifications(_ context.Context, t schema.Secret,
	req codehost.NotificationsRequest) (*codehost.Page[codehost.Notification], error) {
	if !req.All || req.Since.UnixMilli() != 1_700_000_000_123 {
		h.t.Errorf("asked is %+v", req)
	}
	return answer[*codehost.Page[codehost.Notification]](h, t, req.PageRequest)
}

func (h fullHost) ListOwned(_ context.Context, t schema.Secret, p codehost.PageRequest) (*codehost.Page[codehost.Repository], error) {
	return answer[*codehost.Page[codehost.Repository]](h, t, p)
}

func (h fullHost) ListStargazers(_ context.Context, t schema.Secret, repo string,
	p codehost.PageRequest) (*codehost.Page[codehost.Stargazer], error) {
	return answer[*codehost.Page[codehost.Stargazer]](h, t, repo, p)
}

func (h fullHost) ListFollowers(_ context.Context, t schema.Secret, p codehost.PageRequest) (*codehost.Page[codehost.Account], error) {
	return answer[*codehost.Page[codehost.Account]](h, t, p)
}

func (h fullHost) ListEvents(_ context.Context, t schema.Secret, login string,
	p codehost.PageRequest) (*codehost.Page[codehost.Event], error) {
	return answer[*codehost.Page[codehost.Event]](h, t, login, p)
}

func (h fullHost) ListAnnouncements(_ context.Context, t schema.Secret, repos []string) (*codehost.Page[codehost.Announcement], error) {
	return answer[*codehost.Page[codehost.Announcement]](h, t, repos[0], repos[1])
}

func (h fullHost) ReadReactions(_ context.Context, t schema.Secret, ids []string) (*codehost.Page[codehost.Reactions], error) {
	return answer[*codehost.Page[codehost.Reactions]](h, t, ids[0])
}

func (h fullHost) SetReaction(_ context.Context, t schema.Secret, id, content string, present bool) (*codehost.ReactionInfo, error) {
	if content != "heart" || !present {
		h.t.Errorf("asked is %s %v", content, present)
	}
	return answer[*codehost.ReactionInfo](h, t, id)
}

func (h fullHost) Compare(_ context.Context, t schema.Secret, repo, base, head string) (*codehost.Comparison, error) {
	return answer[*codehost.Comparison](h, t, repo, base, head)
}

var fullCapabilities = []string{
	codehost.CapViewer, codehost.CapStarred, codehost.CapReleases, codehost.CapTags, codehost.CapNotifications, codehost.CapSocial,
	codehost.CapEvents, codehost.CapAnnouncements, codehost.CapReactions, codehost.CapCompare,
}

func newClient(t *testing.T, h codehost.CodeHost, capabilities []string) *codehost.Client {
	t.Helper()
	def := codehost.Definition[struct{}]{Capabilities: capabilities,
		Build: func(codehost.Instance, struct{}) (codehost.Open, schema.Diagnostics) {
			return func(context.Context) (codehost.CodeHost, error) { return h, nil }, nil
		}}
	l := plugintest.Load(t, framework.Plugin{Name: "full", Version: "1.0.0", Kinds: []framework.Kind{codehost.New(def)}})
	return codehost.NewClient(l.Conn, l.Configure(t, plugintest.Config(t, codehost.Kind, "main", "{}")))
}

// calls makes every optional call and returns the outcomes by name.
func calls(t *testing.T, c *codehost.Client) map[string]func() (any, error) {
	ctx := t.Context()
	since := time.UnixMilli(1_700_000_000_123)
	return map[string]func() (any, error){
		"viewer":        func() (any, error) { return c.Viewer(ctx, token) },
		"starred":       func() (any, error) { return c.ListStarred(ctx, token, page) },
		"repository":    func() (any, error) { return c.FindRepository(ctx, token, "a/b") },
		"releases":      func() (any, error) { return c.ListReleases(ctx, token, "a/b", page) },
		"tags":          func() (any, error) { return c.ListTags(ctx, token, "a/b", page) },
		"owned":         func() (any, error) { return c.ListOwned(ctx, token, page) },
		"stargazers":    func() (any, error) { return c.ListStargazers(ctx, token, "a/b", page) },
		"followers":     func() (any, error) { return c.ListFollowers(ctx, token, page) },
		"events":        func() (any, error) { return c.ListEvents(ctx, token, "ada", page) },
		"announcements": func() (any, error) { return c.ListAnnouncements(ctx, token, []string{"a/b", "a/c"}) },
		"reactions":     func() (any, error) { return c.ReadReactions(ctx, token, []string{"a1"}) },
		"set reaction":  func() (any, error) { return c.SetReaction(ctx, token, "a1", "heart", true) },
		"compare":       func() (any, error) { return c.Compare(ctx, token, "a/b", "a1", "a2") },
		"notifications": func() (any, error) {
			return c.ListNotifications(ctx, token, codehost.NotificationsRequest{PageRequest: page, Since: since, All: true})
		},
	}
}

func TestAnswersSurviveTheWire(t *testing.T) {
	for name, do := range calls(t, newClient(t, fullHost{t}, fullCapabilities)) {
		got, err := do()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := reflect.New(reflect.TypeOf(got).Elem())
		fill(want.Elem(), 0)
		if !reflect.DeepEqual(got, want.Interface()) {
			t.Errorf("%s:\n got %+v\nwant %+v", name, got, want.Interface())
		}
	}
}

func TestCallsWithoutTheirCapability(t *testing.T) {
	for name, do := range calls(t, newClient(t, fullHost{t}, []string{"OTHER"})) {
		if _, err := do(); errs.From(err).Code != codes.Unimplemented || errs.From(err).Reason != errs.ReasonUnsupported {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCapabilitiesThatAreNotThere(t *testing.T) {
	def := codehost.Definition[struct{}]{Build: func(codehost.Instance, struct{}) (codehost.Open, schema.Diagnostics) {
		return func(context.Context) (codehost.CodeHost, error) { return fullHost{t}, nil }, nil
	}}
	kind := codehost.New(def)
	if about, err := kind.Describe(); err != nil || !reflect.DeepEqual(about.GetCapabilities(), []string{codehost.CapWebhooks}) {
		t.Errorf("declared are %v, %v", about.GetCapabilities(), err)
	}
	if _, diags := kind.Open(t.Context(), codehost.Instance{}, []byte("{}")); !diags.HasErrors() {
		t.Error("a code host without webhooks is opened as one with them")
	}
}

func TestBadRequests(t *testing.T) {
	c, ctx := newClient(t, fullHost{t}, fullCapabilities), t.Context()
	second := func(_ any, err error) error { return err }
	for name, err := range map[string]error{
		"large page":    second(c.ListStarred(ctx, token, codehost.PageRequest{Size: 101})),
		"long cursor":   second(c.ListStarred(ctx, token, codehost.PageRequest{Cursor: strings.Repeat("x", 5000)})),
		"no token":      second(c.Viewer(ctx, "")),
		"no repository": second(c.ListReleases(ctx, token, "a", page)),
		"login":         second(c.ListEvents(ctx, token, "../x", page)),
		"no node":       second(c.ReadReactions(ctx, token, nil)),
		"many nodes":    second(c.ReadReactions(ctx, token, make([]string, 101))),
		"reaction":      second(c.SetReaction(ctx, token, "a", "wave", true)),
		"range":         second(c.Compare(ctx, token, "a/b", "a..b", "c")),
		"announcements": second(c.ListAnnouncements(ctx, token, make([]string, 21))),
	} {
		if e := errs.From(err); e == nil || e.Code != codes.InvalidArgument || e.Source != errs.Caller {
			t.Errorf("%s: %v", name, err)
		}
	}
}
