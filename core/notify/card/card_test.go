package card

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

func sample() Card {
	return Card{
		Kind: "更新完成", Status: "成功", Tone: Success, Subject: "生产环境订单与支付处理系统（华东一区）🚀 / 订单网关",
		Lines:   []Line{{"类型", "更新（全部服务）"}, {"用时", "1 分 20 秒"}, {"完成时间", "2026-03-05 08:29:20 UTC"}},
		Omitted: "以及其他 3 个服务", Footer: "2026-03-05 08:30 UTC",
	}
}

// worst is a card on which nothing fits, full of different characters with many strokes.
func worst(r *rand.Rand) Card {
	dense := []rune("鼷龠龇囊矗懿攫爨颧躏麟鑫髓膺赢羹蠢镶霾糯疆瞿魔黯戆蘸鳞骥霸露躁警翻穰嚼籍罐黪酆鬣蠹")
	many := func(n int) string {
		var out strings.Builder
		for range n {
			out.WriteRune(dense[r.IntN(len(dense))])
		}
		return out.String()
	}
	c := Card{Kind: many(200), Status: many(200), Tone: Error, Subject: many(300) + separator + many(300), Omitted: many(300),
		Footer: many(300)}
	for range 9 {
		c.Lines = append(c.Lines, Line{many(300), many(300)})
	}
	return c
}

func decoded(t testing.TB, c Card) *image.Paletted {
	t.Helper()
	raw, err := Draw(c)
	if err != nil {
		t.Fatal(err)
	}
	if len(raw) > MaxBytes {
		t.Errorf("%d bytes, more than %d: %+v", len(raw), MaxBytes, c)
	}
	img, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	paletted, ok := img.(*image.Paletted)
	if !ok {
		t.Fatalf("the picture is a %T", img)
	}
	if size := img.Bounds().Size(); size != image.Pt(Width, Height) {
		t.Errorf("%v pixels, want %d × %d", size, Width, Height)
	}
	return paletted
}

// covered is how many pixels of a part of the picture differ from a colour.
func covered(img *image.Paletted, part image.Rectangle, from color.RGBA) (n int) {
	other := make([]bool, len(img.Palette))
	for i, c := range img.Palette {
		other[i] = c != from
	}
	for y := part.Min.Y; y < part.Max.Y; y++ {
		for x := part.Min.X; x < part.Max.X; x++ {
			if other[img.ColorIndexAt(x, y)] {
				n++
			}
		}
	}
	return n
}

// checkMargins sees to it that nothing stands where nothing belongs.
func checkMargins(t testing.TB, img *image.Paletted) {
	t.Helper()
	for _, part := range []image.Rectangle{
		image.Rect(0, 0, Width, outer-1), image.Rect(0, Height-outer+1, Width, Height),
		image.Rect(0, 0, outer-1, Height), image.Rect(Width-outer+1, 0, Width, Height),
	} {
		if n := covered(img, part, background); n > 0 {
			t.Errorf("%d pixels in the margin %v", n, part)
		}
	}
	if n := covered(img, image.Rect(right+4, outer+30, Width-outer-4, Height-outer-30), panel); n > 0 {
		t.Errorf("%d pixels right of the text", n)
	}
	if n := covered(img, image.Rect(left, Height-outer-18, right, Height-outer-4), panel); n > 0 {
		t.Errorf("%d pixels below the text", n)
	}
}

func TestDraw(t *testing.T) {
	full := sample()
	for name, c := range map[string]Card{"sample": full, "empty": {}, "one text": {Subject: "x"},
		"another tone": {Subject: "x", Tone: "odd"}} {
		t.Run(name, func(t *testing.T) { checkMargins(t, decoded(t, c)) })
	}
	t.Run("each part shows", func(t *testing.T) {
		img := decoded(t, full)
		for part, where := range map[string]image.Rectangle{
			"name": image.Rect(left, 70, left+200, 120), "footer": image.Rect(right-200, 70, right, 120),
			"kind":    image.Rect(left, 140, left+120, 190),
			"subject": image.Rect(left, 210, right, 330), "lines": image.Rect(left, 350, right, 520),
			"omitted": image.Rect(left, 520, left+200, 562),
		} {
			if covered(img, where, panel) < 100 {
				t.Errorf("there is no %s at %v", part, where)
			}
		}
	})
	t.Run("more lines than there are places", func(t *testing.T) {
		c := full
		for i := range 20 {
			c.Lines = append(c.Lines, Line{fmt.Sprint(i), strings.Repeat("值", i)})
		}
		checkMargins(t, decoded(t, c))
	})
	t.Run("the worst", func(t *testing.T) {
		for seed := range uint64(5) {
			checkMargins(t, decoded(t, worst(rand.New(rand.NewPCG(seed, 1)))))
		}
	})
}

func TestDrawIsStableAndConcurrent(t *testing.T) {
	want, err := Draw(sample())
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if got, err := Draw(sample()); err != nil || !bytes.Equal(got, want) {
				t.Errorf("the same card looks different, %v", err)
			}
		})
	}
	wg.Wait()
}

func TestAnyTextCanBeDrawn(t *testing.T) {
	texts := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 200), func(b []byte) string { return string(b) }))
	for seed := range 25 {
		text := func(n int) string { return texts.Example(seed*100 + n) }
		c := Card{Kind: text(0), Status: text(1), Tone: Tone(text(2)), Subject: text(3), Omitted: text(4), Footer: text(5)}
		for i := range seed % 8 {
			c.Lines = append(c.Lines, Line{text(10 + i), text(20 + i)})
		}
		checkMargins(t, decoded(t, c))
	}
}

