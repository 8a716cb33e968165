package documents_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"

	"github.com/patchbay-dev/patchbay/plugins/internal/documents"
	"github.com/patchbay-dev/patchbay/plugins/internal/extract"
)

func read(t *testing.T, name, data string) (*documents.Document, error) {
	t.Helper()
	r := documents.NewReader(documents.Config{})
	defer r.Close()
	return r.Read(t.Context(), name, []byte(data), extract.Markdown)
}

func encode(t *testing.T, e encoding.Encoding, text string) string {
	t.Helper()
	out, err := e.NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

const (
	simplified  = "# 港口说明\n\n起重机把集装箱从船上吊到码头。操作人员必须先检查缆绳，然后才能开始工作。\n"
	traditional = "# 港口說明\n\n起重機把貨櫃從船上吊到碼頭。操作人員必須先檢查纜繩，然後才能開始工作。\n"
	japaneseDoc = "# 港の説明\n\nクレーンは船からコンテナを岸壁に降ろします。作業の前にロープを点検してください。\n"
	koreanDoc   = "# 항구 안내\n\n기중기는 배에서 컨테이너를 부두로 내립니다. 작업을 시작하기 전에 밧줄을 점검하십시오.\n"
	french      = "# Le port\n\nLa grue soulève les charges et les pose à quai. Vérifiez d'abord les câbles, même l'été.\n"
	german      = "# Häfen\n\nDer Kran hebt Behälter über die Bordwand. Prüfen Sie zuerst die Seile – größte Vorsicht!\n"
	russian     = "# Порт\n\nКран поднимает контейнеры с корабля и ставит их на причал. Сначала проверьте тросы.\n"
)

// TestEncodings: a text is read whatever its encoding, declared or not.
func TestEncodings(t *testing.T) {
	le, be := unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	for name, tt := range map[string]struct {
		encoding encoding.Encoding
		text     string
		mark     string
	}{
		"UTF-8":             {encoding.Nop, simplified, ""},
		"UTF-8 with a mark": {encoding.Nop, german, "\xef\xbb\xbf"},
		"GBK":               {simplifiedchinese.GBK, simplified, ""},
		"GB18030":           {simplifiedchinese.GB18030, simplified + "丂㐀€\n", ""},
		"short GBK":         {simplifiedchinese.GBK, "# 说明\n", ""},
		"mixed GBK": {simplifiedchinese.GBK,
			"# API reference\n\ngetUser() 返回用户的数据 (see README).\n" + strings.Repeat("plain ascii line\n", 50), ""},
		"Big5":                   {traditionalchinese.Big5, traditional, ""},
		"Shift_JIS":              {japanese.ShiftJIS, japaneseDoc, ""},
		"EUC-JP":                 {japanese.EUCJP, japaneseDoc, ""},
		"EUC-KR":                 {korean.EUCKR, koreanDoc, ""},
		"Windows-1252":           {charmap.Windows1252, german, ""},
		"Latin-1":                {charmap.ISO8859_1, french, ""},
		"Latin-1, one letter":    {charmap.ISO8859_1, "# Menu\n\nOne café by the sea.\n", ""},
		"Latin-1, two in a row":  {charmap.ISO8859_1, "Datei hat die Größe 5 statt 6\n", ""},
		"Latin-1, French quotes": {charmap.ISO8859_1, "l'option «\u00a0x\u00a0» est invalide\n", ""},
		"GBK among words":        {simplifiedchinese.GBK, "生成 Web Push 密钥\n", ""},
		"Windows-1251":           {charmap.Windows1251, russian, ""},
		"KOI8-R":                 {charmap.KOI8R, russian, ""},
		"UTF-16LE with a mark":   {le, simplified, "\xff\xfe"},
		"UTF-16BE with a mark":   {be, german, "\xfe\xff"},
		"UTF-16LE":               {le, french, ""},
		"UTF-16BE":               {be, french, ""},
		"UTF-16LE Chinese":       {le, simplified, ""},
		"UTF-16BE Chinese":       {be, traditional, ""},
		"UTF-32LE with a mark":   {utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM), simplified, "\xff\xfe\x00\x00"},
		"declared by an editor":  {charmap.ISO8859_2, "<!-- coding: iso-8859-2 -->\n# Zażółć gęślą jaźń\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			doc, err := read(t, "a.txt", tt.mark+encode(t, tt.encoding, tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if doc.Text != tt.text {
				t.Errorf("got %q, want %q", doc.Text, tt.text)
			}
		})
	}
	html := `<html><head><meta charset="big5"><title>港口</title></head><body><p>起重機把貨櫃從船上吊到碼頭。</p></body></html>`
	if doc, err := read(t, "a.html", encode(t, traditionalchinese.Big5, html)); err != nil || doc.Title != "港口" ||
		!strings.Contains(doc.Text, "起重機") {
		t.Errorf("HTML: got %+v, %v", doc, err)
	}
}

