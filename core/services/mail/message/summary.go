package message

import (
	"database/sql"

	"github.com/patchbay-dev/patchbay/core/services/mail/rfc822"
)

// Summary is a message as lists show it. Times are Unix milliseconds, 0 for none.
type Summary struct {
	// Seq ascends in the order in which messages were stored.
	Seq            int64 `gorm:"primaryKey"`
	ID             string
	MailboxID      string
	MailboxAddress string
	Size           int64
	ReceivedAt     int64
	Subject        string
	Preview        string
	FromName       string
	FromAddress    string
	// Attachments is how many there are.
	Attachments int
	HasHTML     bool
	ParseStatus rfc822.ParseStatus
	// Code is the verification code, "" for none; CodeSource is where it stands.
	Code       string
	CodeSource string
	ReadAt     int64
}

// summaryColumns are the columns of a Summary, in the order of scan.
const summaryColumns = "m.seq, m.id, m.mailbox_id, m.mailbox_address, m.size, m.received_at, m.subject, m.preview, m.from_name, m.from_address, " +
	"m.attachments, m.has_html, m.parse_status, m.code, m.code_source, m.read_at"

// scanRow reads the summary from a row.
func (m *Summary) scanRow(rows *sql.Rows) error {
	return rows.Scan(&m.Seq, &m.ID, &m.MailboxID, &m.MailboxAddress, &m.Size, &m.ReceivedAt, &m.Subject, &m.Preview, &m.FromName,
		&m.FromAddress,
		&m.Attachments, &m.HasHTML, &m.ParseStatus, &m.Code, &m.CodeSource, &m.ReadAt)
}
