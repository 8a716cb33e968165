package code

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestFind(t *testing.T) {
	for _, test := range []struct {
		name, subject, text, html string
		want                      Code
	}{
		{"digits after a keyword in the subject", "Your verification code: 482913", "", "", Code{"482913", Subject}},
		{"digits before a keyword in the subject", "482913 is your Example confirmation code", "", "", Code{"482913", Subject}},
		{"the body after a subject without a code", "Welcome", "Your verification code is 739201. It expires in 10 minutes.", "", Code{"739201", Body}},
		{"mixed letters and digits", "Sign in", "Security code: A7K29Q", "", Code{"A7K29Q", Body}},
		{"Chinese", "登录提醒", "您的验证码是 582014，10分钟内有效。", "", Code{"582014", Body}},
		{"Chinese without spaces", "【示例】验证码：0917", "", "", Code{"0917", Subject}},
		{"the code on a line of its own", "Confirm your address", "Hello Ada,\r\n\r\nuse this passcode:\r\n\r\n    4821\r\n\r\nThe team", "", Code{"4821", Body}},
		{"the text of HTML", "Log in", "", "One-time code\n920144\nValid for 5 minutes", Code{"920144", Body}},
		{"a prefix of one letter", "Example", "G-582913 is your verification code.", "", Code{"582913", Body}},
		{"a year beside the code", "Your login code", "Login code: 8842\nCopyright 2026 Example", "", Code{"8842", Body}},
		{"a context word and six digits", "Hello", "To sign in, enter 638201.", "", Code{"638201", Body}},
		{"a link after the code", "Hi", "OTP 445566 https://example.com/login?token=9912345", "", Code{"445566", Body}},
		{"a code bound to a site", "Hi", "Your code is 123987.\n\n@example.com #123987", "", Code{"123987", Body}},
		{"the same code twice", "OTP 777123", "OTP 777123", "", Code{"777123", Subject}},
		{"nothing", "Hello", "How are you?", "", Code{}},
		{"the number of a build in a code review", "Code review: build 20481 failed", "See build 20481.", "", Code{}},
		{"a longer identifier", "Verification", "Verification code reference 4f2a-99b1-0c3d-1122", "", Code{}},
		{"a promotion", "Save now", "Use code SAVE20 at the checkout", "", Code{}},
		{"a promotion with digits", "Save now", "Use promo code: 20261 today", "", Code{}},
		{"a year alone", "Verify your account", "We verify accounts since 2019.", "", Code{}},
		{"a size", "Login", "Log in to fetch your 1024 MB archive", "", Code{}},
		{"two codes", "Hi", "Security code: 111222\nSecurity code: 333444", "", Code{}},
		{"an address", "Verify", "Verify that user4821@example.com is yours", "", Code{}},
		{"a link", "Verify", "Verify: https://example.com/verify/482913", "", Code{}},
		{"too long", "Your verification code: 123456789", "", "", Code{}},
		{"too short", "Your verification code: 123", "", "", Code{}},
		{"a date", "Login code", "Seen on 2026-11-22 from port 5432", "", Code{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, ok := Find(test.subject, test.text, test.html)
			if !ok {
				got = Code{}
			}
			if got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestFindReadsTheBeginningOfLongTexts(t *testing.T) {
	long := strings.Repeat("验证 ", maxText)
	if got, ok := Find("", "OTP 445566\n"+long, ""); !ok || got.Value != "445566" {
		t.Errorf("got %+v, %v", got, ok)
	}
	if got, ok := Find("", long+"OTP 445566", ""); ok {
		t.Errorf("found %+v behind the limit", got)
	}
}

func FuzzFind(f *testing.F) {
	for _, seed := range []string{"Your verification code: 482913", "您的验证码是 582014", "otp", "G-1234 otp", "@1234", "\xff1234\xffotp"} {
		f.Add(seed, seed)
	}
	f.Fuzz(func(t *testing.T, subject, body string) {
		got, ok := Find(subject, body, "")
		if !ok {
			return
		}
		if n := len(got.Value); n < minLength || n > maxLength || !utf8.ValidString(got.Value) || !strings.Contains(subject+"\n"+body, got.Value) {
			t.Errorf("found %q in %q and %q", got.Value, subject, body)
		}
	})
}
