package module

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/patchbay-dev/patchbay/core/cli/command"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/lists"
	"github.com/patchbay-dev/patchbay/core/module"
	"github.com/patchbay-dev/patchbay/core/services/search"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
)

func (c commands) tokenCommand() *cobra.Command {
	return command.Group("token", "Manage access tokens of the search service",
		"Clients send an access token with each search. Each token has limits, which you can set.", c.tokenCreate(), c.tokenList(), c.tokenUpdate(),
		c.tokenChange("enable", "Enable an access token", "Accept a token again that was disabled.",
			func(ctx context.Context, a *search.Admin, id string) error { return a.SetTokenEnabled(ctx, id, true) }),
		c.tokenChange("disable", "Disable an access token", "Refuse a token without deleting it.",
			func(ctx context.Context, a *search.Admin, id string) error { return a.SetTokenEnabled(ctx, id, false) }),
		c.tokenChange("delete", "Delete an access token", "Remove a token for good.",
			func(ctx context.Context, a *search.Admin, id string) error { return a.DeleteToken(ctx, id) }))
}

// limitFlags are the limits of a token to make, by the names of their flags.
func limitFlags(l *access.TokenLimits) map[string]struct {
	limit **int64
	usage string
} {
	return map[string]struct {
		limit **int64
		usage string
	}{
		"requests-minute": {&l.RequestsMinute, "requests in a rolling minute; 0 for no such limit"},
		"requests-hour":   {&l.RequestsHour, "requests in a rolling hour"},
		"credits-hour":    {&l.CreditsHour, "credits in a rolling hour"},
		"credits-day":     {&l.CreditsDay, "credits in a UTC day"},
		"credits-month":   {&l.CreditsMonth, "credits in a UTC month"},
	}
}

func (c commands) tokenCreate() *cobra.Command {
	var n access.NewToken
	var expires string
	create := &cobra.Command{Use: "create", Short: "Create an access token and print it once", Args: command.NoArgs,
		Long: "Give a client access to the search service. Patchbay shows the token only now.",
		Example: command.Examples("TOKEN=$(patchbay token create -note laptop)",
			"patchbay token create -note ci -expires 30d -requests-hour 100 -json")}
	out := command.AddOutput(create)
	create.Flags().StringVar(&n.Note, "note", "", "what the token is for")
	create.Flags().StringVar(&n.Group, "group", "", "group of the token")
	create.Flags().StringVar(&expires, "expires", "",
		"when it expires: a time such as 2027-01-31T12:00:00Z, or 12h or 30d from now (default: never)")
	limits := limitFlags(&n.Own)
	for name, l := range limits {
		create.Flags().Int64(name, 0, l.usage+" (default: limits of the service)")
	}
	create.RunE = func(cmd *cobra.Command, _ []string) (err error) {
		if n.ExpiresAt, err = parseExpiry(expires, time.Now()); err != nil {
			return err
		}
		for name, l := range limits {
			if !cmd.Flags().Changed(name) {
				continue
			}
			value, err := cmd.Flags().GetInt64(name)
			if err != nil || value < 0 {
				return command.Mistake{Err: fmt.Errorf("-%s must not be negative", name)}
			}
			*l.limit = &value
		}
		return c.WithRecords(cmd.Context(), func(r *module.Records) error { return c.createToken(command.Acting(cmd), r, out, n) })
	}
	return create
}

// tokenUpdate returns the command that changes the limits and the labels of a token.
func (c commands) tokenUpdate() *cobra.Command {
	var change access.TokenChange
	var note, group string
	update := &cobra.Command{Use: "update ID", Short: "Change the limits, the note or the group of an access token", Args: command.Exactly(1),
		Long: "Raise or lower what a client may use; the running core follows within a second. ID is the four characters after \"th-\".",
		Example: command.Examples("patchbay token update a1B2 -requests-hour 2000",
			"patchbay token update a1B2 -credits-day default -note \"CI runners\" -json")}
	out := command.AddOutput(update)
	update.Flags().StringVar(&note, "note", "", "what the token is for")
	update.Flags().StringVar(&group, "group", "", "group of the token")
	limits := map[string]**access.Override{"requests-minute": &change.RequestsMinute, "requests-hour": &change.RequestsHour,
		"credits-hour": &change.CreditsHour, "credits-day": &change.CreditsDay, "credits-month": &change.CreditsMonth}
	for name, l := range limitFlags(&access.TokenLimits{}) {
		update.Flags().String(name, "", l.usage+`, or "default" for that of the service`)
	}
	update.RunE = func(cmd *cobra.Command, args []string) error {
		for name, limit := range limits {
			if !cmd.Flags().Changed(name) {
				continue
			}
			text, err := cmd.Flags().GetString(name)
			if err == nil {
				*limit, err = parseLimit(name, text)
			}
			if err != nil {
				return err
			}
		}
		if cmd.Flags().Changed("note") {
			change.Note = &note
		}
		if cmd.Flags().Changed("group") {
			change.Group = &group
		}
		if change == (access.TokenChange{}) {
			return command.Mistake{Err: errors.New("say what to change, such as -requests-hour 2000")}
		}
		return c.applyChange(cmd, out, "update", args[0], func(ctx context.Context, a *search.Admin, id string) error {
			return a.ChangeToken(ctx, id, change)
		})
	}
	return update
}

