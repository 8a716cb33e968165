package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/patchbay-dev/patchbay/core/admin"
	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/cli/command"
)

func (c *commandLine) userCommand() *cobra.Command {
	return command.Group("user", "Users", c.userCreate(), c.userList(), c.userRole(), c.userDisable(), c.userEnable(), c.userReset())
}

func (c *commandLine) userCreate() *cobra.Command {
	var email, name, role string
	cmd := &cobra.Command{Use: "create", Short: "Add a user and print an API key, this once", Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.withRecords(cmd.Context(), func(r *admin.Records) error {
				user, key, err := r.Users.Create(command.Acting(cmd), email, name, auth.Role(role))
				if err == nil {
					fmt.Fprintln(c.out, key)
				}
				if err == nil && user.Role != auth.Role(role) {
					fmt.Fprintf(c.err, "%s is the first user, and therefore an administrator.\n", user.Email)
				}
				return err
			})
		}}
	cmd.Flags().StringVar(&email, "email", "", "email address")
	cmd.Flags().StringVar(&name, "name", "", "name")
	cmd.Flags().StringVar(&role, "role", string(auth.Member), "admin or member")
	return cmd
}

func (c *commandLine) userList() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the users", Args: command.NoArgs}
	out := command.AddOutput(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := out.Check(); err != nil {
			return err
		}
		return c.withRecords(cmd.Context(), func(r *admin.Records) error {
			users, err := r.Users.List(cmd.Context())
			if err != nil {
				return err
			}
			type item struct {
				ID       string `json:"id"`
				Email    string `json:"email"`
				Name     string `json:"name"`
				Role     string `json:"role"`
				Disabled bool   `json:"disabled"`
			}
			items := make([]item, len(users))
			t := command.Table{Columns: []string{"ID", "EMAIL", "NAME", "ROLE", "STATE"}}
			for i, u := range users {
				items[i] = item{u.ID, u.Email, u.Name, string(u.Role), u.Disabled}
				state := "enabled"
				if u.Disabled {
					state = "disabled"
				}
				t.Rows = append(t.Rows, []string{u.ID, u.Email, u.Name, string(u.Role), state})
			}
			return out.Print(c.out, map[string]any{"users": items}, t)
		})
	}
	return cmd
}

func (c *commandLine) userDisable() *cobra.Command {
	return &cobra.Command{Use: "disable EMAIL", Short: "Keep a user out", Args: command.Exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withRecords(cmd.Context(), func(r *admin.Records) error { return r.Users.Disable(command.Acting(cmd), args[0]) })
		}}
}

func (c *commandLine) userEnable() *cobra.Command {
	no := false
	return &cobra.Command{Use: "enable EMAIL", Short: "Let a user in again who was kept out", Args: command.Exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withRecords(cmd.Context(), changeUser(cmd, args[0], auth.UserChange{Disabled: &no}))
		}}
}

func (c *commandLine) userRole() *cobra.Command {
	return &cobra.Command{Use: "role EMAIL admin|member", Short: "Make a user an administrator or a member", Args: command.Exactly(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			role := auth.Role(args[1])
			return c.withRecords(cmd.Context(), changeUser(cmd, args[0], auth.UserChange{Role: &role}))
		}}
}

// changeUser returns what changes the user of an email address.
func changeUser(cmd *cobra.Command, email string, change auth.UserChange) func(*admin.Records) error {
	return func(r *admin.Records) error {
		user, err := r.Users.ByEmail(cmd.Context(), email)
		if err == nil {
			_, err = r.Users.Change(command.Acting(cmd), user.ID, change)
		}
		return err
	}
}

func (c *commandLine) userReset() *cobra.Command {
	var link bool
	cmd := &cobra.Command{Use: "reset EMAIL",
		Short: "Let a user back in with a new API key or set-up link; former keys, passkeys and sessions end", Args: command.Exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withRecords(cmd.Context(), func(r *admin.Records) error {
				reset := r.Users.Reset
				if link {
					reset = r.ResetLink
				}
				text, err := reset(command.Acting(cmd), args[0])
				if err == nil {
					fmt.Fprintln(c.out, text)
				}
				return err
			})
		}}
	cmd.Flags().BoolVar(&link, "link", false, "print a set-up link, good once and for a day, by which a passkey can be registered")
	return cmd
}
