// Package rfc822 reads messages as they come over the wire: their header, their parts, and their HTML as it can be shown. It
// takes everything, and fails for nothing but bytes that cannot be read.
package rfc822

import (
	"io"
	"time"
)

// ParseStatus says whether the parts of a message are known.
type ParseStatus string

// The statuses. A message that could not be parsed is kept all the same; its header fields and the beginning of its body are
// shown as far as they can be read.
const (
	ParseOK     ParseStatus = "parsed"
	ParseFailed ParseStatus = "failed"
)

// Parser names what has parsed a message. The same parser finds the same parts again.
type Parser string

// The parsers.
const (
	// StreamParser is strict and holds no part in memory.
	StreamParser Parser = "stream"
	// TolerantParser repairs what the other refuses, and holds the whole message in memory.
	TolerantParser Parser = "tolerant"
	// NoParser stands for a message that neither could parse.
	NoParser Parser = "none"
)

// The limits of parsing.
const (
	// maxHeader is the largest header section that is read, in bytes.
	maxHeader = 1 << 20
	// maxFields and maxFieldsSize bound the header fields that are kept, by number and by the sum of their bytes.
	maxFields, maxFieldsSize = 500, 256 << 10
	// maxField is the longest value of a header field, in bytes.
	maxField = 64 << 10
	// maxAddresses is how many addresses of one header field are kept.
	maxAddresses = 500
	// maxDepth and maxParts bound the nesting and the number of parts.
	maxDepth, maxParts = 30, 1000
	// MaxText is how much of the text, and of the HTML, of a message is read, in bytes.
	MaxText = 2 << 20
	// maxTolerant is the largest message that TolerantParser reads, in bytes.
	maxTolerant = 8 << 20
)

// Opener opens the raw bytes of a message at their beginning.
type Opener func() (io.ReadCloser, error)

// Parsed is what a message says, as valid UTF-8 without NUL.
type Parsed struct {
	Status ParseStatus
	Parser Parser

	Subject   string
	From      Address
	MessageID string
	// Date is the time of the Date field, zero if it has none that can be read.
	Date    time.Time
	Headers []Header

	To, Cc, Bcc, ReplyTo []Address

	// Text and HTML are the texts of the message, cut at MaxText; TextTruncated reports whether one of them is longer.
	Text, HTML    string
	TextTruncated bool
	Attachments   []Attachment
	// Events are those of the calendars that the message has.
	Events []Event
}

// Header is a header field, decoded.
type Header struct {
	Key   string `json:"key" example:"Subject"`
	Value string `json:"value" example:"Your order"`
}

// Address is a mailbox that a header field names. Either part may be empty.
type Address struct {
	Name, Address string
}

// Disposition says how a part is meant to be shown.
type Disposition string

// The dispositions.
const (
	DispositionAttachment Disposition = "attachment"
	DispositionInline     Disposition = "inline"
	DispositionUnknown    Disposition = "unknown"
)

// Attachment is a part of a message that is not its text.
type Attachment struct {
	// Number counts the attachments of a message from 1.
	Number      int
	Filename    string
	ContentType string
	// Size is that of the decoded content, in bytes.
	Size        int64
	ContentID   string
	Disposition Disposition
}
