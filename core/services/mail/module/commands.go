package module

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/patchbay-dev/patchbay/core/cli/command"
	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/module"
	"github.com/patchbay-dev/patchbay/core/services/mail"
	"github.com/patchbay-dev/patchbay/core/services/mail/mailbox"
	"github.com/patchbay-dev/patchbay/core/store"
)

// commands are those of the service, on the streams and the database of the command line.
type commands struct{ module.CommandLine }

// newCommands returns the command mailbox.
func newCommands(line module.CommandLine) []*cobra.Command {
	c := commands{line}
	return []*cobra.Command{command.Group("mailbox", "Create, list and read mailboxes",
		"Test sign-up mails in scripts: create a mailbox, use its address, wait for the code.", c.createCommand(), c.listCommand(),
		c.waitCommand())}
}

// withAdmin calls use with the verbs of the service.
func (c commands) withAdmin(ctx context.Context, use func(*module.Records, *mail.Admin) error) error {
	return c.WithRecords(ctx, func(r *module.Records) error {
		admin, err := mail.NewAdmin(r.Store)
		if err != nil {
			return err
		}
		return use(r, admin)
	})
}

func (c commands) createCommand() *cobra.Command {
	var local, subdomain, domain, owner string
	var minutes int
	var forever bool
	var out *command.Output
	create := &cobra.Command{Use: "create", Short: "Create a mailbox and print its address", Args: command.NoArgs,
		Long:    "Get an address that receives mail at once. Without flags it is random and lives for an hour.",
		Example: command.Examples("patchbay mailbox create", "patchbay mailbox create -name signup -minutes 1440 -owner ada@example.com"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.withAdmin(cmd.Context(), func(r *module.Records, admin *mail.Admin) error {
				ownerID, err := findOwner(cmd.Context(), r, owner)
				if err != nil {
					return err
				}
				box, err := admin.CreateMailbox(cmd.Context(), ownerID, mailbox.NewMailbox{
					LocalPart: local, Subdomain: subdomain, MailDomain: domain, Lifetime: mailbox.Lifetime{Minutes: minutes, Forever: forever},
				})
				if err != nil {
					return err
				}
				if err := r.Users.Journal.Record(command.Acting(cmd), "mail.mailboxes.create", box.ID, nil); err != nil {
					return err
				}
				return out.PrintText(c.Out, map[string]string{"id": box.ID, "address": box.Address}, box.Address)
			})
		}}
	flags := create.Flags()
	flags.StringVar(&local, "name", "", "the part before the @ (default: random)")
	flags.StringVar(&subdomain, "subdomain", "", "labels before the domain")
	flags.StringVar(&domain, "domain", "", "mail domain (default: any active one)")
	flags.StringVar(&owner, "owner", "", "email address of the owner (default: none; only administrators see the mailbox)")
	flags.IntVar(&minutes, "minutes", mailbox.DefaultMinutes, "lifetime in minutes")
	flags.BoolVar(&forever, "forever", false, "never expire")
	out = command.AddOutput(create)
	return create
}

// findOwner returns the id of the user with an email address, "" for none.
func findOwner(ctx context.Context, r *module.Records, email string) (string, error) {
	if email == "" {
		return "", nil
	}
	users, err := r.Users.List(ctx)
	if err != nil {
		return "", err
	}
	for _, u := range users {
		if u.Email == email {
			return u.ID, nil
		}
	}
	return "", command.Mistake{Err: fmt.Errorf("there is no user %s", email)}
}

func (c commands) listCommand() *cobra.Command {
	list := &cobra.Command{Use: "list", Short: "List mailboxes, newest first", Args: command.NoArgs,
		Long:    "See every mailbox with its state and the time of its latest mail.",
		Example: command.Examples("patchbay mailbox list", "patchbay mailbox list -json")}
	out := command.AddOutput(list)
	list.RunE = func(cmd *cobra.Command, _ []string) error {
		return c.withAdmin(cmd.Context(), func(_ *module.Records, admin *mail.Admin) error {
			items, table := []listedMailbox{}, command.Table{Columns: []string{"ADDRESS", "STATE", "EXPIRES", "LAST MAIL"}}
			cursor := ""
			for more := true; more; more = cursor != "" {
				page, next, err := admin.ListMailboxes(cmd.Context(), cursor)
				if err != nil {
					return err
				}
				for _, m := range page {
					state := string(m.StatusAt(time.Now()))
					items = append(items, listedMailbox{m.ID, m.Address, state, formatMillis(m.ExpiresAt, ""), formatMillis(m.ReceivedAt, "")})
					table.Rows = append(table.Rows, []string{m.Address, state, formatMillis(m.ExpiresAt, "never"), formatMillis(m.ReceivedAt, "none")})
				}
				cursor = next
			}
			return out.Print(c.Out, map[string]any{"mailboxes": items}, table)
		})
	}
	return list
}

// listedMailbox is a mailbox as the command list prints it as JSON. Times are "" where there is none.
type listedMailbox struct {
	ID         string `json:"id"`
	Address    string `json:"address"`
	State      string `json:"state"`
	ExpiresAt  string `json:"expires_at"`
	LastMailAt string `json:"last_mail_at"`
}

// formatMillis returns a stored time, or a word for none.
func formatMillis(ms int64, none string) string {
	if ms == 0 {
		return none
	}
	return store.FormatTime(store.FromMillis(ms))
}

// waitPause is the pause between two looks into the database, which another process writes.
const waitPause = 200 * time.Millisecond

func (c commands) waitCommand() *cobra.Command {
	var code bool
	var out *command.Output
	var timeout time.Duration
	var after time.Duration
	wait := &cobra.Command{Use: "wait ADDRESS", Short: "Wait for mail and print its subject or code",
		Long: "Let a script wait for a sign-up mail. The exit status is 1 if no mail arrives in time.",
		Example: command.Examples("patchbay mailbox wait signup@mail.localhost",
			"CODE=$(patchbay mailbox wait signup@mail.localhost -code -timeout 2m)"),
		Args: command.Exactly(1), RunE: func(cmd *cobra.Command, args []string) error {
			return c.withAdmin(cmd.Context(), func(_ *module.Records, admin *mail.Admin) error {
				ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
				defer cancel()
				since := time.Now().Add(-after)
				for {
					m, found, err := admin.NewestMessage(ctx, args[0], since, code)
					switch {
					case ctx.Err() != nil:
						return errors.New("no mail arrived in time")
					case err != nil:
						return err
					case found && code:
						return out.PrintText(c.Out, map[string]string{"address": args[0], "subject": m.Subject, "code": m.Code}, m.Code)
					case found:
						return out.PrintText(c.Out, map[string]string{"address": args[0], "subject": m.Subject, "code": m.Code}, m.Subject)
					}
					_ = event.Sleep(ctx, waitPause)
				}
			})
		}}
	out = command.AddOutput(wait)
	wait.Flags().BoolVar(&code, "code", false, "wait for a verification code and print it")
	wait.Flags().DurationVar(&timeout, "timeout", time.Minute, "how long to wait")
	wait.Flags().DurationVar(&after, "since", 10*time.Minute, "accept mail that arrived up to this long ago")
	return wait
}
