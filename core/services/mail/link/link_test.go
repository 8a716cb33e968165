package link

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/patchbay-dev/patchbay/core/services/mail/rfc822"
)

func TestFind(t *testing.T) {
	for _, test := range []struct {
		name string
		mail rfc822.Parsed
		// want has the links as text, target, place, guess.
		want []string
	}{
		{"a button and a footer", rfc822.Parsed{HTML: `<style>a{color:red}</style><p>Hi</p><a href="https://a.example/c?t=1&amp;u=2"><b>Confirm</b> your&nbsp;address</a>` +
			`<p><a href="https://a.example/privacy">Privacy</a> <a href="https://a.example/x9">Unsubscribe</a></p>`},
			[]string{"Confirm your address|https://a.example/c?t=1&u=2|html|confirm", "Privacy|https://a.example/privacy|html|",
				"Unsubscribe|https://a.example/x9|html|unsubscribe"}},
		{"an image in a link", rfc822.Parsed{HTML: `<a href="https://a.example/r"><img src="b.png" alt="Reset password"></a>`},
			[]string{"Reset password|https://a.example/r|html|reset"}},
		{"a label that says nothing", rfc822.Parsed{HTML: `<p>To reset your password, click <a href="https://a.example/1">here</a>.</p><p>Terms are <a href="https://a.example/2">here</a>.</p>`},
			[]string{"here|https://a.example/1|html|reset", "here|https://a.example/2|html|"}},
		{"the target says it", rfc822.Parsed{HTML: `<a href="https://a.example/users/verify/77">Get started</a>`},
			[]string{"Get started|https://a.example/users/verify/77|html|confirm"}},
		{"a link that is not closed", rfc822.Parsed{HTML: `<a href="https://a.example/1">One<a href="https://a.example/2">Two`},
			[]string{"One|https://a.example/1|html|", "Two|https://a.example/2|html|"}},
		{"no links", rfc822.Parsed{HTML: `<a href="#top">Top</a><a href="javascript:alert(1)">x</a><a href="/relative">y</a><a name="z">z</a><a href="https://">none</a>`, Text: "https:// and http:/x"}, nil},
		{"in a text behind its words", rfc822.Parsed{Text: "Reset your password: https://a.example/p/1.\nOur shop (https://a.example/shop) is open.\n"},
			[]string{"Reset your password|https://a.example/p/1|text|reset", "Our shop is open|https://a.example/shop|text|"}},
		{"in a text below its words", rfc822.Parsed{Text: "Please confirm your address:\r\n\r\n   <https://a.example/k/1?a=(b)>\r\n"},
			[]string{"Please confirm your address|https://a.example/k/1?a=(b)|text|confirm"}},
		{"between Chinese marks", rfc822.Parsed{Text: "请点击（https://a.example/k/2）验证您的邮箱。"},
			[]string{"请点击 验证您的邮箱|https://a.example/k/2|text|confirm"}},
		{"the same in text and HTML", rfc822.Parsed{HTML: `<a href="https://a.example/1">Page</a>`, Text: "Confirm: https://a.example/1"},
			[]string{"Page|https://a.example/1|html|confirm"}},
		{"List-Unsubscribe", rfc822.Parsed{Text: "Bye: https://a.example/u",
			Headers: []rfc822.Header{{Key: "List-unsubscribe", Value: "<mailto:out@a.example?subject=x>, <https://a.example/u>"}}},
			[]string{"Bye|https://a.example/u|text|unsubscribe", "|mailto:out@a.example?subject=x|header|unsubscribe"}},
		{"an address of mail", rfc822.Parsed{HTML: `<a href="mailto:help@a.example">Write to us</a>`},
			[]string{"Write to us|mailto:help@a.example|html|"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := make([]string, 0)
			for _, l := range Find(&test.mail) {
				got = append(got, strings.Join([]string{l.Text, l.Target, string(l.Place), string(l.Guess)}, "|"))
				if (l.Guess == "") != (l.Confidence == 0) || l.Confidence > 1 {
					t.Errorf("%s: guess %q with confidence %v", l.Target, l.Guess, l.Confidence)
				}
			}
			if strings.Join(got, "\n") != strings.Join(test.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

// TestGuess has labels in the languages of verification codes.
func TestGuess(t *testing.T) {
	for want, labels := range map[Guess]string{
		Confirm: "Verify email|Activate account|确认邮箱|立即验证|確認信箱|メールアドレスを確認|アカウントを有効化|이메일 인증|Xác nhận email|E-Mail bestätigen|Konto aktivieren|E-mailadres bevestigen|Confirmer mon adresse|Vérifier|" +
			"Confirmar correo|Verificar cuenta|Confirmar e-mail|Подтвердить адрес|Conferma l'indirizzo|Hesabı doğrula|Potwierdź adres",
		Reset: "Reset password|Choose a password|重置密码|重設密碼|パスワードを再設定|비밀번호 재설정|Đặt lại mật khẩu|Passwort zurücksetzen|Wachtwoord herstellen|Réinitialiser le mot de passe|Restablecer contraseña|Redefinir senha|" +
			"Сбросить пароль: сброс|Reimposta la password|Şifreyi sıfırla|Zresetuj hasło",
		Unsubscribe: "Unsubscribe|Opt out|退订|取消訂閱|配信停止はこちら|수신거부|Hủy đăng ký|Abmelden|Newsletter abbestellen|Afmelden|Se désabonner|Darse de baja|Cancelar inscrição|Отписаться|Annulla iscrizione|Abonelikten çık|Wypisz się",
		"":          "Privacy policy|View in browser|Shop now|Sign in|查看详情|Impressum|Inactive users|Preset styles|Help",
	} {
		for label := range strings.SplitSeq(labels, "|") {
			if got, _ := guessPurpose(label, "https://a.example/1", ""); got != want {
				t.Errorf("%s is %q, want %q", label, got, want)
			}
		}
	}
}

func TestFindIsBounded(t *testing.T) {
	many := strings.Repeat(`<a href="https://a.example/`+strings.Repeat("x", 90)+`">x</a> `, 3000) + strings.Repeat("<", 1<<20)
	if got := Find(&rfc822.Parsed{HTML: many,
		Text: strings.Repeat("https://a.example/"+strings.Repeat("(", 50)+" ", 10000)}); len(got) > maxLinks {
		t.Errorf("%d links", len(got))
	}
	// One line with very many links is not copied for each of them.
	line := "Confirm " + strings.Repeat("https://a.example/1 ", 100_000)
	if n := testing.AllocsPerRun(1, func() {
		Find(&rfc822.Parsed{Text: line, HTML: strings.Repeat(`<a href="https://a.example/2">x</a>`, 50_000)})
	}); n > 50_000 {
		t.Errorf("%.0f allocations", n)
	}
	if got := Find(&rfc822.Parsed{Text: strings.Repeat("验证", 200) + "https://a.example/1"}); len(got) != 1 || got[0].Guess != Confirm ||
		!utf8.ValidString(got[0].Text) {
		t.Errorf("a long line gives %+v", got)
	}
	if got := Find(&rfc822.Parsed{Text: "https://a.example/" + strings.Repeat("x", maxTarget)}); len(got) != 0 {
		t.Errorf("a long target is returned: %d", len(got))
	}
}

// TestTrimAddress has long addresses of which every byte is cut: work that grows with the square of them takes many minutes.
func TestTrimAddress(t *testing.T) {
	const many = 8 << 20
	for _, test := range []struct{ name, text, want string }{
		{"marks", "https://a.example/x?!'*_|.,;:", "https://a.example/x"},
		{"a bracket that was opened", "https://a.example/(x)[y]{z}", "https://a.example/(x)[y]{z}"},
		{"one that was not, between marks", "https://a.example/(x).).", "https://a.example/(x)"},
		{"brackets in brackets", "https://a.example/(x)]).}", "https://a.example/(x)"},
		{"only marks", "...", ""},
		{"many brackets", "https://a.example/" + strings.Repeat(")", many), "https://a.example/"},
		{"many brackets and marks", "https://a.example/" + strings.Repeat("].", many/2), "https://a.example/"},
		{"many brackets of all kinds", "https://a.example/(x" + strings.Repeat(")]}", many/3), "https://a.example/(x)"},
	} {
		if got := trimAddress(test.text); got != test.want {
			t.Errorf("%s: %.100q, want %q", test.name, got, test.want)
		}
	}
	text := "https://a.example/" + strings.Repeat(")", rfc822.MaxText)
	if got := Find(&rfc822.Parsed{Text: text}); len(got) != 1 || got[0].Target != "https://a.example/" {
		t.Errorf("the links are %+v", got)
	}
}

func FuzzFind(f *testing.F) {
	f.Add(`<a href="https://a.example">x</a>`)
	f.Add("https://a.example/()) mailto:\xff")
	f.Fuzz(func(t *testing.T, text string) {
		for _, l := range Find(&rfc822.Parsed{Text: text, HTML: text, Headers: []rfc822.Header{{Key: "List-Unsubscribe", Value: text}}}) {
			if !isTarget(l.Target) {
				t.Errorf("target %q", l.Target)
			}
		}
	})
}
