package documents

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// legacy are the encodings that are guessed, with what their texts mostly consist of.
var legacy = []struct {
	encoding encoding.Encoding
	score    func(before, r, after rune) float64
}{
	{simplifiedchinese.GB18030, scoreChinese}, {traditionalchinese.Big5, scoreChinese}, {japanese.ShiftJIS, scoreJapanese},
	{japanese.EUCJP, scoreJapanese},
	{korean.EUCKR, scoreKorean}, {charmap.Windows1252, scoreLatin}, {charmap.Windows1251, scoreCyrillic}, {charmap.KOI8R, scoreCyrillic},
}

// guessEncoding returns the encoding in which a text has the most of what people write, or nil.
func guessEncoding(sample []byte) (out encoding.Encoding) {
	best := minScore
	for _, l := range legacy {
		text := []rune(decodeBytes(sample, l.encoding))
		sum, n, broken := 0.0, 0, 0
		for i, r := range text {
			if r == utf8.RuneError {
				broken++
			}
			if r >= 0x80 {
				n++
				sum += l.score(runeAt(text, i-1), r, runeAt(text, i+1))
			}
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

// runeAt returns a character of a text, a space outside of it.
func runeAt(text []rune, i int) rune {
	if i < 0 || i >= len(text) {
		return ' '
	}
	return text[i]
}

func isASCIILetter(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' }

// Common characters of each language make up about half of its texts.
const (
	commonHan = "的一是不了在人有我他这这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可她里后小么心多天而能好都然没日于起还发成事只作当想看文无开手十用主行方又如前所本见经头面公同三已老从动两长知民样现分将外但身些与高意进把法此实回二理美点月明其种声全工己话儿者向情部正名定女问力机给等几很业最间新什打便位因重被走电四第门相次东政海口使教西再平真听世气信北少关并内加化由却代军产入先山五太水万市眼体别处总才场师书比住员九笑性通目华报立马命张活难神数件安表原车白应路期叫死常提感金何更反合放做系计或司利受光王果亲界及今京务制解各任至清物台象记边共风战干接它许八特觉望直服毛林题建南度统色字请交爱让认算论百吃义科怎元社术结六功指思非流每青管夫连远资队跟带花快条院变联言权往展该领传近留红治决周保达办运武半候七必城父强步完革深区即求品士转量空甚众技轻程告江语英基派满式李息写呢识极令黄德收脸钱党倒未持取设始版双历越史商千片容研像找友孩站广改议形委早房音火际则首单据导影失拿网香似斯专石若兵弟谁校读志飞观争究包组造落视济喜离虽坏兴切装录档软件源码用户数据文件系统配置说明测试" +
		"這個來說們時會為國對後過還發經見長現將進實點種間問給機業電門東開關無產體處總場書應車記邊風戰幹覺題統讓認論義術結遠資隊帶條變聯權領傳紅決達辦運強區轉量眾輕語極黃臉錢黨設雙歷眞廣議際單據導網專觀爭組視濟離興裝錄檔軟體碼檔案系統測試與從動兩學樣愛親務華報張難號級廠"
	commonHangul = "이다는의에가을를은고하지기로한도사서시어리나자인아해있대라수그정일과전보제들스게상부으만니주여장원구것적면선공성우유동문조미않했위소학때생경중말내년금용신모된세마영방관실국물분안되신발회양오려무노연계"
)

// runeSet returns a function that reports whether a character is among those of a text.
func runeSet(text string) func(rune) bool {
	set := sync.OnceValue(func() map[rune]bool {
		out := map[rune]bool{}
		for _, r := range text {
			out[r] = true
		}
		return out
	})
	return func(r rune) bool { return set()[r] }
}

var isCommonHan, isCommonHangul = runeSet(commonHan), runeSet(commonHangul)

func isHan(r rune) bool { return r >= 0x4e00 && r < 0xa000 }

func isKana(r rune) bool { return r >= 0x3041 && r < 0x3100 }

// isWidePunctuation reports whether a character is a mark of Chinese, Japanese or Korean texts, or a common one of others.
func isWidePunctuation(r rune) bool {
	return r >= 0x3000 && r < 0x3020 || r >= 0xff01 && r < 0xff5f || r >= 0x2014 && r <= 0x201d || r == '…' || r == '·'
}

func scoreHan(before, r, after rune) float64 {
	switch {
	case isASCIILetter(before) && isASCIILetter(after):
		// It may be a letter with an accent together with the next one.
		return 0.1
	case isCommonHan(r):
		return 1
	case isHan(r):
		return 0.25
	case isWidePunctuation(r):
		return 0.8
	}
	return -1
}

func scoreChinese(before, r, after rune) float64 {
	if isKana(r) {
		return -0.5
	}
	return scoreHan(before, r, after)
}

func scoreJapanese(before, r, after rune) float64 {
	switch {
	case isKana(r):
		return 1
	case r >= 0xff61 && r < 0xffa0:
		return -0.5
	}
	return scoreHan(before, r, after) * 0.8
}

func scoreKorean(_, r, _ rune) float64 {
	switch {
	case isCommonHangul(r):
		return 1
	case r >= 0xac00 && r < 0xd7a4:
		return 0.3
	case isWidePunctuation(r):
		return 0.8
	}
	return -0.2
}

// latinMarks are signs that texts in Latin letters have.
const latinMarks = "\u00a0«»“”„‘’–—…°§©®·¿¡€"

func scoreLatin(before, r, after rune) float64 {
	switch {
	case r < 0xa0:
		return -1
	case strings.ContainsRune(latinMarks, r):
		return 0.6
	case !unicode.IsLetter(r):
		if before >= 0x80 && !unicode.IsLetter(before) {
			return -0.5
		}
		return 0.2
	case unicode.IsUpper(r) && unicode.IsLower(before):
		return -0.3
	case before >= 0x80 && unicode.IsLetter(before):
		if unicode.IsLower(before) && unicode.IsLower(r) {
			return 0.2
		}
		return -0.3
	case isASCIILetter(before) || isASCIILetter(after):
		return 0.8
	}
	return 0.5
}

func isCyrillic(r rune) bool { return r >= 0x400 && r <= 0x45f }

func scoreCyrillic(before, r, after rune) float64 {
	switch {
	case !isCyrillic(r):
		return -0.3
	case isASCIILetter(before) || isASCIILetter(after), unicode.IsUpper(r) && unicode.IsLower(before):
		return -0.6
	case unicode.IsUpper(r) && isCyrillic(before), !isCyrillic(before) && !isCyrillic(after):
		return 0.3
	case strings.ContainsRune("оеаинтсрвлкмдпу", r):
		return 0.9
	}
	return 0.7
}