// parseLimit returns the limit that a flag gives: a number, or none of the token's own for "default".
func parseLimit(flag, text string) (*access.Override, error) {
	if text == "default" {
		return &access.Override{}, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return nil, command.Mistake{Err: fmt.Errorf("-%s %q: it must be a number from 0 on, or \"default\"", flag, text)}
	}
	return &access.Override{Value: &n}, nil
}

// parseExpiry returns a time that is given as RFC 3339 or as a duration from now on, in which d stands for days; zero for "".
func parseExpiry(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if days, ok := strings.CutSuffix(text, "d"); err != nil && ok {
		var n int
		if n, err = strconv.Atoi(days); err == nil {
			at = now.AddDate(0, 0, n)
		}
	} else if err != nil {
		var d time.Duration
		d, err = time.ParseDuration(text)
		at = now.Add(d)
	}
	switch {
	case err != nil:
		return time.Time{}, command.Mistake{Err: fmt.Errorf("-expires %q: it must be a time such as 2027-01-31T12:00:00Z, or a duration such as 12h or 30d", text)}
	case !at.After(now):
		return time.Time{}, command.Mistake{Err: fmt.Errorf("-expires %q is in the past", text)}
	}
	return at, nil
}

// createToken makes a token and prints it.
func (c commands) createToken(ctx context.Context, r *module.Records, out *command.Output, n access.NewToken) error {
	text, err := newAdmin(r).CreateToken(ctx, n)
	if err != nil {
		return err
	}
	if err := r.Users.Journal.Record(ctx, "search.tokens.create", access.TokenID(text), nil); err != nil {
		return err
	}
	return out.PrintText(c.Out, map[string]string{"token": text, "note": n.Note}, text)
}

func (c commands) tokenList() *cobra.Command {
	list := &cobra.Command{Use: "list", Short: "List access tokens, newest first", Args: command.NoArgs,
		Long:    "See who may search, with limits and state. It shows ids, never tokens.",
		Example: command.Examples("patchbay token list", "patchbay token list -json")}
	out := command.AddOutput(list)
	list.RunE = func(cmd *cobra.Command, _ []string) error {
		return c.WithRecords(cmd.Context(), func(r *module.Records) error {
			tokens, err := newAdmin(r).ListTokens(cmd.Context())
			if err != nil {
				return err
			}
			table := command.Table{Columns: []string{"ID", "STATE", "NOTE", "GROUP", "LIMITS", "EXPIRES", "CREATED"}}
			for _, t := range tokens {
				state, expires := "enabled", "never"
				if !t.Enabled {
					state = "disabled"
				}
				if t.ExpiresAt != nil {
					expires = t.ExpiresAt.String()
				}
				table.Rows = append(table.Rows, []string{t.ID, state, t.Note, t.Group, formatLimits(t.Limits), expires, t.CreatedAt.String()})
			}
			return out.Print(c.Out, map[string]any{"tokens": tokens}, table)
		})
	}
	return list
}

// formatLimits returns the limits of a token's own in a few words.
func formatLimits(l access.TokenLimits) string {
	var parts []string
	for _, p := range []struct {
		value *int64
		unit  string
	}{
		{l.RequestsMinute, "requests/min"}, {l.RequestsHour, "requests/h"}, {l.CreditsHour, "credits/h"}, {l.CreditsDay, "credits/day"},
		{l.CreditsMonth, "credits/month"},
	} {
		if p.value != nil {
			parts = append(parts, fmt.Sprint(*p.value, " ", p.unit))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "default")
}

// tokenChange returns a command that does something to one token.
func (c commands) tokenChange(use, short, long string, change func(context.Context, *search.Admin, string) error) *cobra.Command {
	cmd := &cobra.Command{Use: use + " ID", Short: short, Long: long + " ID is the four characters after \"th-\".", Args: command.Exactly(1),
		Example: command.Examples("patchbay token "+use+" a1B2", "patchbay token "+use+" a1B2 -json")}
	out := command.AddOutput(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return c.applyChange(cmd, out, use, args[0], change) }
	return cmd
}

// applyChange does something to a token, and records that under a name.
func (c commands) applyChange(cmd *cobra.Command, out *command.Output, name, id string,
	change func(context.Context, *search.Admin, string) error) error {
	return c.WithRecords(cmd.Context(), func(r *module.Records) error {
		if err := change(cmd.Context(), newAdmin(r), id); err != nil {
			return nameTokens(cmd.Context(), r, id, err)
		}
		if err := r.Users.Journal.Record(command.Acting(cmd), "search.tokens."+name, id, nil); err != nil {
			return err
		}
		return out.PrintText(c.Out, map[string]string{"id": id, "done": name}, "")
	})
}

// nameTokens adds the ids of the tokens that there are to the error for an unknown one.
func nameTokens(ctx context.Context, r *module.Records, id string, err error) error {
	if fault.CodeOf(err) != fault.NotFound {
		return err
	}
	tokens, failed := newAdmin(r).ListTokens(ctx)
	if failed != nil {
		return errors.Join(err, failed)
	}
	ids := lists.ConvertAll(tokens, func(t access.StoredToken) string { return t.ID })
	return command.Unknown("access token", id, ids, "patchbay token list")
}
