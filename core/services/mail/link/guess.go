package link

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Guess is what a link is for.
type Guess string

// The guesses.
const (
	Confirm     Guess = "confirm"
	Reset       Guess = "reset"
	Unsubscribe Guess = "unsubscribe"
)

// labels has the beginnings of words that say what a link is for, in lower case, with commas between them. What is looked for first comes
// first: "confirm that you want a new password" is a reset.
var labels = []struct {
	guess Guess
	words []string
}{
	{Unsubscribe, splitWords("unsubscri,opt out,opt-out,abmelden,abbestell,afmelden,uitschrijven,désabonn,désinscri,se désabonner,cancelar suscripción,cancelar la suscripción,darse de baja,darme de baja," +
		"anular suscripción,cancelar inscrição,cancelar a inscrição,descadastr,cancelar subscrição,отписаться,отписка,отказаться от рассылки,disiscri,annulla iscrizione,annulla l'iscrizione," +
		"cancella iscrizione,abonelikten çık,aboneliği iptal,aboneliğimi iptal,listeden çık,wypisz,zrezygnuj,anuluj subskrypcję,hủy đăng ký,huỷ đăng ký,退订,取消订阅,退訂,取消訂閱,配信停止,購読解除,登録解除,수신거부,수신 거부,구독 취소,구독 해지")},
	{Reset, splitWords("reset,new password,change password,change your password,choose a password,set a password,recover,zurücksetz,neues passwort,passwort ändern,nieuw wachtwoord,wachtwoord wijzigen,wachtwoord herstellen," +
		"réinitialis,nouveau mot de passe,restablec,cambiar contraseña,cambiar la contraseña,nueva contraseña,redefin,nova senha,repor a palavra,сброс,восстанов,новый пароль,сменить пароль,reimposta,ripristina,nuova password," +
		"sıfırla,yeni şifre,yeni parola,zresetuj,resetuj,odzyska,nowe hasło,zmień hasło,đặt lại,mật khẩu mới,重置,重设,重設,找回密码,修改密码,再設定,リセット,パスワードを変更,재설정,비밀번호 변경")},
	{Confirm, splitWords("confirm,verif,validat,validez,valider,activat,activer,activez,activar,activa,ativar,ative,bestätig,verifizier,aktivier,freischalt,bevestig,activeer,vérifi,confirma,conferma,attiva,подтверд,активир," +
		"onayla,doğrula,etkinleştir,aktifleştir,potwierdź,potwierdz,aktywuj,zweryfikuj,xác nhận,xác minh,xác thực,kích hoạt,确认,验证,激活,確認,驗證,啟用,認証,有効化,확인,인증,활성화")},
}

// targets has the words of an address that say what it is for.
var targets = []struct {
	guess Guess
	words []string
}{
	{Unsubscribe, splitWords("unsub,optout,opt-out,opt_out,abmelden,list-remove")},
	{Reset, splitWords("reset,forgot,recover,new-password,newpassword,new_password,set-password,set_password")},
	{Confirm, splitWords("confirm,verif,activat,validat,opt-in,optin")},
}

// weakLabels name no link.
var weakLabels = splitWords("here,click here,click,link,this link,hier,hier klicken,klik hier,ici,cliquez ici,aquí,haz clic aquí,aqui,clique aqui,здесь,сюда,qui,clicca qui,buraya,buradan,tutaj,kliknij tutaj,tại đây,ở đây,这里,点击这里,此处,點此,這裡,こちら,여기")

func splitWords(list string) []string { return strings.Split(list, ",") }

// How sure a guess is by what it comes from: label and target, the label, the target, and the text before a label that says nothing.
const (
	byBoth   = 0.95
	byLabel  = 0.9
	byTarget = 0.7
	byBefore = 0.6
)

// guessPurpose returns what a link is for, and how sure that is.
func guessPurpose(label, target, before string) (Guess, float64) {
	label = strings.ToLower(strings.Join(strings.Fields(label), " "))
	named, aimed := guessLabel(label), guessTarget(target)
	switch {
	case named != "" && named == aimed:
		return named, byBoth
	case named != "":
		return named, byLabel
	case aimed != "":
		return aimed, byTarget
	case isWeak(label):
		if g := guessLabel(strings.ToLower(lastSentence(before))); g != "" {
			return g, byBefore
		}
	}
	return "", 0
}

// guessLabel returns what a text in lower case says that a link is for.
func guessLabel(label string) Guess {
	for _, l := range labels {
		for _, word := range l.words {
			if containsWord(label, word) {
				return l.guess
			}
		}
	}
	return ""
}

// containsWord reports whether a word of a text begins with word. Chinese, Japanese and Korean have no spaces between words.
func containsWord(text, word string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], word)
		if i < 0 {
			return false
		}
		before, _ := utf8.DecodeLastRuneInString(text[:at+i])
		if at+i == 0 || !unicode.IsLetter(before) || word[0] >= 0xe3 {
			return true
		}
		at += i + len(word)
	}
}

// guessTarget returns what the path and the query of an address say.
func guessTarget(target string) Guess {
	u, err := url.Parse(target)
	if err != nil {
		return ""
	}
	words := strings.ToLower(u.Path + "?" + u.RawQuery + u.Opaque)
	for _, t := range targets {
		for _, word := range t.words {
			if strings.Contains(words, word) {
				return t.guess
			}
		}
	}
	return ""
}

// isWeak reports whether a label in lower case says nothing.
func isWeak(label string) bool {
	label = strings.Trim(label, " .!:»›→>")
	if label == "" || strings.HasPrefix(label, "http") || strings.HasPrefix(label, "www.") {
		return true
	}
	for _, w := range weakLabels {
		if label == w {
			return true
		}
	}
	return false
}

// lastSentence returns what stands behind the last end of a sentence.
func lastSentence(text string) string {
	text = strings.TrimRight(text, " \t\r\n")
	if i := strings.LastIndexAny(strings.TrimRight(text, ".:。："), ".!?。！？"); i >= 0 {
		return text[i:]
	}
	return text
}
