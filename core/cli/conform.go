package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/patchbay-dev/patchbay/core/admin"
	"github.com/patchbay-dev/patchbay/core/cli/command"
	"github.com/patchbay-dev/patchbay/core/scaffold"
	"github.com/patchbay-dev/patchbay/sdk/kinds"
)

func (c *commandLine) pluginTest() *cobra.Command {
	var settings, credential, message string
	var samples []string
	var out *command.Output
	cmd := &cobra.Command{
		Use: "test BINARY [ARGUMENT…]", Short: "Run the conformance suite against the binary of a plugin",
		Long: "Check that your plugin keeps the contract of its kind, before you publish it. The exit status is 1 if a check fails.\n" +
			"Flags must come before BINARY; what follows it goes to the plugin.",
		Example: command.Examples("patchbay plugin test -settings config.json ./dns-acme",
			`patchbay plugin test -send "Hello" -settings chat.json ./notify-acme`),
		Args: cobra.ArbitraryArgs, RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return command.Mistake{Err: errors.New("name the binary of the plugin; see --help")}
			}
			conf := admin.Conformance{
				Path: args[0], Args: args[1:], Send: message, Stderr: c.err,
				Use: kinds.Use{Credential: os.Getenv(credential), Samples: map[string]string{}},
			}
			for _, s := range samples {
				op, body, ok := strings.Cut(s, "=")
				if !ok {
					return command.Mistake{Err: fmt.Errorf("-sample %q is not OPERATION=JSON", s)}
				}
				conf.Samples[op] = body
			}
			var err error
			if conf.Settings, err = admin.ReadSettings(settings); err != nil {
				return command.Mistake{Err: fmt.Errorf("read the settings: %w", err)}
			}
			if conf.BaseDir, err = filepath.Abs(filepath.Dir(settings)); err != nil {
				return err
			}
			text, err := admin.TestPlugin(cmd.Context(), conf)
			body := map[string]any{"passed": err == nil, "report": strings.Split(strings.TrimSpace(text), "\n")}
			if printed := out.PrintText(c.out, body, strings.TrimSuffix(text, "\n")); printed != nil {
				return printed
			}
			if err != nil && text != "" && !errors.Is(err, admin.ErrPluginCrashed) {
				return errors.New("the plugin does not conform")
			}
			return err
		},
	}
	out = command.AddOutput(cmd)
	cmd.Flags().SetInterspersed(false)
	cmd.Flags().StringVar(&settings, "settings", "", "file with the config block as JSON; relative paths start at its directory")
	cmd.Flags().StringArrayVar(&samples, "sample", nil,
		"a call that the plugin must answer, as OPERATION=JSON (target=JSON for notify); repeatable")
	cmd.Flags().StringVar(&message, "send", "",
		"send one message with this text instead of running the suite (notify only)")
	cmd.Flags().StringVar(&credential, "credential-env", "", "environment variable with a key, for plugins that need one")
	return cmd
}

func (c *commandLine) pluginNew() *cobra.Command {
	var p scaffold.Plugin
	cmd := &cobra.Command{
		Use: "new KIND NAME", Short: "Create the module of a new plugin", Args: command.Exactly(2),
		Long:    "Start a plugin from code that builds and passes the conformance suite.",
		Example: command.Examples("patchbay plugin new dns acme", "patchbay plugin new notify acme -language python -dir plugins/acme"),
	}
	out := command.AddOutput(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		p.Kind, p.Name = args[0], args[1]
		if p.Dir == "" {
			p.Dir = p.Name
		}
		files, err := p.Write()
		if err != nil {
			return command.Mistake{Err: err}
		}
		for i, f := range files {
			files[i] = filepath.Join(p.Dir, f)
		}
		return out.PrintText(c.out, map[string]any{"files": files}, strings.Join(files, "\n"))
	}
	cmd.Flags().StringVar(&p.Dir, "dir", "", "directory to create (default: NAME)")
	cmd.Flags().StringVar(&p.Language, "language", "go", "language of the plugin: "+strings.Join(scaffold.Languages(), ", "))
	cmd.Flags().StringVar(&p.SDK, "sdk", "", "directory of a local copy of the SDK")
	cmd.Flags().StringVar(&p.Module, "module", "", "module path (default: example.com/NAME)")
	return cmd
}