// TestReasons checks the reason of each file that is not a document.
func TestReasons(t *testing.T) {
	noise := make([]byte, 4000)
	for i := range noise {
		noise[i] = byte(i * i * 7 >> 3)
	}
	high := bytes.Clone(noise[:1999])
	for i := range high {
		high[i] |= 0x80
	}
	for name, tt := range map[string]struct {
		file, data string
		want       documents.Reason
	}{
		"nothing but spaces":  {"a.md", " \n\t\n", documents.NoText},
		"HTML without text":   {"a.html", "<script>x</script>", documents.NoText},
		"zero byte":           {"a.md", "a\x00b", documents.Binary},
		"picture":             {"a.txt", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + string(noise), documents.Binary},
		"noise":               {"a.txt", string(noise), documents.Binary},
		"unknown encoding":    {"a.txt", string(high), documents.Encoding},
		"private key":         {"a.md", "\n-----BEGIN OPENSSH PRIVATE KEY-----\nx", documents.HoldsKey},
		"minified":            {"a.js", strings.Repeat("function a(b){return b+1};", 200), documents.Generated},
		"damaged notebook":    {"a.ipynb", "{", documents.Damaged},
		"empty notebook":      {"a.ipynb", `{"cells":[]}`, documents.NoText},
		"damaged DOCX":        {"a.docx", "PK\x03\x04 nothing", documents.Damaged},
		"DOCX with password":  {"a.docx", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", documents.Encrypted},
		"DOCX without text":   {"a.docx", docx(t, `<w:p/>`, ""), documents.NoText},
		"DOCX of another zip": {"a.docx", zipOf(t, map[string]string{"x": "y"}), documents.Damaged},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := read(t, tt.file, tt.data)
			var own *documents.Error
			if !errors.As(err, &own) || own.Reason != tt.want {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestIsGenerated(t *testing.T) {
	for name, want := range map[string]bool{
		"a/package-lock.json": true, "Cargo.lock": true, "go.sum": true, "yarn.lock": true, "x/jquery.min.js": true, "app.min.css": true,
		"logo.SVG": true, "app.js.map": true,
		"package.json": false, "a.js": false, "lock.md": false, "go.mod": false, "min.js": false, "world.map": false, "admin.css": false,
		"composer.json": false,
	} {
		if got := documents.IsGenerated(name); got != want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}

// TestMarkup: documents of each format have their title, headings, code and links as in Markdown, and nothing for programs.
func TestMarkup(t *testing.T) {
	for name, tt := range map[string]struct {
		file, data, title string
		must, not         []string
	}{
		"Markdown":           {file: "a/x.md", data: "\xef\xbb\xbf# Title\r\ntext\r\n", title: "Title", must: []string{"# Title\ntext\n"}},
		"Markdown, no title": {file: "a/x.md", data: "no heading", title: "x.md"},
		"code":               {file: "a/x.py", data: "# a comment\ncode", title: "x.py"},
		"HTML":               {file: "a/x.html", data: "<title>Page</title><p>words", title: "Page"},
		"AsciiDoc": {
			file: "x.adoc", title: "Crane manual",
			data: "// a comment\n= Crane manual\nAda Lift <ada@example.org>\n:toc: left\n:product: Crane 9\n\nWelcome to {product}.\n\n[[first]]\n== First lift\n\n[source,ruby]\n----\n= not a heading\nlift 1\n----\n\n" +
				"See link:other.html[the other page] and <<first,the first lift>> or https://example.org/x[here].\n\n////\nhidden words\n////\n\nimage::crane.png[A crane]\n\n.Steps\n* one\n",
			must: []string{"# Crane manual\n", "Welcome to Crane 9.", "## First lift\n", "```ruby\n= not a heading\nlift 1\n```",
				"[the other page](other.html)", "the first lift", "[here](https://example.org/x)", "A crane", "**Steps**"},
			not: []string{"a comment", ":toc:", "hidden words", "[source", "image::", "[[first]]", "----"},
		},
		"reStructuredText": {
			file: "x.rst", title: "Crane manual",
			data: ".. _top:\n\n============\nCrane manual\n============\n\n.. toctree::\n   :maxdepth: 2\n\n   other\n\nFirst lift\n----------\n\nSee :ref:`the other page <other>` and `here <https://example.org/x>`_, call ``lift()``::\n\n    lift(1)\n\n      deeper\n\nMore.\n\n" +
				".. code-block:: python\n   :linenos:\n\n   import crane\n   crane.lift()\n\n.. note::\n\n   Mind the hook.\n\n.. a comment\n   over lines\n\nDeeper\n~~~~~~\n\nSecond lift\n-----------\n\nEnd.\n",
			must: []string{"# Crane manual\n", "## First lift\n", "the other page", "[here](https://example.org/x)", "`lift()`:",
				"```\nlift(1)\n\n  deeper\n```", "```python\nimport crane\ncrane.lift()\n```", "Mind the hook.", "### Deeper\n", "## Second lift\n"},
			not: []string{"_top", "maxdepth", "toctree", ":ref:", "a comment", "over lines", "linenos", "===", "~~~"},
		},
		"Org": {
			file: "x.org", title: "Crane manual",
			data: "#+TITLE: Crane manual\n#+OPTIONS: toc:nil\n# a comment\n* " + "TO" +
				"DO [#A] First lift :work:now:\n:PROPERTIES:\n:ID: 5\n:END:\nSee [[https://example.org/x][here]].\n#+BEGIN_SRC python :results none\nimport crane\n* not a heading\n#+END_SRC\n** Deeper\nText.\n",
			must: []string{"# First lift\n", "[here](https://example.org/x)", "```python\nimport crane\n* not a heading\n```", "## Deeper\nText."},
			not:  []string{"OPTIONS", "a comment", "TO" + "DO", ":work:", "PROPERTIES", "ID: 5", "BEGIN_SRC"},
		},
		"notebook": {
			file: "x.ipynb", title: "Crane study",
			data: `{"cells":[{"cell_type":"markdown","source":["# Crane study\n","How much it lifts."]},{"cell_type":"code","source":["import crane\n","crane.lift()"],"outputs":[{"data":{"image/png":"iVBORw0KGgo"},"text":["output words"]}]},` +
				`{"cell_type":"raw","source":"raw words"}],"metadata":{"language_info":{"name":"python"}},"nbformat":4}`,
			must: []string{"# Crane study\nHow much it lifts.", "```python\nimport crane\ncrane.lift()\n```", "raw words"},
			not:  []string{"output words", "iVBOR", "cell_type"},
		},
		"old notebook": {
			file: "x.ipynb", title: "Old study", data: `{"worksheets":[{"cells":[{"cell_type":"heading","level":1,"source":"Old study"},{"cell_type":"code","input":["lift()"]}]}],"metadata":{}}`,
			must: []string{"# Old study", "```\nlift()\n```"},
		},
		"DOCX": {
			file: "x.docx", title: "Crane manual",
			data: docx(t, `<w:p><w:pPr><w:pStyle w:val="berschrift1"/></w:pPr><w:r><w:t>First </w:t></w:r><w:r><w:t>lift</w:t></w:r></w:p><w:p><w:r><w:t xml:space="preserve">Mind the hook &amp; </w:t></w:r><w:del><w:r><w:delText>gone</w:delText><w:t>gone too</w:t></w:r></w:del><w:r><w:instrText>HYPERLINK</w:instrText><w:tab/><w:t>rope.</w:t></w:r></w:p>`+
				`<w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>one</w:t></w:r></w:p><w:tbl><w:tr><w:tc><w:p><w:r><w:t>Load</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>40 t</w:t></w:r></w:p></w:tc></w:tr></w:tbl><w:p><w:pPr><w:pStyle w:val="Heading2"/></w:pPr><w:r><w:t>深层</w:t></w:r></w:p>`, "Crane manual"),
			must: []string{"# First lift\n", "Mind the hook &  rope.", "- one\n", "| Load | 40 t |\n| --- | --- |", "## 深层"},
			not:  []string{"gone", "HYPERLINK"},
		},
		"data in a text": {file: "x.md", data: "# Icons\n![an arrow](data:image/png;base64," + strings.Repeat("iVBORw0KGgo", 40) + ")\n",
			title: "Icons", must: []string{"an arrow"}, not: []string{"base64"}},
	} {
		t.Run(name, func(t *testing.T) {
			doc, err := read(t, tt.file, tt.data)
			if err != nil {
				t.Fatal(err)
			}
			if doc.Title != tt.title {
				t.Errorf("title is %q", doc.Title)
			}
			for _, want := range tt.must {
				if !strings.Contains(doc.Text, want) {
					t.Errorf("%q is missing in:\n%s", want, doc.Text)
				}
			}
			for _, not := range tt.not {
				if strings.Contains(doc.Text, not) {
					t.Errorf("%q is in:\n%s", not, doc.Text)
				}
			}
		})
	}
}

func TestHeadings(t *testing.T) {
	for _, tt := range []struct{ line, next, want string }{
		{"# Title #", "", "Title"}, {"###### Six", "", "Six"}, {"####### Seven", "", ""}, {"#no", "", ""}, {"== Section", "", "Section"},
		{"Title", "=====", "Title"}, {"Title", "--", ""}, {"", "-----", ""}, {"-----", "-----", ""}, {" code", "-----", ""}, {"标题", "----", "标题"},
	} {
		if got := documents.Heading(tt.line, tt.next); got != tt.want {
			t.Errorf("%q over %q: got %q, want %q", tt.line, tt.next, got, tt.want)
		}
	}
}

// TestBounds: no file makes a text that is larger than what a document may have.
func TestBounds(t *testing.T) {
	bomb := docx(t, "<w:p><w:r><w:t>"+strings.Repeat("crane ", 20<<20)+"</w:t></w:r></w:p>", "")
	doc, err := read(t, "x.docx", bomb)
	if err == nil && len(doc.Text) > 32<<20 {
		t.Errorf("%d bytes of %d are %d bytes of text", len(bomb), len(bomb), len(doc.Text))
	}
	deep := docx(t, strings.Repeat("<w:x>", 100_000)+"<w:p><w:r><w:t>deep</w:t></w:r></w:p>", "")
	if _, err := read(t, "x.docx", deep); err == nil {
		t.Error("a file that is nested too deep was read")
	}
}

func zipOf(t *testing.T, parts map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range parts {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// docx makes a DOCX file of a body and a title.
func docx(t *testing.T, body, title string) string {
	t.Helper()
	const space = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"`
	return zipOf(t, map[string]string{
		"word/document.xml": fmt.Sprintf(`<?xml version="1.0"?><w:document %s><w:body>%s</w:body></w:document>`, space, body),
		"word/styles.xml":   fmt.Sprintf(`<w:styles %s><w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style></w:styles>`, space),
		"docProps/core.xml": `<cp:coreProperties xmlns:cp="x" xmlns:dc="y"><dc:title>` + title + `</dc:title></cp:coreProperties>`,
	})
}

// TestNestedPartsOfWord: text boxes inside paragraphs and tables inside cells lose no text, neither theirs nor that around them.
func TestNestedPartsOfWord(t *testing.T) {
	run := func(text string) string { return "<w:r><w:t>" + text + "</w:t></w:r>" }
	par := func(inside string) string { return "<w:p>" + inside + "</w:p>" }
	box := func(inside string) string {
		return "<w:r><w:pict><w:txbxContent>" + inside + "</w:txbxContent></w:pict></w:r>"
	}
	cell := func(inside string) string { return "<w:tc>" + inside + "</w:tc>" }
	table := func(rows ...string) string {
		return "<w:tbl><w:tr>" + strings.Join(rows, "</w:tr><w:tr>") + "</w:tr></w:tbl>"
	}
	heading := `<w:pPr><w:pStyle w:val="Heading2"/></w:pPr>`
	item := `<w:pPr><w:numPr/></w:pPr>`
	inner := table(cell(par(run("a")))+cell(par(run("b"))), cell(par(run("c")))+cell(par(run("d"))))
	for name, tt := range map[string]struct{ body, want string }{
		"box in a heading": {par(heading + run("Before") + box(par(item+run("boxed"))) + run(" after")), "- boxed\n## Before after\n\n"},
		"box in a list":    {par(item + run("Before") + box(par(heading+run("Boxed"))) + run(" after")), "## Boxed\n\n- Before after\n"},
		"box in a cell": {
			table(cell(par(run("before")+box(par(run("boxed")))+run(" after"))) + cell(par(run("next")))),
			"| boxed before after | next |\n| --- | --- |\n\n",
		},
		"table in a box": {par(run("Before") + box(inner) + run(" after")), "| a | b |\n| --- | --- |\n| c | d |\n\nBefore after\n\n"},
		"table in a cell": {
			table(cell(par(run("h1")))+cell(par(run("h2"))),
				cell(par(run("one")))+cell(par(run("two"))+inner+par(run("three")))+cell(par(run("four")))),
			"| h1 | h2 |\n| --- | --- |\n| one | two a b c d three | four |\n\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			doc, err := read(t, "x.docx", docx(t, tt.body, ""))
			if err != nil {
				t.Fatal(err)
			}
			if strings.TrimSpace(doc.Text) != strings.TrimSpace(tt.want) {
				t.Errorf("got %q, want %q", doc.Text, tt.want)
			}
		})
	}
}

// TestReasonsThatPass: only the reasons of the machine pass, and a sandbox that cannot begin is one, whatever the file is.
func TestReasonsThatPass(t *testing.T) {
	for _, reason := range []documents.Reason{
		documents.Empty, documents.TooLarge, documents.Generated, documents.Sensitive, documents.Link, documents.Binary, documents.Encoding,
		documents.HoldsKey, documents.NoText, documents.Damaged, documents.Encrypted,
	} {
		if reason.IsPassing() {
			t.Errorf("%s passes", reason)
		}
	}
	r := documents.NewReader(documents.Config{})
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := r.Read(t.Context(), "x.pdf", []byte("%PDF-1.7"), extract.Markdown)
	if reason := documents.FindReason(err); reason != documents.Unreadable || !reason.IsPassing() || !documents.TooSlow.IsPassing() {
		t.Errorf("got %v", err)
	}
}
