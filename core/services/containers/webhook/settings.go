package webhook

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// settingHooks is the name of the integration's settings.
const settingHooks = "host_packages"

const (
	// CallbackPath is what a callback URL ends in.
	CallbackPath = "/api/webhooks/host-packages"
	// SecretLength is that of the secret which deliveries are signed with.
	SecretLength = 48
	// Masked stands for a secret that is set.
	Masked = "******"
)

// storedHooks are the settings as they are stored; PAT and Secret are sealed.
type storedHooks struct {
	Enabled     bool   `json:"enabled"`
	CallbackURL string `json:"callbackUrl"`
	PAT         string `json:"pat,omitempty"`
	Secret      string `json:"secret,omitempty"`
}

// HookSettings are the integration's settings as the API shows them.
type HookSettings struct {
	Enabled       bool         `json:"enabled"`
	CallbackURL   string       `json:"callbackUrl" example:"https://patchbay.example.com/api/webhooks/host-packages"`
	Targets       []HookTarget `json:"targets"`
	ReposTotal    int64        `json:"reposTotal"`
	ReposSelected int64        `json:"reposSelectedTotal"`
	PATMasked     string       `json:"patMasked,omitempty" doc:"Left out while no token is set." example:"******"`
	SecretMasked  string       `json:"secretMasked,omitempty" doc:"Left out before the settings are first stored, which makes the secret." example:"******"`
}

// HookChange is a change of the settings. Members that are left out stay as they are.
type HookChange struct {
	Enabled     bool            `json:"enabled"`
	CallbackURL string          `json:"callbackUrl" maxLength:"1000" doc:"https, ending in /api/webhooks/host-packages; http for this machine alone. May be empty while the integration is off." example:"https://patchbay.example.com/api/webhooks/host-packages"`
	Targets     *[]HookInput    `json:"targets" required:"false" maxItems:"200" doc:"All inputs that are to be tracked."`
	Repos       *[]RepoSelected `json:"repos" required:"false" maxItems:"2000" doc:"Repositories to select or not; others stay as they are."`
	PAT         string          `json:"pat" required:"false" maxLength:"1000" doc:"The code host's access token. Empty or masked keeps the stored one."`
}

// HookInput names a repository or an owner.
type HookInput struct {
	Input string `json:"input" maxLength:"500" doc:"owner/repo, the address of a repository or of an owner, or an owner's name." example:"ann/blog"`
}

// RepoSelected says whether a repository's webhook is kept.
type RepoSelected struct {
	FullName string `json:"fullName" maxLength:"300" example:"ann/blog"`
	Selected bool   `json:"selected"`
}

func (w *Webhooks) storedHooks(ctx context.Context) (out storedHooks, err error) {
	if _, err = w.store.ReadSetting(ctx, settingHooks, &out); err != nil {
		return out, fmt.Errorf("read the settings of webhooks: %w", err)
	}
	return out, nil
}

// hookConfig reads the settings with their secrets.
func (w *Webhooks) hookConfig(ctx context.Context) (secrets, error) {
	stored, err := w.storedHooks(ctx)
	if err != nil {
		return secrets{}, err
	}
	out := secrets{Enabled: stored.Enabled, CallbackURL: stored.CallbackURL}
	if out.PAT, err = w.openHook(stored.PAT, "pat"); err != nil {
		return secrets{}, fmt.Errorf("open the code host's token: %w", err)
	}
	if out.Secret, err = w.openHook(stored.Secret, "secret"); err != nil {
		return secrets{}, fmt.Errorf("open the webhooks' secret: %w", err)
	}
	return out, nil
}

func (w *Webhooks) openHook(sealed, column string) (schema.Secret, error) {
	if sealed == "" {
		return "", nil
	}
	plain, err := w.cfg.Keyring.Open(sealed, "containers_settings", settingHooks, column)
	return schema.Secret(plain), err
}

func (w *Webhooks) sealHook(plain, column string) string {
	return w.cfg.Keyring.Seal([]byte(plain), "containers_settings", settingHooks, column)
}

// HookSettings reads the settings of package webhooks. Secrets are masked.
func (w *Webhooks) HookSettings(ctx context.Context) (HookSettings, error) {
	stored, err := w.storedHooks(ctx)
	if err != nil {
		return HookSettings{}, err
	}
	out := HookSettings{Enabled: stored.Enabled, CallbackURL: stored.CallbackURL, Targets: []HookTarget{}}
	if stored.PAT != "" {
		out.PATMasked = Masked
	}
	if stored.Secret != "" {
		out.SecretMasked = Masked
	}
	targets, err := w.store.hookTargets(ctx)
	if err != nil {
		return out, fmt.Errorf("read the targets: %w", err)
	}
	for i := range targets {
		out.Targets = append(out.Targets, targets[i].toTarget())
	}
	if out.ReposTotal, out.ReposSelected, err = w.store.countRepos(ctx); err != nil {
		return out, fmt.Errorf("count the repositories: %w", err)
	}
	return out, nil
}

// checkCallback makes sure that a code host can reach an address, as far as its text tells.
func checkCallback(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || len(text) > 1000 {
		return record.InvalidField("callbackUrl", "The callback URL must be an absolute https URL that ends in %s.", CallbackPath)
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !httpd.IsLoopbackHost(u.Hostname())) {
		return record.InvalidField("callbackUrl", "The callback URL must begin with https://.")
	}
	if !strings.HasSuffix(u.Path, CallbackPath) {
		return record.InvalidField("callbackUrl", "The callback URL must end in %s.", CallbackPath)
	}
	return nil
}

// selection is a repository with what it is to be.
type selection struct {
	name, full string
	selected   bool
}

// checkSelections checks a list of repositories and returns it without repetitions. The last entry of a repository counts.
func checkSelections(list *[]RepoSelected) ([]selection, error) {
	if list == nil {
		return nil, nil
	}
	var out []selection
	for _, r := range *list {
		name, err := repoName(r.FullName)
		if err != nil {
			return nil, err
		}
		out = slices.DeleteFunc(out, func(s selection) bool { return s.name == name })
		out = append(out, selection{name, strings.TrimSpace(r.FullName), r.Selected})
	}
	return out, nil
}

// Setup is what the integration has, and lacks, to work.
type Setup struct {
	Enabled     bool
	CallbackURL string
	// Selected is the number of selected repositories, unless Uncounted is an error.
	Selected  int64
	Uncounted error
	// Lacks names what is missing.
	Lacks []string
}

// Setup returns what the integration has and lacks.
func (w *Webhooks) Setup(ctx context.Context) (Setup, error) {
	cfg, err := w.hookConfig(ctx)
	if err != nil || !cfg.Enabled {
		return Setup{}, err
	}
	out := Setup{Enabled: true, CallbackURL: cfg.CallbackURL}
	_, out.Selected, out.Uncounted = w.store.countRepos(ctx)
	for _, c := range []struct {
		lacks bool
		text  string
	}{
		{w.cfg.CodeHost() == nil, "codehost in plugin.hcl"}, {cfg.PAT == "", "an access token"},
		{checkCallback(cfg.CallbackURL) != nil, "a callback URL that the code host reaches"},
		{cfg.Secret == "", "the secret, which storing the settings makes"}, {out.Selected == 0, "a selected repository"},
	} {
		if c.lacks {
			out.Lacks = append(out.Lacks, c.text)
		}
	}
	return out, nil
}
