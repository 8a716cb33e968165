package module

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/patchbay-dev/patchbay/core/cli/command"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/module"
	"github.com/patchbay-dev/patchbay/core/services/search"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
)

func (c commands) tokenCommand() *cobra.Command {
	return command.Group("token", "Access tokens of the search service", c.tokenCreate(), c.tokenList(),
		c.tokenChange("enable", "Enable a token",
			func(ctx context.Context, a *search.Admin, id string) error { return a.SetTokenEnabled(ctx, id, true) }),
		c.tokenChange("disable", "Disable a token",
			func(ctx context.Context, a *search.Admin, id string) error { return a.SetTokenEnabled(ctx, id, false) }),
		c.tokenChange("delete", "Delete a token for good",
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
	var asJSON bool
	create := &cobra.Command{Use: "create", Short: "Make an access token and print it", Args: command.NoArgs}
	create.Flags().StringVar(&n.Note, "note", "", "what the token is for")
	create.Flags().StringVar(&n.Group, "group", "", "group of the token")
	create.Flags().StringVar(&expires, "expires", "",
		"when it ends: a time such as 2027-01-31T12:00:00Z, or from now on, such as 12h or 30d (default: never)")
	create.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	limits := limitFlags(&n.Own)
	for name, l := range limits {
		create.Flags().Int64(name, 0, l.usage+" (default: what service.search.limits says)")
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
		return c.WithRecords(cmd.Context(), func(r *module.Records) error { return c.createToken(command.Acting(cmd), r, n, asJSON) })
	}
	return create
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
		return time.Time{}, command.Mistake{Err: fmt.Errorf("-expires %q is neither a time such as 2027-01-31T12:00:00Z nor a duration such as 12h or 30d", text)}
	case !at.After(now):
		return time.Time{}, command.Mistake{Err: fmt.Errorf("-expires %q lies in the past", text)}
	}
	return at, nil
}

// createToken makes a token and prints it.
func (c commands) createToken(ctx context.Context, r *module.Records, n access.NewToken, asJSON bool) error {
	text, err := newAdmin(r).CreateToken(ctx, n)
	if err != nil {
		return err
	}
	if err := r.Users.Journal.Record(ctx, "search.tokens.create", access.TokenID(text), nil); err != nil {
		return err
	}
	if asJSON {
		return json.NewEncoder(c.Out).Encode(map[string]string{"token": text, "note": n.Note})
	}
	_, err = fmt.Fprintln(c.Out, text)
	return err
}

func (c commands) tokenList() *cobra.Command {
	list := &cobra.Command{Use: "list", Short: "List the access tokens, the newest first, without their texts", Args: command.NoArgs}
	out := command.AddOutput(list)
	list.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := out.Check(); err != nil {
			return err
		}
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
func (c commands) tokenChange(use, short string, change func(context.Context, *search.Admin, string) error) *cobra.Command {
	return &cobra.Command{Use: use + " ID", Short: short + ", named by the four characters after th-", Args: command.Exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.WithRecords(cmd.Context(), func(r *module.Records) error {
				if err := change(cmd.Context(), newAdmin(r), args[0]); err != nil {
					return nameTokens(cmd.Context(), r, args[0], err)
				}
				return r.Users.Journal.Record(command.Acting(cmd), "search.tokens."+use, args[0], nil)
			})
		}}
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
	ids := make([]string, len(tokens))
	for i, t := range tokens {
		ids[i] = t.ID
	}
	return command.Unknown("access token", id, ids, "patchbay token list")
}
