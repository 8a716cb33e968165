package documents

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode/utf32"

	xunicode "golang.org/x/text/encoding/unicode"
)

const (
	// maxSample is how much of a file its encoding is guessed from, in bytes, and maxControl which share of it may be control
	// characters, as a divisor.
	maxSample  = 64 << 10
	maxControl = 200
	// minScore is what the best encoding has to reach: half of the characters are common ones.
	minScore = 0.3
	// minWide is the share of characters that people use in a text of UTF-16.
	minWide = 0.97
)

var (
	utf16LE = xunicode.UTF16(xunicode.LittleEndian, xunicode.IgnoreBOM)
	utf16BE = xunicode.UTF16(xunicode.BigEndian, xunicode.IgnoreBOM)
)

// byteOrderMarks tell encodings; longer ones come first.
var byteOrderMarks = []struct {
	mark     string
	encoding encoding.Encoding
}{
	{"\xff\xfe\x00\x00", utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)}, {"\x00\x00\xfe\xff", utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)},
	{"\xef\xbb\xbf", encoding.Nop}, {"\xff\xfe", utf16LE}, {"\xfe\xff", utf16BE},
}

// declared finds the encoding that a text names at its beginning, as HTML, XML and editors know it.
var declared = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:charset\s*=\s*["']?|<\?xml[^>]*encoding\s*=\s*["']|(?:file)?(?:en)?coding[:=]\s*)([\w.:-]{2,30})`)
})

// decodeText returns the text of a file in UTF-8. Its encoding is what a mark or the text says, else the one in which it
// makes most sense.
func decodeText(data []byte) (string, error) {
	for _, m := range byteOrderMarks {
		if rest, ok := bytes.CutPrefix(data, []byte(m.mark)); ok {
			return checkText(decode(rest, m.encoding))
		}
	}
	if bytes.IndexByte(data, 0) >= 0 {
		if text, ok := decodeWide(data); ok {
			return checkText(text)
		}
		return "", &Error{Binary}
	}
	if utf8.Valid(data) {
		return checkText(string(data))
	}
	sample := data[:min(len(data), maxSample)]
	if isBinary(sample) {
		return "", &Error{Binary}
	}
	if m := declared().FindSubmatch(data[:min(len(data), 1024)]); m != nil {
		if e, err := htmlindex.Get(string(m[1])); err == nil && e != xunicode.UTF8 && strings.Count(decode(sample, e), "\uFFFD") <= 1 {
			return checkText(decode(data, e))
		}
	}
	if e := guessEncoding(sample); e != nil {
		return checkText(decode(data, e))
	}
	if text, ok := decodeWide(data); ok {
		return checkText(text)
	}
	return "", &Error{Encoding}
}

func decode(data []byte, e encoding.Encoding) string {
	out, err := e.NewDecoder().Bytes(data)
	if err != nil {
		return ""
	}
	return string(out)
}

// checkText refuses what is no text once it is decoded.
func checkText(text string) (string, error) {
	text = strings.TrimPrefix(text, "\ufeff")
	switch {
	case strings.TrimSpace(text) == "":
		return "", &Error{NoText}
	case strings.IndexByte(text, 0) >= 0 || isBinary([]byte(text[:min(len(text), maxSample)])):
		return "", &Error{Binary}
	}
	return text, nil
}

// isBinary reports whether a file has more control characters than a text has.
func isBinary(sample []byte) bool {
	n := 0
	for _, c := range sample {
		if c < ' ' && !strings.ContainsRune("\t\n\v\f\r\x1b", rune(c)) || c == 0x7f {
			n++
		}
	}
	return n*maxControl > len(sample)
}

// decodeWide returns a text in UTF-16 without a mark.
func decodeWide(data []byte) (string, bool) {
	if len(data)%2 != 0 {
		return "", false
	}
	best, text := minWide, ""
	for _, e := range []encoding.Encoding{utf16LE, utf16BE} {
		sample := decode(data[:min(len(data), maxSample)], e)
		used, all := 0, 0
		for _, r := range sample {
			if all++; isInUse(r) {
				used++
			}
		}
		if all > 0 && float64(used)/float64(all) >= best {
			best, text = float64(used)/float64(all), decode(data, e)
		}
	}
	return text, text != ""
}

// isInUse reports whether a character is one of those that most texts consist of.
func isInUse(r rune) bool {
	switch {
	case r < 0x80:
		return r >= ' ' || r == '\n' || r == '\r' || r == '\t'
	case r < 0x250, r >= 0x370 && r < 0x460, r >= 0x2010 && r < 0x2040, r >= 0x3000 && r < 0x3100, r >= 0x4e00 && r < 0xa000, r >= 0xac00 && r < 0xd7a4, r >= 0xff00 && r < 0xff60:
		return true
	}
	return false
}

// legacy are the encodings that are guessed, with what their texts mostly consist of.
var legacy = []struct {
	encoding encoding.Encoding
	score    func(before, r rune) float64
}{
	{simplifiedchinese.GB18030, scoreChinese}, {traditionalchinese.Big5, scoreChinese}, {japanese.ShiftJIS, scoreJapanese}, {japanese.EUCJP, scoreJapanese},
	{korean.EUCKR, scoreKorean}, {charmap.Windows1252, scoreLatin}, {charmap.Windows1251, scoreCyrillic}, {charmap.KOI8R, scoreCyrillic},
}

