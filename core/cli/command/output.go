package command

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

// The values of the flag output.
const (
	formatTable = "table"
	formatJSON  = "json"
)

// Output is how a command prints a list.
type Output struct{ format string }

// AddOutput adds the flag -o to a command.
func AddOutput(cmd *cobra.Command) *Output {
	o := &Output{}
	cmd.Flags().StringVarP(&o.format, "output", "o", formatTable, "table or json")
	return o
}

// Table is a list for people. A cell that is "" is printed as a dash.
type Table struct {
	Columns []string
	Rows    [][]string
}

// Check returns a Mistake if the flag has a value that there is not. A command calls it before it does anything.
func (o *Output) Check() error {
	if o.format != formatTable && o.format != formatJSON {
		return Mistake{fmt.Errorf("-o %q is neither %s nor %s", o.format, formatTable, formatJSON)}
	}
	return nil
}

// JSON reports whether JSON is asked for.
func (o *Output) JSON() bool { return o.format == formatJSON }

// Print writes body as JSON or the table, whichever is asked for.
func (o *Output) Print(w io.Writer, body any, table Table) error {
	if o.JSON() {
		return PrintJSON(w, body)
	}
	return table.Print(w)
}

// PrintJSON writes body as JSON for people and programs.
func PrintJSON(w io.Writer, body any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(body)
}

// Print writes the table in columns that are aligned.
func (t Table) Print(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(tw, strings.Join(t.Columns, "\t"))
	for _, row := range t.Rows {
		cells := make([]string, len(row))
		for i, text := range row {
			if cells[i] = Printable(text); text == "" {
				cells[i] = "-"
			}
		}
		fmt.Fprintln(tw, strings.Join(cells, "\t"))
	}
	return tw.Flush()
}

// Printable returns a text on one line, without what a terminal would obey.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, text)
}
