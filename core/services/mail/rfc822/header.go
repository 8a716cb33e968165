package rfc822

import (
	"bufio"
	"bytes"
	"io"
	"mime"
	"net/mail"
	"strings"

	"github.com/emersion/go-message/charset"

	"github.com/patchbay-dev/patchbay/core/texts"
)

// wordDecoder decodes encoded words of all character sets.
var wordDecoder = &mime.WordDecoder{CharsetReader: charset.Reader}

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
		case text != "" && (text[0] == ' ' || text[0] == '\t'):
			if n := len(fields); n > 0 && len(fields[n-1].Value) < maxField && kept < maxFieldsSize {
				fields[n-1].Value += " " + strings.Trim(text, " \t")
				kept += len(text)
			}
		default:
			key, value, ok := strings.Cut(text, ":")
			key = strings.TrimRight(key, " \t")
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

// readFieldsOf is readFields for a message in memory.
func readFieldsOf(raw []byte) []Header { return readFields(bufio.NewReader(bytes.NewReader(raw))) }

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

// setHeader fills what the header fields tell.
func (p *Parsed) setHeader(fields []Header) {
	p.Headers = make([]Header, len(fields))
	for i, f := range fields {
		p.Headers[i] = Header{f.Key, texts.Limit(decodeWords(f.Value), maxField)}
	}
	p.Subject = texts.OneLine(p.fieldValue("Subject"), 2000)
	p.MessageID = texts.OneLine(p.fieldValue("Message-Id"), 998)
	if date, err := mail.ParseDate(p.fieldValue("Date")); err == nil && date.Year() >= 1970 && date.Year() < 10000 {
		p.Date = date.UTC()
	}
	p.To, p.Cc, p.Bcc = addressesOf(fields, "To"), addressesOf(fields, "Cc"), addressesOf(fields, "Bcc")
	p.ReplyTo = addressesOf(fields, "Reply-To")
	if from := addressesOf(fields, "From"); len(from) > 0 {
		p.From = from[0]
	} else if sender := addressesOf(fields, "Sender"); len(sender) > 0 {
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

// decodeWords decodes the encoded words of a value. One that cannot be decoded stays.
func decodeWords(s string) string {
	if !strings.Contains(s, "=?") {
		return s
	}
	if decoded, err := wordDecoder.DecodeHeader(s); err == nil {
		return decoded
	}
	return s
}

// addressesOf returns the addresses of all fields with a name.
func addressesOf(fields []Header, key string) (found []Address) {
	for _, f := range fields {
		if !strings.EqualFold(f.Key, key) || f.Value == "" {
			continue
		}
		parser := mail.AddressParser{WordDecoder: wordDecoder}
		list, err := parser.ParseList(f.Value)
		if err != nil {
			found = append(found, splitAddresses(f.Value)...)
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
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		name, rest, ok := strings.Cut(item, "<")
		if !ok {
			found = append(found, newAddress("", item))
			continue
		}
		address, _, _ := strings.Cut(rest, ">")
		found = append(found, newAddress(strings.Trim(name, ` "'`), strings.TrimSpace(address)))
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

// skipMboxLine returns r without the line that mailbox files put before a message.
func skipMboxLine(r io.Reader) *bufio.Reader {
	b := bufio.NewReader(r)
	if head, err := b.Peek(len(MboxMark)); err == nil && bytes.Equal(head, []byte(MboxMark)) {
		_, _ = readLine(b, maxField)
	}
	return b
}