// guessEncoding returns the encoding in which a text has the most of what people write, or nil.
func guessEncoding(sample []byte) (out encoding.Encoding) {
	best := minScore
	for _, l := range legacy {
		text, before := decode(sample, l.encoding), rune(0)
		sum, n, broken := 0.0, 0, 0
		for _, r := range text {
			if r == utf8.RuneError {
				broken++
			}
			if r >= 0x80 {
				n++
				sum += l.score(before, r)
			}
			before = r
		}
		// A character may be cut at the end of the sample.
		if n == 0 || (broken-1)*500 > n || broken > 0 && len(sample) < maxSample {
			continue
		}
		if score := sum / float64(n); score > best {
			best, out = score, l.encoding
		}
	}
	return out
}

// Common characters of each language make up about half of its texts.
const (
	commonHan = "的一是不了在人有我他这这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可她里后小么心多天而能好都然没日于起还发成事只作当想看文无开手十用主行方又如前所本见经头面公同三已老从动两长知民样现分将外但身些与高意进把法此实回二理美点月明其种声全工己话儿者向情部正名定女问力机给等几很业最间新什打便位因重被走电四第门相次东政海口使教西再平真听世气信北少关并内加化由却代军产入先山五太水万市眼体别处总才场师书比住员九笑性通目华报立马命张活难神数件安表原车白应路期叫死常提感金何更反合放做系计或司利受光王果亲界及今京务制解各任至清物台象记边共风战干接它许八特觉望直服毛林题建南度统色字请交爱让认算论百吃义科怎元社术结六功指思非流每青管夫连远资队跟带花快条院变联言权往展该领传近留红治决周保达办运武半候七必城父强步完革深区即求品士转量空甚众技轻程告江语英基派满式李息写呢识极令黄德收脸钱党倒未持取设始版双历越史商千片容研像找友孩站广改议形委早房音火际则首单据导影失拿网香似斯专石若兵弟谁校读志飞观争究包组造落视济喜离虽坏兴切装录档软件源码用户数据文件系统配置说明测试" +
		"這個來說們時會為國對後過還發經見長現將進實點種間問給機業電門東開關無產體處總場書應車記邊風戰幹覺題統讓認論義術結遠資隊帶條變聯權領傳紅決達辦運強區轉量眾輕語極黃臉錢黨設雙歷眞廣議際單據導網專觀爭組視濟離興裝錄檔軟體碼檔案系統測試與從動兩學樣愛親務華報張難號級廠"
	commonHangul = "이다는의에가을를은고하지기로한도사서시어리나자인아해있대라수그정일과전보제들스게상부으만니주여장원구것적면선공성우유동문조미않했위소학때생경중말내년금용신모된세마영방관실국물분안되신발회양오려무노연계"
)

func isHan(r rune) bool { return r >= 0x4e00 && r < 0xa000 }

func isKana(r rune) bool { return r >= 0x3041 && r < 0x3100 }

// isWidePunctuation reports whether a character is a mark of Chinese, Japanese or Korean texts, or a common one of others.
func isWidePunctuation(r rune) bool {
	return r >= 0x3000 && r < 0x3020 || r >= 0xff01 && r < 0xff5f || r >= 0x2014 && r <= 0x201d || r == '…' || r == '·'
}

func scoreHan(r rune) float64 {
	switch {
	case strings.ContainsRune(commonHan, r):
		return 1
	case isHan(r):
		return 0.25
	case isWidePunctuation(r):
		return 0.8
	}
	return -1
}

func scoreChinese(_, r rune) float64 {
	if isKana(r) {
		return -0.5
	}
	return scoreHan(r)
}

func scoreJapanese(_, r rune) float64 {
	switch {
	case isKana(r):
		return 1
	case r >= 0xff61 && r < 0xffa0:
		return -0.5
	}
	return scoreHan(r) * 0.8
}

func scoreKorean(_, r rune) float64 {
	switch {
	case strings.ContainsRune(commonHangul, r):
		return 1
	case r >= 0xac00 && r < 0xd7a4:
		return 0.3
	case isWidePunctuation(r):
		return 0.8
	}
	return -0.2
}

func scoreLatin(before, r rune) float64 {
	switch {
	case r < 0xa0:
		return -1
	case !unicode.IsLetter(r):
		if before >= 0x80 && !unicode.IsLetter(before) {
			return -0.3
		}
		return 0.5
	case before >= 0x80 && unicode.IsLetter(before), unicode.IsUpper(r) && unicode.IsLower(before):
		return -0.3
	}
	return 0.8
}

func scoreCyrillic(before, r rune) float64 {
	switch {
	case r < 0x400 || r > 0x45f:
		return -0.3
	case unicode.IsUpper(r) && unicode.IsLower(before):
		return -0.5
	case before >= 0x400 && before <= 0x45f, unicode.IsUpper(r):
		return 0.9
	}
	return 0.6
}
