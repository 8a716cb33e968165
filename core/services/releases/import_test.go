package releases_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

const importPath = "/api/repos/import"

// TestImport follows what texts name, and tells of each line what is wrong with it.
func TestImport(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		s.addRepo("acme/engine", day, 1)
		s.want(200, "", s.ada, http.MethodPut, "/api/repos/acme/engine/following", nil)
		foreign := errs.BadInput(codehost.ReasonInvalidInput, "not an address of this host")
		s.host.Fail("https://blog.example/some/post", foreign, foreign)
		text := "acme/engine\nacme/loom\nhttps://codehost.example/acme/cards/releases\nhttps://codehost.example/Acme/Loom\nhttps://blog.example/some/post\nhttps://blog.example/other/post\nnonsense"
		got := s.want(200, "", s.ada, http.MethodPost, importPath, dict{"content": text})
		if fmt.Sprint(got["followed"]) != "[acme/loom acme/cards]" || got["known"] != 1.0 || got["problem_count"] != 3.0 ||
			got["format"] != "list" {
			t.Errorf("got %v", got)
		}
		problems := map[float64]string{}
		for _, p := range got["problems"].([]any) {
			problems[p.(dict)["line"].(float64)] = p.(dict)["message"].(string)
		}
		if problems[5] != "blog.example is not the code host" || problems[6] != problems[5] || !strings.Contains(problems[7], "owner/name") {
			t.Errorf("got %v", problems)
		}
		if n := s.countCalls("resolve"); n != 2 {
			t.Errorf("the code host was asked %d times, want once for each site", n)
		}
		if got := s.want(200, "", s.ada, http.MethodPost, importPath, dict{"content": text}); len(got["followed"].([]any)) != 0 ||
			got["known"] != 3.0 {
			t.Errorf("the second time: got %v", got)
		}
		if n := len(s.want(200, "", s.ada, http.MethodGet, "/api/repos/following", nil)["repos"].([]any)); n != 3 {
			t.Errorf("%d repositories are followed", n)
		}
		// A private repository is not followed by who knows its name.
		secret := s.addRepo("acme/secret", day, 1)
		secret.Private = true
		s.star("ada", secret, day)
		s.saveToken()
		s.want(200, "", s.ada, http.MethodPost, "/api/sync/starred", nil)
		if got := s.want(200, "", s.bob, http.MethodPost, importPath,
			dict{"content": "acme/secret acme/loom", "format": "list"}); got["problem_count"] != 1.0 ||
			fmt.Sprint(got["followed"]) != "[acme/loom]" {
			t.Errorf("got %v", got)
		}
		var many strings.Builder
		for i := range 1001 {
			fmt.Fprintf(&many, "acme/r%d\n", i)
		}
		for named, body := range map[string]dict{"at most 1000": {"content": many.String()}, "content": {},
			"format": {"content": "a/b", "format": "csv"}} {
			if got := s.want(400, "bad_request", s.ada, http.MethodPost, importPath, body); !strings.Contains(fmt.Sprint(got), named) {
				t.Errorf("%s: got %v", named, got)
			}
		}
		s.want(200, "", s.ada, http.MethodPost, importPath, dict{"content": many.String()[:strings.LastIndex(many.String(), "acme")]})
		s.want(413, "payload_too_large", s.ada, http.MethodPost, importPath, dict{"content": strings.Repeat("x", 600<<10)})
	})
}
