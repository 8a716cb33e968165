package code

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// found is a code and where it stands.
type found struct {
	value  string
	source Source
}

func TestFind(t *testing.T) {
	for _, test := range []struct {
		name, subject, text, html string
		want                      found
	}{
		{"digits after a keyword in the subject", "Your verification code: 482913", "", "", found{"482913", Subject}},
		{"digits before a keyword in the subject", "482913 is your Example confirmation code", "", "", found{"482913", Subject}},
		{"the body after a subject without a code", "Welcome", "Your verification code is 739201. It expires in 10 minutes.", "",
			found{"739201", Text}},
		{"mixed letters and digits", "Sign in", "Security code: A7K29Q", "", found{"A7K29Q", Text}},
		{"Chinese", "登录提醒", "您的验证码是 582014，10分钟内有效。", "", found{"582014", Text}},
		{"Chinese without spaces", "【示例】验证码：0917", "", "", found{"0917", Subject}},
		{"the code on a line of its own", "Confirm your address", "Hello Ada,\r\n\r\nuse this passcode:\r\n\r\n    4821\r\n\r\nThe team", "",
			found{"4821", Text}},
		{"the text of HTML", "Log in", "", "One-time code\n920144\nValid for 5 minutes", found{"920144", HTML}},
		{"a prefix of one letter", "Example", "G-582913 is your verification code.", "", found{"582913", Text}},
		{"a year beside the code", "Your login code", "Login code: 8842\nCopyright 2026 Example", "", found{"8842", Text}},
		{"a context word and six digits", "Hello", "To sign in, enter 638201.", "", found{"638201", Text}},
		{"a link after the code", "Hi", "OTP 445566 https://example.com/login?token=9912345", "", found{"445566", Text}},
		{"a code bound to a site", "Hi", "Your code is 123987.\n\n@example.com #123987", "", found{"123987", Text}},
		{"the same code twice", "OTP 777123", "OTP 777123", "", found{"777123", Subject}},
		{"letters in brackets with their name", "Welcome", "Press the button to finish. (Code FQYKPR) If you did not ask, do nothing.", "",
			found{"FQYKPR", Text}},
		{"letters in brackets, Korean", "환영합니다", "아래 버튼을 클릭하세요. (코드 FQYKPR) 무시하셔도 됩니다.", "", found{"FQYKPR", Text}},
		{"a Turkish ending", "Merhaba", "Lütfen tek kullanımlık şifre 482913'yi kullanın.", "", found{"482913", Text}},
		{"a Korean ending", "안내", "482913는 shop.example의 OTP입니다.", "", found{"482913", Text}},
		{"a name of a site between", "Merhaba", "482913 sizin shop.example için tek kullanımlık şifrenizdir.", "", found{"482913", Text}},
		{"words between", "Verify phone", "Please use the following code to verify it 482913", "", found{"482913", Text}},
		{"words between, Vietnamese", "Xác minh", "Vui lòng sử dụng mã sau để xác minh\n482913", "", found{"482913", Text}},
		{"after a dash", "Вход", "482913 — это ваш OTP для shop.example.", "", found{"482913", Text}},
		{"nothing", "Hello", "How are you?", "", found{}},
		{"the number of a build in a code review", "Code review: build 20481 failed", "See build 20481.", "", found{}},
		{"a longer identifier", "Verification", "Verification code reference 4f2a-99b1-0c3d-1122", "", found{}},
		{"a promotion", "Save now", "Use code SAVE20 at the checkout", "", found{}},
		{"a promotion with digits", "Save now", "Use promo code: 20261 today", "", found{}},
		{"a year alone", "Verify your account", "We verify accounts since 2019.", "", found{}},
		{"a size", "Login", "Log in to fetch your 1024 MB archive", "", found{}},
		{"two codes", "Hi", "Security code: 111222\nSecurity code: 333444", "", found{}},
		{"an address", "Verify", "Verify that user4821@example.com is yours", "", found{}},
		{"a link", "Verify", "Verify: https://example.com/verify/482913", "", found{}},
		{"too long", "Your verification code: 123456789", "", "", found{}},
		{"too short", "Your verification code: 123", "", "", found{}},
		{"a word behind a colon", "code analysis", "- name: Build with the code of main shell: pwsh run: msbuild", "", found{}},
		{"a date", "Login code", "Seen on 2026-11-22 from port 5432", "", found{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := found{}
			if best, ok := Best(Find(test.subject, test.text, test.html)); ok {
				got = found{best.Value, best.Source}
			}
			if got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestFindReadsTheBeginningOfLongTexts(t *testing.T) {
	long := strings.Repeat("Nothing is said here. ", MaxText/20)
	if got, ok := Best(Find("", "OTP 445566\n"+long, "")); !ok || got.Value != "445566" {
		t.Errorf("got %+v, %v", got, ok)
	}
	if got, ok := Best(Find("", long+"OTP 445566", "")); ok {
		t.Errorf("found %+v behind the limit", got)
	}
}

func FuzzFind(f *testing.F) {
	for _, seed := range []string{"Your verification code: 482913", "您的验证码是 582014", "otp", "G-1234 otp", "@1234",
		"\xff1234\xffotp", "1\n2\n3\n4 code", "code 4KQ-7XR", "İ code 1234"} {
		f.Add(seed, seed)
	}
	f.Fuzz(func(t *testing.T, subject, body string) {
		all := Find(subject, body, body)
		if len(all) > maxCodes {
			t.Errorf("found %d codes", len(all))
		}
		for _, c := range all {
			if n := len(strings.ReplaceAll(c.Value, "-", "")); n < minLength || n > maxLength || !utf8.ValidString(c.Value+c.Around) ||
				c.Confidence < 0 || c.Confidence > 1 {
				t.Errorf("found %+v in %q and %q", c, subject, body)
			}
		}
	})
}
