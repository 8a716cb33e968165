package rfc822

import (
	"bufio"
	"bytes"
	"io"
	"mime"
	"net/mail"
	"strings"
	"unicode/utf8"

	"github.com/patchbay-dev/patchbay/core/lists"
	"github.com/patchbay-dev/patchbay/core/texts"
)

// wordDecoder decodes encoded words of all character sets.
var wordDecoder = &mime.WordDecoder{CharsetReader: readCharset}

// MboxMark begins the line that mailbox files put before a message.
const MboxMark = "From "

// readFields reads the header section of a message and returns its fields as they stand there, without folds. It takes what
// it can: a line that is no field is left out. The reader is left at the beginning of the body.
func readFields(r *bufio.Reader) []Header {
	var fields []Header
	var size, kept int
	for size < maxHeader {
		line, err := readLine(r, maxHeader-size)
		first := size == 0
		size += len(line)
		text := strings.TrimRight(string(line), "\r\n")
		switch {
		case text == "" && len(line) > 0:
			return fields
		case first && strings.HasPrefix(text, MboxMark):
		case len(fields) > 0 && text != "" && (text[0] == ' ' || text[0] == '\t'):
			if n := len(fields); len(fields[n-1].Value) < maxField && kept < maxFieldsSize {
				fields[n-1].Value += " " + strings.Trim(text, " \t")
				kept += len(text)
			}
		default:
			key, value, ok := strings.Cut(text, ":")
			// The spaces before the first field are a mistake: there is nothing that it could go on with.
			key = strings.Trim(key, " \t")
			if ok && isFieldName(key) && len(fields) < maxFields && kept < maxFieldsSize {
				fields = append(fields, Header{key, strings.Trim(value, " \t")})
				kept += len(text)
			}
		}
		if err != nil {
			return fields
		}
	}
	return fields
}

// parseFields is readFields for a message in memory.
func parseFields(raw []byte) []Header { return readFields(bufio.NewReader(bytes.NewReader(raw))) }

// readLine reads a line, or at most limit bytes of a longer one.
func readLine(r *bufio.Reader, limit int) (line []byte, err error) {
	for len(line) < limit {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if err != bufio.ErrBufferFull {
			return line, err
		}
	}
	return line, nil
}

