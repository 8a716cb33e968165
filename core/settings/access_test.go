package settings

import "testing"

func TestLocalURL(t *testing.T) {
	for in, want := range map[string]string{
		"0.0.0.0:50883": "http://localhost:50883", "[::]:80": "http://localhost:80", "127.0.0.1:1": "http://localhost:1",
		"192.0.2.1:50883": "http://192.0.2.1:50883", "[2001:db8::1]:50883": "http://[2001:db8::1]:50883", ":50883": "http://localhost:50883",
	} {
		if got := localURL(in); got != want {
			t.Errorf("%s: got %s", in, got)
		}
	}
}
