package telegramtest_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/notify/telegram/telegramtest"
)

// The server refuses what the API refuses, in its words.
func TestServer(t *testing.T) {
	s := telegramtest.New(t)
	for _, tt := range []struct {
		name, path string
		form       url.Values
		status     int
		words      string
	}{
		{"plain", "/sendMessage", url.Values{"text": {"1 < 2 <p>"}}, 200, ""},
		{"HTML", "/sendMessage", url.Values{"text": {`<b>a <i>b</i></b> &lt;&#128640; <a href="https://e.com">x</a> <pre><code class="language-go">y</code></pre>`}, "parse_mode": {"HTML"}}, 200, ""},
		{"long", "/sendMessage", url.Values{"text": {strings.Repeat("字", 4096)}}, 200, ""},
		{"too long", "/sendMessage", url.Values{"text": {strings.Repeat("字", 4097)}}, 400, "Bad Request: message is too long"},
		{"pairs", "/sendMessage", url.Values{"text": {strings.Repeat("🚀", 2049)}}, 400, "Bad Request: message is too long"},
		{"empty", "/sendMessage", url.Values{"text": {" \n"}}, 400, "Bad Request: message text is empty"},
		{"only markup", "/sendMessage", url.Values{"text": {"<b></b>"}, "parse_mode": {"HTML"}}, 400, "Bad Request: message text is empty"},
		{"unknown tag", "/sendMessage", url.Values{"text": {"字<p>x</p>"}, "parse_mode": {"HTML"}}, 400,
			`Bad Request: can't parse entities: Unsupported start tag "p" at byte offset 3`},
		{"open", "/sendMessage", url.Values{"text": {"<b>x"}, "parse_mode": {"HTML"}}, 400,
			`Bad Request: can't parse entities: Can't find end tag corresponding to start tag "b"`},
		{"crossed", "/sendMessage", url.Values{"text": {"<b><i>x</b></i>"}, "parse_mode": {"HTML"}}, 400,
			"can't parse entities: Unmatched end tag"},
		{"cut", "/sendMessage", url.Values{"text": {`<a href="x`}, "parse_mode": {"HTML"}}, 400, "can't parse entities: Unclosed start tag"},
		{"no photo", "/sendPhoto", url.Values{"caption": {"x"}}, 400, "there is no photo"},
		{"another method", "/getMe", nil, 400, "method not found"},
	} {
		form := url.Values{"chat_id": {s.ChatID}}
		for name, values := range tt.form {
			form[name] = values
		}
		status, words := post(t, s.URL+"/bot"+s.Token+tt.path, form)
		if status != tt.status || !strings.Contains(words, tt.words) {
			t.Errorf("%s: %d %q", tt.name, status, words)
		}
	}
	if status, words := post(t, s.URL+"/bot1:x/sendMessage", url.Values{"text": {"x"}}); status != 401 || words != "Unauthorized" {
		t.Errorf("another token: %d %q", status, words)
	}
	if status, words := post(t, s.URL+"/bot"+s.Token+"/sendMessage", url.Values{"chat_id": {"7"}, "text": {"x"}}); status != 400 ||
		words != "Bad Request: chat not found" {
		t.Errorf("another chat: %d %q", status, words)
	}
	if got := s.Messages(); len(got) != 3 || len(got[1].Entities) != 5 || got[1].Text != "a b <🚀 x y" {
		t.Errorf("%+v", got)
	}
}

func post(t *testing.T, address string, form url.Values) (int, string) {
	t.Helper()
	res, err := http.PostForm(address, form)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var out struct {
		OK          bool   `json:"ok"`
		Code        int    `json:"error_code"`
		Description string `json:"description"`
		Result      struct {
			ID int64 `json:"message_id"`
		} `json:"result"`
	}
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil {
		t.Fatal(err)
	}
	if out.OK != (res.StatusCode == 200) || out.OK != (out.Result.ID > 0) || !out.OK && out.Code != res.StatusCode {
		t.Errorf("%d with %+v", res.StatusCode, out)
	}
	return res.StatusCode, out.Description
}
