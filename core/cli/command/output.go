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

// Output is how a command prints what it found or did: for people, or as JSON.
type Output struct{ json bool }

// AddOutput adds the flags -json and -o to a command.
func AddOutput(cmd *cobra.Command) *Output {
	o := &Output{}
	cmd.Flags().VarP(formatFlag{o}, "output", "o", "how to print: table or json")
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON, like -o json")
	return o
}

// formatFlag is the flag output. It implements pflag.Value.
type formatFlag struct{ out *Output }

// String implements pflag.Value.
func (f formatFlag) String() string {
	if f.out != nil && f.out.json {
		return formatJSON
	}
	return formatTable
}

// Type implements pflag.Value.
func (f formatFlag) Type() string { return "format" }

// Set implements pflag.Value.
func (f formatFlag) Set(text string) error {
	if text != formatTable && text != formatJSON {
		return fmt.Errorf("it must be %s or %s", formatTable, formatJSON)
	}
	f.out.json = text == formatJSON
	return nil
}

// Table is a list for people. A cell that is "" is printed as a dash.
type Table struct {
	Columns []string
	Rows    [][]string
}

// JSON reports whether to print JSON.
func (o *Output) JSON() bool { return o.json }

// Print writes body as JSON or the table, whichever was chosen.
func (o *Output) Print(w io.Writer, body any, table Table) error {
	if o.JSON() {
		return PrintJSON(w, body)
	}
	return table.Print(w)
}

// PrintText writes body as JSON, or the text and a line break, whichever was chosen. An empty text prints nothing.
func (o *Output) PrintText(w io.Writer, body any, text string) error {
	if o.JSON() {
		return PrintJSON(w, body)
	}
	if text == "" {
		return nil
	}
	_, err := fmt.Fprintln(w, text)
	return err
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
