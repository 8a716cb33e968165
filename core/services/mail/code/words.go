package code

import "strings"

// wordKind is what a word says of a number beside it.
type wordKind int

// The kinds of words.
const (
	// codeWord names a verification code.
	codeWord wordKind = iota
	// contextWord says that the mail is about signing in or confirming.
	contextWord
	// otherWord names another number, such as that of an order.
	otherWord
)

// wordList has the words of each kind, in lower case, with commas between them.
var wordList = map[wordKind]string{
	codeWord: "code,passcode,pass code,otp,pin,tan,mtan,security token,verification token,login token,one-time password,one time password,temporary password,verification number,one-time key,one-time pin,temporary pin,access key,verification key,security number,security key," +
		"临时密码,短信密码,口令,验证数字,臨時密碼,驗證數字,通行碼,仮パスワード,一時パスワード,임시 비밀번호,임시번호,일회용 코드,mật khẩu một lần,mật khẩu tạm thời," +
		"einmal-pin,zugangsschlüssel,sicherheitsschlüssel,transaktionsnummer,tijdelijk wachtwoord,beveiligingssleutel,mot de passe provisoire,clé de sécurité,clé d'accès,clé de vérification," +
		"clave temporal,clave de un solo uso,clave de verificación,clave de seguridad,clave de confirmación,token de seguridad,senha provisória,chave de acesso,chave de segurança,token de segurança," +
		"временный пароль,разовый пароль,ключ доступа,password provvisoria,password usa e getta,chiave di accesso,geçici şifre,geçici şifreniz,kodunuzdur,şifrenizdir,tek kullanımlık şifrenizdir,tek seferlik şifre,hasło tymczasowe,klucz dostępu,hasło sms," +
		"验证码,校验码,动态码,认证码,登入码,登录码,激活码,动态密码,动态口令,一次性密码,安全码,确认码,注册码,代码," +
		"驗證碼,校驗碼,動態碼,認證碼,登入碼,啟用碼,動態密碼,一次性密碼,安全碼,確認碼,代碼,簡訊密碼," +
		"認証コード,確認コード,検証コード,認証番号,確認番号,暗証番号,コード,ワンタイムパスワード,ワンタイムコード,パスコード," +
		"인증번호,인증코드,인증 번호,인증 코드,확인 코드,확인코드,보안 코드,보안코드,일회용 비밀번호,코드,로그인 코드," +
		"mã xác minh,mã xác nhận,mã xác thực,mã otp,mã bảo mật,mã đăng nhập,mã kích hoạt,mã của bạn,mã," +
		"sicherheitscode,bestätigungscode,verifizierungscode,verifikationscode,zugangscode,anmeldecode,einmalcode,freischaltcode,aktivierungscode,einmalpasswort,einmalkennwort,logincode,prüfcode,pincode,kontrollnummer," +
		"verificatiecode,inlogcode,bevestigingscode,beveiligingscode,toegangscode,activeringscode,activatiecode,eenmalige code,eenmalig wachtwoord,controlecode," +
		"mot de passe à usage unique,mot de passe temporaire,código,codigo,contraseña de un solo uso,clave de acceso,clave dinámica,contraseña temporal,senha de uso único,senha temporária,token de acesso," +
		"код,кода,кодом,одноразовый пароль,пин-код,пароль для входа,codice,password monouso,password temporanea," +
		"kod,kodu,kodunuz,kodun,şifreniz,tek kullanımlık şifre,tek kullanımlık şifreniz,kodem,hasło jednorazowe",
	contextWord: "verify,verification,authenticate,authentication,log in,login,sign in,sign-in,signing in,two-factor,2fa,confirm,activate,reset,password,identity," +
		"验证,登录,登入,注册,激活,密码,驗證,登入,註冊,認證,認証,確認,ログイン,인증,로그인,확인,xác minh,xác nhận,đăng nhập,xác thực," +
		"bestätigen,anmelden,anmeldung,bestätigung,registrierung,inloggen,bevestig,bevestigen,verifiëren,confirmez,confirmer,connexion,vérifier,vérifiez,connecter," +
		"verifica,verificar,confirmar,confirma,iniciar sesión,confirme,verifique,entrar,login,acesso,вход,входа,войти,подтвердите,подтверждения,подтвердить,accedi,accesso,accedere,conferma,verificare," +
		"doğrulama,doğrula,giriş,onayla,onay,zaloguj,logowanie,logowania,potwierdź,weryfikacja",
	otherWord: "promo code,promotion code,promotional code,coupon code,discount code,voucher code,gift code,gift card code,referral code,invite code,offer code,coupon,voucher,discount,promo,at checkout,at the checkout," +
		"zip code,postal code,post code,postcode,zip,area code,dialing code,country code,dress code,qr code,bar code,barcode,error code,status code,exit code,source code,code review,code of,swift code,sort code,tax code,product code,item code,sku,booking code,reservation code,reference code,tracking code," +
		"order,order number,order no,invoice,tracking,parcel number,shipment,build,ticket,version,release,port,account number,account,customer,customer number,reference,ref,request id,booking,reservation,flight,seat,gate,locker,room,job,case,model,serial,article,phone,telephone,tel,call,call us,fax,hotline,mobile,member,payment of,amount,total,street,iban,branch,commit,issue,pull request,since,copyright,suite,box," +
		"优惠码,优惠,折扣码,邮编,邮政编码,订单号,订单,运单号,快递单号,取件码,提货码,电话,热线,客服电话,致电,金额,备案,票号,发票号,航班,邀请码,兑换码,二维码,错误代码,股票代码,版本," +
		"優惠碼,優惠代碼,折扣碼,郵遞區號,訂單編號,訂單,電話,專線,客服,發票,統一編號,班機,邀請碼,兌換碼,錯誤代碼," +
		"クーポンコード,クーポン,プロモーションコード,郵便番号,ご注文番号,注文番号,電話,お問い合わせ番号,追跡番号,予約番号,会員番号,請求書番号,商品コード,エラーコード,qrコード,〒," +
		"쿠폰 코드,쿠폰코드,쿠폰,할인 코드,우편번호,주문번호,주문 번호,고객센터,송장번호,운송장번호,예약번호,전화,상품코드,상품 코드,오류 코드,초대 코드,사업자등록번호," +
		"mã giảm giá,mã khuyến mãi,mã đơn hàng,mã vận đơn,mã bưu chính,mã đặt chỗ,mã khách hàng,mã số thuế,mã lỗi,đơn hàng,hotline,điện thoại,số điện thoại,tổng đài," +
		"gutscheincode,gutschein,rabattcode,aktionscode,postleitzahl,plz,bestellnummer,bestellung,kundennummer,rechnung,rechnungsnummer,sendungsnummer,auftragsnummer,buchungscode,buchungsnummer,telefon,vorgangsnummer,konto,kontonummer,hrb,fehlercode,rufnummer,überweisung über,quellcode," +
		"kortingscode,actiecode,bestelnummer,bestelling,ordernummer,factuur,factuurnummer,klantnummer,trackingcode,telefoon,kvk,foutcode,reserveringscode,boekingsnummer," +
		"code postal,code promo,code de réduction,code avantage,code barre,code parrainage,code de suivi,code d'erreur,numéro de commande,n° de commande,commande,facture,numéro de suivi,numéro client,téléphone,tél,service client,siret,dossier,vol,code client,code de réservation," +
		"código postal,código de descuento,código promocional,código de cupón,código de seguimiento,código de error,código de reserva,código de barras,número de pedido,pedido,factura,teléfono,atención al cliente,cliente,referencia,vuelo," +
		"código de desconto,código de rastreio,código de rastreamento,código de erro,código promocional,cupom,número do pedido,nota fiscal,telefone,cep,cnpj,cpf,fatura,protocolo,voo,central de atendimento," +
		"промокод,промо-код,почтовый индекс,индекс,номер заказа,заказ,заказа,трек-номер,накладная,телефон,договор,инн,счет,счёт,код товара,код ошибки,поддержки,служба поддержки,код города,рейс,звоните,бронирования," +
		"codice sconto,codice promozionale,codice postale,codice fiscale,codice cliente,codice di tracciamento,codice prodotto,codice errore,codice prenotazione,cap,numero d'ordine,ordine,fattura,telefono,p.iva,volo," +
		"indirim kodu,kupon kodu,kupon,posta kodu,sipariş numarası,sipariş numaranız,sipariş no,sipariş,takip numarası,kargo takip,fatura,telefon,müşteri hizmetleri,hata kodu,ürün kodu,rezervasyon kodu,uçuş,davet kodu," +
		"kod rabatowy,kod promocyjny,kod pocztowy,kod błędu,kod produktu,kod rezerwacji,numer zamówienia,nr zamówienia,zamówienie,zamówienia,faktura,faktury,numer przesyłki,nip,infolinia,numer klienta,lot",
}