func TestShortening(t *testing.T) {
	f, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	ty := typist{face: f}
	rapid.Check(t, func(t *rapid.T) {
		text := ty.toGlyphs(rapid.String().Draw(t, "text"))
		limit, size := rapid.Float64Range(60, 900).Draw(t, "limit"), rapid.Float64Range(20, 60).Draw(t, "size")
		got, at := ty.fitSize(text, limit, size, 20)
		if textWidth(got, at) > limit+1e-6 || at > size || at < 20 || len(got) > len(text)+1 {
			t.Errorf("%d of %d glyphs, %f wide at %f, limit %f", len(got), len(text), textWidth(got, at), at, limit)
		}
		for _, row := range ty.wrapLines(text, limit, size) {
			if textWidth(row, size) > limit+1e-6 && len(row) > 1 {
				t.Errorf("a line is %f wide, limit %f", textWidth(row, size), limit)
			}
		}
	})
}

// TestColumnsHoldWhatTheyWereMadeFor: a label for which there is room is not shortened.
func TestColumnsHoldWhatTheyWereMadeFor(t *testing.T) {
	f, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	p := painter{typist: typist{face: f}}
	check := func(t interface{ Errorf(string, ...any) }, l Line) {
		label, value, size := p.layOutColumns([]Line{l}, 30)
		if !slices.Equal(p.fitText(l.Label, label, size), p.toGlyphs(l.Label)) ||
			!slices.Equal(p.fitText(l.Value, value, size), p.toGlyphs(l.Value)) {
			t.Errorf("%q and %q are shortened at %f", l.Label, l.Value, size)
		}
	}
	check(t, Line{Label: "00de c0du", Value: "-"}) // exactly whole pixels wide
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-z0-9.-]{1,12}( [a-z0-9.-]{1,12})?`)
		check(t, Line{Label: word.Draw(t, "label"), Value: word.Draw(t, "value")})
	})
}

func TestBothSidesStay(t *testing.T) {
	f, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	ty := typist{face: f}
	long := strings.Repeat("名", 60)
	for text, least := range map[string]int{long + " / web": 3, "shop / " + long: 4, long + " / " + long: 8, "1.0 → " + long: 3} {
		got := ty.fitText(text, 500, 25)
		at := slices.IndexFunc(got, func(g glyph) bool { return g.index == ty.toGlyph('/').index || g.index == ty.toGlyph('→').index })
		if textWidth(got, 25) > 500 || at < least || len(got)-at < least {
			t.Errorf("%s: sign at %d of %d", text, at, len(got))
		}
	}
}

func TestClusters(t *testing.T) {
	for text, want := range map[string][]string{
		"":                 nil,
		"  a \t\n b\u2028": {"a", " ", "b"},
		"e\u0301ab":        {"é", "a", "b"},
		"👩‍👩‍👧‍👦x":         {"👩👩👧👦", "x"},
		"👍🏽👍":              {"👍🏽", "👍"},
		"🇨🇳🇩🇪🇫":            {"🇨🇳", "🇩🇪", "🇫"},
		"1️⃣❤️":            {"1⃣", "❤"},
		"\u202eabc\u2066":  {"a", "b", "c"},
		"\u200d\u0301a":    {"\u0301", "a"},
		"a\x00\x1b\xff":    {"a", "�"},
		"q\u0323\u0307z":   {"q\u0323\u0307", "z"},
		"각x":               {"각", "x"},
	} {
		var got []string
		for _, c := range splitClusters(text) {
			got = append(got, string(c))
		}
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if n := len(splitClusters(strings.Repeat("字", 5000))); n != maxRunes {
		t.Errorf("%d clusters of a long text", n)
	}
}

func TestMissingCharacters(t *testing.T) {
	f, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	ty := typist{face: f}
	for text, want := range map[string]int{
		"plain 文字 → … ， é ž Ł ő": 0, "🚀": 1, "a🚀b🚀": 2, "👩‍👩‍👧‍👦": 1, "🇨🇳": 1, "한국어": 3,
		"שלום עולם ועוד": 9, "🚀🚀🚀🚀🚀🚀": maxMarks, "1️⃣": 0, "\u200b\ufe0f": 0,
	} {
		marks := 0
		for _, g := range ty.toGlyphs(text) {
			if g.mark {
				marks++
			}
		}
		if marks != want {
			t.Errorf("%q has %d marks, want %d", text, marks, want)
		}
	}
}

// The font has what its description promises, and fits into the binary.
func TestFont(t *testing.T) {
	f, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	ty := typist{face: f}
	for _, text := range []string{"abcXYZ019!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", "éüñßÆøÿ", "—–‘’“”…→←",
		"，。：；（）、《》", "的一是了我不人在他有这个上们来到时大地为", "龇龠鼷"} {
		for _, r := range text {
			if !ty.hasRune(r) {
				t.Errorf("the font lacks %q", r)
			}
		}
	}
	if len(fontFile) > 1_700_000 {
		t.Errorf("the font has %d bytes", len(fontFile))
	}
}

func BenchmarkDraw(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		raw, err := Draw(sample())
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(raw)), "png-bytes")
	}
}