// isFieldName reports whether s may name a header field.
func isFieldName(s string) bool {
	if s == "" || len(s) > 200 {
		return false
	}
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// setRawHeader is setHeader for fields of which some have bytes outside UTF-8.
func (p *Parsed) setRawHeader(fields []Header, charset string) {
	for _, f := range fields {
		if !utf8.ValidString(f.Value) {
			p.setHeader(fields, charset)
			return
		}
	}
}

// setHeader fills what the header fields tell. Bytes outside UTF-8 are read in the charset.
func (p *Parsed) setHeader(raw []Header, charset string) {
	fields := lists.ConvertAll(raw, func(f Header) Header { return Header{f.Key, toUTF8(f.Value, charset)} })
	p.Headers = make([]Header, len(fields))
	for i, f := range fields {
		p.Headers[i] = Header{f.Key, texts.Limit(decodeWords(f.Value), maxField)}
	}
	p.Subject = texts.OneLine(p.fieldValue("Subject"), 2000)
	p.MessageID = texts.OneLine(p.fieldValue("Message-Id"), 998)
	p.Date = parseDate(p.fieldValue("Date"))
	p.From = Address{}
	p.To, p.Cc, p.Bcc = listAddresses(fields, "To"), listAddresses(fields, "Cc"), listAddresses(fields, "Bcc")
	p.ReplyTo = listAddresses(fields, "Reply-To")
	if from := listAddresses(fields, "From"); len(from) > 0 {
		p.From = from[0]
	} else if sender := listAddresses(fields, "Sender"); len(sender) > 0 {
		p.From = sender[0]
	}
}

// fieldValue returns the decoded value of the first field with a name, or "".
func (p *Parsed) fieldValue(key string) string {
	for _, f := range p.Headers {
		if strings.EqualFold(f.Key, key) {
			return f.Value
		}
	}
	return ""
}

// listAddresses returns the addresses of all fields with a name.
func listAddresses(fields []Header, key string) (found []Address) {
	for _, f := range fields {
		if !strings.EqualFold(f.Key, key) || f.Value == "" {
			continue
		}
		parser := mail.AddressParser{WordDecoder: wordDecoder}
		list, err := parser.ParseList(f.Value)
		if err != nil {
			found = append(found, splitAddresses(stripComments(f.Value))...)
			continue
		}
		for _, a := range list {
			found = append(found, newAddress(a.Name, a.Address))
		}
	}
	return found[:min(len(found), maxAddresses)]
}

// newAddress returns an address with texts that may be stored. What is no address becomes part of the name.
func newAddress(name, address string) Address {
	name, address = texts.OneLine(decodeWords(name), 500), texts.OneLine(address, 320)
	at := strings.LastIndexByte(address, '@')
	if at < 1 || at == len(address)-1 || strings.ContainsAny(address, " <>\t") {
		return Address{Name: texts.OneLine(strings.TrimSpace(name+" "+address), 500)}
	}
	return Address{name, address}
}

// splitAddresses reads a list of addresses that is not written as it should be.
func splitAddresses(value string) (found []Address) {
	for _, item := range splitList(value) {
		for strings.TrimSpace(item) != "" {
			name, rest, angled := strings.Cut(item, "<")
			if !angled {
				found = append(found, splitWords(item)...)
				break
			}
			address, after, _ := strings.Cut(rest, ">")
			found = append(found, newAddress(strings.Trim(name, ` "'\t`), strings.TrimSpace(address)))
			item = after
			if !strings.Contains(after, "@") {
				break
			}
		}
	}
	return found
}

// splitWords reads addresses that stand between words: what stands before one is its name.
func splitWords(item string) (found []Address) {
	var name []string
	for _, word := range strings.Fields(item) {
		if a := newAddress("", strings.Trim(word, `"'<>[]:`)); a.Address != "" {
			a.Name = newAddress(strings.Trim(strings.Join(name, " "), `"' `), "").Name
			found, name = append(found, a), nil
			continue
		}
		name = append(name, word)
	}
	if len(found) == 0 {
		return append(found, newAddress("", strings.TrimSpace(item)))
	}
	return found
}

// splitList splits a list at the commas outside quotes and angle brackets.
func splitList(value string) (items []string) {
	quoted, angled, start := false, false, 0
	for i := range len(value) {
		switch value[i] {
		case '"':
			quoted = !quoted
		case '<':
			angled = true
		case '>':
			angled = false
		case ',', ';':
			if !quoted && !angled {
				items, start = append(items, value[start:i]), i+1
			}
		}
	}
	return append(items, value[start:])
}

// maxBlank is the longest first line of spaces that is left out.
const maxBlank = 1000

// skipMboxLine returns r without a first line of spaces and spaces before the first field, and without the line that mailbox files put
// before a message.
func skipMboxLine(r io.Reader) *bufio.Reader {
	b := bufio.NewReader(r)
	if head, _ := b.Peek(maxBlank); len(head) > 0 && (head[0] == ' ' || head[0] == '\t') {
		if end := bytes.IndexByte(head, '\n'); end >= 0 && len(bytes.TrimSpace(head[:end])) == 0 {
			_, _ = b.Discard(end + 1)
		}
	}
	for head, _ := b.Peek(1); len(head) > 0 && (head[0] == ' ' || head[0] == '\t'); head, _ = b.Peek(1) {
		_, _ = b.Discard(1)
	}
	if head, err := b.Peek(len(MboxMark)); err == nil && bytes.Equal(head, []byte(MboxMark)) {
		_, _ = readLine(b, maxField)
	}
	return b
}