// letterWords are words that may stand where a code of letters does.
var letterWords = makeSet("above,active,again,anyone,been,below,button,changed,check,click,code,confirm,continue,copied,copy,correct,done,email,enter,expired,expires,first,from,hello,help,here,into,invalid,invoice,later," +
	"login,never,next,note,only,open,please,private,ready,regards,required,resend,reset,secret,secure,sent,short,signin,start,submit,support,team,thanks,that,this,used,using,valid,verify,view,void,wait,with,wrong,your")

// joiners stand between what names a code and the code.
var joiners = makeSet("is,are,is:,es,est,è,é,ist,lautet,is,là,jest,:,：,=,-,–,—,为,為,是,は,은,는,:-,である,如下,として,within,this,type,enter,use,gebruik,эта,такой")

// word is a known word.
type word struct {
	text string
	kind wordKind
}

// wordsByBytes has the known words by their first two bytes.
var wordsByBytes = func() *wordIndex {
	index := &wordIndex{lists: [][]word{nil}}
	for kind, list := range wordList {
		for text := range strings.SplitSeq(list, ",") {
			n := &index.numbers[text[0]][text[1]]
			if *n == 0 {
				*n, index.lists = uint16(len(index.lists)), append(index.lists, nil)
			}
			index.lists[*n] = append(index.lists[*n], word{text, kind})
		}
	}
	return index
}()

