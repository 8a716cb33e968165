package httpd

import (
	"encoding/csv"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
)

// Formats of a RowFile.
const (
	FormatCSV    = "csv"
	FormatNDJSON = "ndjson"
)

// RowFile writes rows as a file to download, as they come: CSV with a line of names, or JSON with a line for each row.
type RowFile struct {
	c     *gin.Context
	csv   *csv.Writer
	lines *json.Encoder
}

// NewRowFile begins the answer to a request. format is FormatCSV or FormatNDJSON, columns are the names for CSV.
func NewRowFile(c *gin.Context, name, format string, columns []string) (*RowFile, error) {
	f := &RowFile{c: c}
	kind := "application/x-ndjson"
	if format == FormatCSV {
		kind, f.csv = "text/csv; charset=utf-8", csv.NewWriter(c.Writer)
	} else {
		f.lines = json.NewEncoder(c.Writer)
		f.lines.SetEscapeHTML(false)
	}
	h := c.Writer.Header()
	h.Set("Content-Type", kind)
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Disposition", `attachment; filename="`+name+"."+format+`"`)
	c.Status(http.StatusOK)
	if f.csv == nil {
		return f, nil
	}
	return f, f.csv.Write(columns)
}

// Write adds a row: v as JSON, or cells as a line of CSV. It may change cells.
func (f *RowFile) Write(v any, cells []string) error {
	if f.csv == nil {
		return f.lines.Encode(v)
	}
	for i := range cells {
		cells[i] = plainCell(cells[i])
	}
	return f.csv.Write(cells)
}

// Flush sends what was written so far.
func (f *RowFile) Flush() error {
	if f.csv != nil {
		f.csv.Flush()
		if err := f.csv.Error(); err != nil {
			return err
		}
	}
	return http.NewResponseController(f.c.Writer).Flush()
}

// Abort cuts the connection: half a file must not look like a whole one. The request is logged with err.
func (f *RowFile) Abort(err error) {
	SetError(f.c, err)
	panic(http.ErrAbortHandler)
}

// plainCell keeps a spreadsheet from taking a text for a formula.
func plainCell(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}
