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
	cmd := &cobra.Command{
		Use: "test BINARY [ARGUMENT…]", Short: "Run the conformance suite against a plugin's binary: exit status 1 if a check fails",
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
			fmt.Fprint(c.out, text)
			if err != nil && text != "" && !errors.Is(err, admin.ErrPluginCrashed) {
				return errors.New("the plugin does not conform")
			}
			return err
		},
	}
	cmd.Flags().SetInterspersed(false)
	cmd.Flags().StringVar(&settings, "settings", "", "file with the config block as JSON; relative paths in it start at its directory")
	cmd.Flags().StringArrayVar(&samples, "sample", nil,
		"a call that the plugin must answer, as OPERATION=JSON, or target=JSON for the kind notify; may be given more than once")
	cmd.Flags().StringVar(&message, "send", "",
		"send one message with this text instead of running the suite, with a plugin of the kind notify")
	cmd.Flags().StringVar(&credential, "credential-env", "", "environment variable with a key, for a plugin that needs one")
	return cmd
}

func (c *commandLine) pluginNew() *cobra.Command {
	var p scaffold.Plugin
	cmd := &cobra.Command{
		Use: "new KIND NAME", Short: "Make the module of a new plugin: it builds and passes its conformance suite", Args: command.Exactly(2),
		RunE: func(_ *cobra.Command, args []string) error {
			p.Kind, p.Name = args[0], args[1]
			if p.Dir == "" {
				p.Dir = p.Name
			}
			files, err := p.Write()
			if err != nil {
				return command.Mistake{Err: err}
			}
			for _, f := range files {
				fmt.Fprintln(c.out, filepath.Join(p.Dir, f))
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&p.Dir, "dir", "", "directory to make (default: the name)")
	cmd.Flags().StringVar(&p.Language, "language", "go", "language of the plugin: "+strings.Join(scaffold.Languages(), ", "))
	cmd.Flags().StringVar(&p.SDK, "sdk", "", "directory of a local SDK")
	cmd.Flags().StringVar(&p.Module, "module", "", "module path (default: example.com/NAME)")
	return cmd
}
