package githubtest

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"strconv"
)

// OAuthApp is an application at which people sign in with the double.
type OAuthApp struct {
	ClientID, Secret, Callback string
	// Login is who lets the application act for them; "" for somebody who declines.
	Login string
	// Token is what the application gets, with Refresh and ExpiresIn seconds unless Refresh is "".
	Token, Refresh string
	ExpiresIn      int
}

// SetOAuthApp registers the application. Its token has to be made known by Token.
func (s *state) SetOAuthApp(app OAuthApp) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.app = app
}

// answerAuthorize sends a browser back at once, as the page of GitHub does for an application that a person knows.
func (s *Server) answerAuthorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	s.mu.Lock()
	defer s.mu.Unlock()
	if q.Get("client_id") != s.app.ClientID {
		http.NotFound(w, r)
		return
	}
	back := url.Values{"state": {q.Get("state")}}
	switch {
	case q.Get("redirect_uri") != s.app.Callback:
		back.Set("error", "redirect_uri_mismatch")
		back.Set("error_description", "The redirect_uri is not associated with this application.")
	case s.app.Login == "":
		back.Set("error", "access_denied")
		back.Set("error_description", "The user has denied your application access.")
	default:
		s.lastID++
		code := "code" + strconv.FormatInt(s.lastID, 10)
		s.challenges[code] = q.Get("code_challenge")
		back.Set("code", code)
	}
	http.Redirect(w, r, s.app.Callback+"?"+back.Encode(), http.StatusFound)
}

// accessToken answers a code or a refresh token. GitHub answers refusals with the status 200.
func (s *Server) accessToken(w http.ResponseWriter, r *http.Request) {
	refuse := func(code, text string) {
		writeJSON(w, 200, map[string]string{"error": code, "error_description": text, "error_uri": docs})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.PostFormValue("client_id") != s.app.ClientID || r.PostFormValue("client_secret") != s.app.Secret {
		refuse("incorrect_client_credentials", "The client_id and/or client_secret passed are incorrect.")
		return
	}
	if r.PostFormValue("grant_type") == "refresh_token" {
		if s.app.Refresh == "" || r.PostFormValue("refresh_token") != s.app.Refresh {
			refuse("bad_refresh_token", "The refresh token passed is incorrect or expired.")
			return
		}
		s.replyToken(w)
		return
	}
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	challenge, known := s.challenges[r.PostFormValue("code")]
	delete(s.challenges, r.PostFormValue("code"))
	if !known || challenge != base64.RawURLEncoding.EncodeToString(sum[:]) {
		refuse("bad_verification_code", "The code passed is incorrect or expired.")
		return
	}
	s.replyToken(w)
}

// replyToken answers with the token of the application. The caller holds the lock.
func (s *Server) replyToken(w http.ResponseWriter) {
	out := map[string]any{"access_token": s.app.Token, "token_type": "bearer", "scope": "notifications,public_repo,read:user"}
	if s.app.Refresh != "" {
		out["refresh_token"], out["expires_in"] = s.app.Refresh, s.app.ExpiresIn
	}
	writeJSON(w, 200, out)
}
