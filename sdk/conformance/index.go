package conformance

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/patchbay-dev/patchbay/sdk/search"
)

// leftOutReason fits reasons.
var leftOutReason = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)

// maxIndexText bounds the name and the error of a source, in bytes.
const maxIndexText = 2000

// checkIndexCalls checks that the index reports on itself, and that calls are answered after a re-index was started.
func (r *searchRun) checkIndexCalls(ctx context.Context) error {
	ctx, cancel := r.WithTimeout(ctx)
	defer cancel()
	c := search.NewClient(r.Conn, r.MainID, -1)
	defer c.Close()
	st, err := c.IndexStatus(ctx)
	_ = r.InspectError("IndexStatus", err)
	if !r.HasCapability(search.CapIndex) {
		return errors.Join(r.RequireUnsupported("IndexStatus", err), r.RequireUnsupported("Reindex", c.Reindex(ctx)))
	}
	if err != nil {
		return err
	}
	if err := r.checkIndex(st); err != nil {
		return err
	}
	before, err := r.firstStatus(ctx)
	if err != nil {
		return err
	}
	// The second has no effect, or begins once more; neither fails.
	for range 2 {
		if err := r.InspectError("Reindex", c.Reindex(ctx)); err != nil {
			return fmt.Errorf("start a re-index: %w", err)
		}
	}
	if st, err = c.IndexStatus(ctx); err != nil {
		return r.InspectError("IndexStatus", err)
	}
	if err := r.checkIndex(st); err != nil {
		return err
	}
	during, err := r.firstStatus(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("while a re-index goes on: %w", err)
	case during != before:
		return fmt.Errorf("while a re-index goes on the first sample gets the status %d instead of %d", during, before)
	}
	return nil
}

// firstStatus returns the status that the first sample gets.
func (r *searchRun) firstStatus(ctx context.Context) (status int, err error) {
	s, err := r.mustFirst()
	if err != nil {
		return 0, err
	}
	err = r.runInForm(ctx, formUnary, func(ctx context.Context, c *caller) error {
		resp, err := c.invokeSample(ctx, r.MainID, s)
		if err == nil {
			status = resp.Status
		}
		return err
	})
	return status, err
}

// checkIndex checks that a report makes sense.
func (r *searchRun) checkIndex(st *search.IndexStatus) error {
	if st.Documents < 0 || st.Bytes < 0 {
		return fmt.Errorf("the index has %d documents in %d bytes", st.Documents, st.Bytes)
	}
	for _, s := range st.Sources {
		r.NoteSecrets("IndexStatus", s.Name+s.LastError)
		switch {
		case s.Name == "" || s.Kind != search.SourceFiles && s.Kind != search.SourceSite:
			return fmt.Errorf("the source %q has the kind %d", s.Name, s.Kind)
		case s.State < search.SourceReady || s.State > search.SourceFailed:
			return fmt.Errorf("the source %q has the state %d", s.Name, s.State)
		case s.State == search.SourceFailed && s.LastError == "":
			return fmt.Errorf("the source %q failed and does not say why", s.Name)
		case s.Documents < 0 || s.Done < 0 || s.Done > s.Total:
			return fmt.Errorf("the source %q has %d documents and is at %d of %d", s.Name, s.Documents, s.Done, s.Total)
		case len(s.Name) > maxIndexText || len(s.LastError) > maxIndexText:
			return fmt.Errorf("name or error of the source %.40q has more than %d bytes", s.Name, maxIndexText)
		}
		if err := r.checkLeftOut(s); err != nil {
			return err
		}
	}
	return nil
}

// maxLeftOutNames is how many names a report has of what is left out for one reason.
const maxLeftOutNames = 20

// checkLeftOut checks what a report says of files and pages that are not in the index.
func (r *searchRun) checkLeftOut(s search.IndexSource) error {
	for _, l := range s.LeftOut {
		for _, name := range l.Names {
			r.NoteSecrets("IndexStatus", name)
		}
		switch {
		case !leftOutReason.MatchString(l.Reason):
			return fmt.Errorf("the source %q leaves something out for the reason %.40q, which is no word in lower snake case", s.Name, l.Reason)
		case l.Count < 1 || int64(len(l.Names)) > l.Count || len(l.Names) > maxLeftOutNames:
			return fmt.Errorf("the source %q leaves out %d for the reason %s and names %d", s.Name, l.Count, l.Reason, len(l.Names))
		}
	}
	return nil
}
