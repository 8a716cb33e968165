package channels

import (
	"testing"
)

// TestHasRecipient: what is stored for a channel that is off is checked as soon as it names whom to reach, and may be incomplete before.
func TestHasRecipient(t *testing.T) {
	var s storedSettings
	for _, role := range []string{"chat", "email", "webhook", "webPush"} {
		if s.hasRecipient(role) {
			t.Errorf("%s has a recipient without settings", role)
		}
	}
	s.Chat.BotToken, s.Email.SMTPURL, s.Webhook.URL = "x", "x", "x"
	if s.hasRecipient("chat") || !s.hasRecipient("email") || !s.hasRecipient("webhook") {
		t.Error("the recipient of a chat needs its id, the others need one setting")
	}
	s.Chat.ChatID = "y"
	if !s.hasRecipient("chat") {
		t.Error("a chat with token and id has a recipient")
	}
}