// wordIndex has lists of words, and by the first two bytes of a word which list has it. The first list is empty.
type wordIndex struct {
	numbers [256][256]uint16
	lists   [][]word
}

func makeSet(list string) map[string]bool {
	set := map[string]bool{}
	for text := range strings.SplitSeq(list, ",") {
		set[text] = true
	}
	return set
}

// foundWord is where a known word stands.
type foundWord struct {
	span
	kind wordKind
}

// findWords returns the known words in a text in lower case, in order. Where one is a part of another, the longer one counts; what names
// another number counts before what names a code.
func findWords(lower string) (found []foundWord) {
	for i := 0; i < len(lower)-1; i++ {
		n := wordsByBytes.numbers[lower[i]][lower[i+1]]
		if n == 0 || isLetterByte(lower[i]) && i > 0 && isLetterBefore(lower, i) {
			continue
		}
		best := foundWord{}
		for _, w := range wordsByBytes.lists[n] {
			end := i + len(w.text)
			if len(w.text) <= best.end-best.start || !strings.HasPrefix(lower[i:], w.text) || isAlphabetic(lastRune(w.text)) &&
				isAlphabetic(firstRune(lower[end:])) {
				continue
			}
			best = foundWord{span{i, end}, w.kind}
		}
		if best.end > 0 {
			found = append(found, best)
			i = best.end - 1
		}
	}
	return found
}

// isLetterByte reports whether a byte may begin a letter of an alphabet with spaces between words.
func isLetterByte(c byte) bool { return isAlphanumeric(c) || c >= 0xc3 && c <= 0xd1 }

// isLetterBefore reports whether the character before i is a letter of an alphabet, or a digit.
func isLetterBefore(s string, i int) bool { return isAlphabetic(lastRune(s[:i])) }
