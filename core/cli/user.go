package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/patchbay-dev/patchbay/core/admin"
	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/cli/command"
)

func (c *commandLine) userCommand() *cobra.Command {
	return command.Group("user", "Create, list and manage users",
		"Users sign in to the console and call the APIs with API keys. These commands work with or without a running core.",
		c.userCreate(), c.userList(), c.userRole(), c.userDisable(), c.userEnable(), c.userReset())
}

func (c *commandLine) userCreate() *cobra.Command {
	var email, name, role string
	cmd := &cobra.Command{Use: "create", Short: "Create a user and print their API key once", Args: command.NoArgs,
		Long: "Give somebody an account. The API key signs in to the console and to the APIs; Patchbay shows it only now.\n" +
			"The first user becomes an administrator.",
		Example: command.Examples("patchbay user create -email ada@example.com -name Ada",
			"KEY=$(patchbay user create -email ops@example.com -name Ops -role admin)")}
	out := command.AddOutput(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return c.withRecords(cmd.Context(), func(r *admin.Records) error {
			user, key, err := r.Users.Create(command.Acting(cmd), email, name, auth.Role(role))
			if err != nil {
				return err
			}
			if user.Role != auth.Role(role) {
				fmt.Fprintf(c.err, "%s is the first user, and therefore an administrator.\n", user.Email)
			}
			return out.PrintText(c.out, map[string]string{"id": user.ID, "email": user.Email, "role": string(user.Role), "key": key}, key)
		})
	}
	cmd.Flags().StringVar(&email, "email", "", "email address of the user")
	cmd.Flags().StringVar(&name, "name", "", "name of the user")
	cmd.Flags().StringVar(&role, "role", string(auth.Member), "admin or member")
	return cmd
}

func (c *commandLine) userList() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List users", Args: command.NoArgs,
		Long: "See who has an account, with role and state.", Example: command.Examples("patchbay user list", "patchbay user list -json")}
	out := command.AddOutput(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return c.withRecords(cmd.Context(), func(r *admin.Records) error {
			users, err := r.Users.List(cmd.Context())
			if err != nil {
				return err
			}
			items := make([]listedUser, len(users))
			t := command.Table{Columns: []string{"ID", "EMAIL", "NAME", "ROLE", "STATE"}}
			for i, u := range users {
				items[i] = newListedUser(u)
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
	return completeUserChange(c, &cobra.Command{Use: "disable EMAIL", Short: "Disable a user", Args: command.Exactly(1),
		Long:    "Lock an account: its sessions end and its API keys stop working. Patchbay deletes nothing.",
		Example: command.Examples("patchbay user disable ada@example.com", "patchbay user disable ada@example.com -json")},
		func(cmd *cobra.Command, r *admin.Records, args []string) error {
			return r.Users.Disable(command.Acting(cmd), args[0])
		})
}

func (c *commandLine) userEnable() *cobra.Command {
	no := false
	return completeUserChange(c, &cobra.Command{Use: "enable EMAIL", Short: "Enable a disabled user", Args: command.Exactly(1),
		Long:    "Unlock an account. The user signs in with the same passkeys and API keys as before.",
		Example: command.Examples("patchbay user enable ada@example.com", "patchbay user enable ada@example.com -json")},
		func(cmd *cobra.Command, r *admin.Records, args []string) error {
			return changeUser(cmd, r, args[0], auth.UserChange{Disabled: &no})
		})
}

func (c *commandLine) userRole() *cobra.Command {
	return completeUserChange(c, &cobra.Command{Use: "role EMAIL admin|member", Short: "Change the role of a user", Args: command.Exactly(2),
		Long:    "Administrators manage users, tokens, domains and plugins; members use the services.",
		Example: command.Examples("patchbay user role ada@example.com admin", "patchbay user role ada@example.com member -json")},
		func(cmd *cobra.Command, r *admin.Records, args []string) error {
			role := auth.Role(args[1])
			return changeUser(cmd, r, args[0], auth.UserChange{Role: &role})
		})
}

// completeUserChange completes a command that changes the user of the email address in its first argument. It prints the user as JSON if
// asked.
func completeUserChange(c *commandLine, cmd *cobra.Command, change func(*cobra.Command, *admin.Records, []string) error) *cobra.Command {
	out := command.AddOutput(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return c.withRecords(cmd.Context(), func(r *admin.Records) error {
			if err := change(cmd, r, args); err != nil {
				return err
			}
			user, err := r.Users.ByEmail(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return out.PrintText(c.out, newListedUser(user), "")
		})
	}
	return cmd
}

// changeUser changes the user of an email address.
func changeUser(cmd *cobra.Command, r *admin.Records, email string, change auth.UserChange) error {
	user, err := r.Users.ByEmail(cmd.Context(), email)
	if err == nil {
		_, err = r.Users.Change(command.Acting(cmd), user.ID, change)
	}
	return err
}

// listedUser is a user as commands print it as JSON.
type listedUser struct {
	ID       string `json:"id"`
	Email    string `json:"email"`
	Name     string `json:"name"`
	Role     string `json:"role"`
	Disabled bool   `json:"disabled"`
}

func newListedUser(u auth.User) listedUser {
	return listedUser{u.ID, u.Email, u.Name, string(u.Role), u.Disabled}
}

func (c *commandLine) userReset() *cobra.Command {
	var link bool
	cmd := &cobra.Command{Use: "reset EMAIL",
		Short: "Give a user a new API key or set-up link", Args: command.Exactly(1),
		Long:    "Help somebody who lost every passkey and key. All their keys, passkeys and sessions end; Patchbay prints the new key or link.",
		Example: command.Examples("patchbay user reset ada@example.com", "patchbay user reset ada@example.com -link")}
	out := command.AddOutput(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return c.withRecords(cmd.Context(), func(r *admin.Records) error {
			reset, member := r.Users.Reset, "key"
			if link {
				reset, member = r.ResetLink, "link"
			}
			text, err := reset(command.Acting(cmd), args[0])
			if err != nil {
				return err
			}
			return out.PrintText(c.out, map[string]string{"email": args[0], member: text}, text)
		})
	}
	cmd.Flags().BoolVar(&link, "link", false, "print a set-up link instead; it works once, for a day, and registers a passkey")
	return cmd
}
