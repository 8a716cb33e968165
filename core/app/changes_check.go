package app

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/config"
	"github.com/patchbay-dev/patchbay/core/console"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/settings"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Propose implements console.Configurator.
func (p *providers) Propose(ctx context.Context, user string, asked console.Proposal) (console.Change, error) {
	a := p.app
	reader := formReader{set: a.set, secrets: map[string][]byte{}}
	if c, err := a.changes.find(user, asked.Draft, time.Now()); err == nil {
		reader.earlier = earlierSecrets(c)
	}
	proposal, err := p.readProposal(ctx, &reader, asked)
	if err != nil {
		return console.Change{}, err
	}
	a.reload.Lock()
	defer a.reload.Unlock()
	if a.draining {
		return console.Change{}, fault.New(fault.NotReady, "The core is stopping.")
	}
	c := change{user: user, proposal: proposal, until: time.Now().Add(changeFor)}
	c.Change = console.Change{ID: secret.RandomString(24, secret.Alphanumeric), Proposal: asked, About: proposal.String(),
		Findings: reader.findings, State: console.ChangeRejected, At: time.Now()}
	if len(reader.findings) == 0 {
		if err := a.checkChange(ctx, &c); err != nil {
			return console.Change{}, err
		}
	}
	// The texts of secrets are kept with the change alone.
	for i, v := range c.Proposal.Values {
		if v.Source == console.FromFile {
			c.Proposal.Values[i].Text = ""
		}
	}
	a.changes.add(c, time.Now())
	return c.Change, nil
}

// readProposal returns what a form asks for as a change of the file.
func (p *providers) readProposal(ctx context.Context, reader *formReader, asked console.Proposal) (out settings.Proposal, err error) {
	out.Remove = asked.Remove
	for _, u := range asked.Uses {
		if u.Required && len(u.Refs) == 0 {
			reader.refuse("use."+u.Service+"."+u.Attribute, "change.required")
		}
		out.Uses = append(out.Uses, settings.UseProposal{Service: u.Service, Attribute: u.Attribute, Refs: u.Refs})
	}
	switch {
	case asked.Add != "":
		choice, err := p.choice(ctx, asked.Add)
		if err != nil {
			return out, err
		}
		reader.ref = choice.Kind + "." + asked.Name
		switch {
		case !config.IsName(asked.Name):
			reader.refuse("name", "change.bad_name")
		case slices.ContainsFunc(p.file.Instances, func(in *config.Instance) bool { return in.Ref() == reader.ref }):
			reader.refuse("name", "change.name_taken")
		default:
			out.Add = &settings.InstanceProposal{Kind: choice.Kind, Plugin: choice.Plugin, Name: asked.Name}
		}
		values := reader.readSettings(choice, asked.Values, true)
		if out.Add != nil {
			out.Add.Settings = values
		}
	case asked.Set != "":
		choice, _, err := p.Settings(ctx, asked.Set)
		if err != nil {
			return out, err
		}
		_, name, _ := strings.Cut(asked.Set, ".")
		reader.ref = asked.Set
		out.Set = &settings.InstanceProposal{Kind: choice.Kind, Plugin: choice.Plugin, Name: name,
			Settings: reader.readSettings(choice, asked.Values, false)}
	}
	out.Secrets = reader.secrets
	return out, nil
}

// checkChange checks a change as "patchbay config check" checks a file, with the plugins that run. The caller holds App.reload.
func (a *App) checkChange(ctx context.Context, c *change) error {
	base, err := config.ReadSnapshot(a.cfg.Path)
	if err != nil {
		return fault.Wrap(err, fault.Conflict, "plugin.hcl cannot be read at the moment.")
	}
	c.base, c.Pending = base.Digest(), base.Digest() != a.set.File.Digest()
	if c.text, err = c.proposal.Edit(base.Path, base.Text); err != nil {
		return notEditable(err)
	}
	src, err := a.cfg.configSource().With(c.text, c.proposal)
	if err != nil {
		return err
	}
	set, res, diags, err := src.Load(ctx)
	if err != nil {
		return fault.Wrap(err, fault.Conflict, "The change cannot be checked: %v", err)
	}
	if set != nil && !diags.HasErrors() {
		a.learnSecrets(set, res)
		plan := set.Plan(ctx, a.catalog, res)
		plan.Close()
		diags = append(append(diags, set.CheckMachine()...), plan.Diags...)
		if err := a.checkSwitches(set); err != nil {
			diags = append(diags, config.ErrorAt(config.Range{File: a.cfg.Path}, "A restart is needed", err.Error())...)
		}
		c.Findings = append(c.Findings, newFindings(set, c.proposal.Instance(), diags)...)
		c.Difference, err = a.differenceTo(set.File, base)
		if err != nil {
			return err
		}
	} else {
		for _, d := range diags {
			c.Findings = append(c.Findings, console.Finding{Text: d.String(), Warning: d.Severity != config.Error})
		}
	}
	if !diags.HasErrors() {
		c.State = console.ChangeChecked
	}
	return nil
}

// newFindings returns diagnostics by the settings of an instance that they are about.
func newFindings(set *settings.Settings, ref string, diags config.Diagnostics) (out []console.Finding) {
	in := set.Instance(ref)
	for _, d := range diags {
		f := console.Finding{Text: d.String(), Warning: d.Severity != config.Error}
		if in != nil {
			if f.Field = set.File.SettingAt(in, d); f.Field != "" {
				f.Text = strings.TrimSuffix(d.Summary+"; "+d.Detail, "; ")
			}
		}
		out = append(out, f)
	}
	return out
}

// differenceTo returns what a checked file changes in the one that stands there.
func (a *App) differenceTo(next *config.File, base *config.Snapshot) (string, error) {
	src := a.cfg.configSource()
	src, err := src.With(base.Text, settings.Proposal{})
	if err != nil {
		return "", err
	}
	former, diags, err := src.Read()
	if err != nil {
		return "", err
	}
	if former == nil {
		return "", fault.New(fault.Conflict, "plugin.hcl cannot be read: %v", diags.Err())
	}
	for _, in := range former.File.Instances {
		// Values of instances that do not run are not shown.
		if running := a.catalog.Instance(in.Ref()); running != nil && running.Plugin == in.Plugin {
			if s, err := schema.FromProto(running.About.GetConfig()); err == nil {
				_, _ = former.File.DecodeInstance(in, s)
			}
		}
	}
	return former.File.Difference(next), nil
}

// Change implements console.Configurator.
func (p *providers) Change(user, id string) (console.Change, error) {
	c, err := p.app.changes.find(user, id, time.Now())
	return c.Change, err
}

// Writing implements console.Configurator.
func (p *providers) Writing() console.Writing {
	out := console.Writing{Path: p.app.cfg.Path}
	now, err := config.ReadSnapshot(p.app.cfg.Path)
	switch {
	case !p.app.inUse.Load().Core.ConsoleWrites:
		out.ReadOnly = "off"
	case p.app.store.Shared():
		out.ReadOnly = "replicas"
	case err != nil:
		out.ReadOnly = string(config.ReadOnlyFile)
	default:
		out.ReadOnly = string(now.ReadOnly())
	}
	return out
}

// References implements console.Configurator.
func (p *providers) References() (out []console.Reference) {
	for _, block := range p.file.Services() {
		kinds := map[string]bool{}
		for _, r := range block.ReferenceAttributes() {
			// Of several spellings of one reference the first counts, unless another is written.
			if !r.IsList && kinds[r.Kind] && len(r.Refs) == 0 {
				continue
			}
			kinds[r.Kind] = true
			out = append(out, console.Reference{Service: block.Name, Attribute: r.Attribute, Kind: r.Kind, Doc: r.Doc, IsList: r.IsList,
				Required: r.Required, Refs: r.Refs})
		}
	}
	return out
}

// Choices implements console.Configurator.
func (p *providers) Choices(ctx context.Context) (out []console.Choice, err error) {
	found, err := p.listPlugins(ctx)
	if err != nil {
		return nil, err
	}
	for _, info := range found {
		for _, k := range info.About.GetKinds() {
			out = append(out, console.Choice{
				Kind: k.GetName(), Plugin: info.Name, Version: info.Version, Summary: info.Summary, Origin: info.Origin,
				Settings: listSettings(k.GetConfig(), ""),
			})
		}
	}
	return out, nil
}

// choice returns the plugin of a kind, kind/name.
func (p *providers) choice(ctx context.Context, name string) (console.Choice, error) {
	all, err := p.Choices(ctx)
	if err != nil {
		return console.Choice{}, err
	}
	for _, c := range all {
		if c.Kind+"/"+c.Plugin == name {
			return c, nil
		}
	}
	return console.Choice{}, fault.New(fault.NotFound, "There is no plugin with this name.")
}

// Settings implements console.Configurator.
func (p *providers) Settings(ctx context.Context, ref string) (console.Choice, map[string]console.Current, error) {
	set, diags, err := p.app.cfg.configSource().Read()
	if err != nil || set == nil {
		return console.Choice{}, nil, fault.Wrap(errors.Join(err, diags.Err()), fault.Conflict,
			"plugin.hcl cannot be read at the moment: run \"patchbay config check\".")
	}
	in := set.Instance(ref)
	if in == nil {
		return console.Choice{}, nil, fault.New(fault.NotFound, "There is no instance with this name in plugin.hcl.")
	}
	choice, err := p.choice(ctx, in.Kind+"/"+in.Plugin)
	if err != nil {
		return choice, nil, err
	}
	s, err := p.findSchema(ctx, in)
	if err != nil {
		return choice, nil, err
	}
	_, _ = set.File.DecodeInstance(in, s)
	current := map[string]console.Current{}
	for name, w := range set.File.Written(in) {
		current[name] = newCurrent(w)
	}
	return choice, current, nil
}

// findSchema returns the schema of the config block of an instance.
func (p *providers) findSchema(ctx context.Context, in *config.Instance) (*schema.Schema, error) {
	found, err := p.listPlugins(ctx)
	if err != nil {
		return nil, err
	}
	for _, info := range found {
		for _, k := range info.About.GetKinds() {
			if k.GetName() == in.Kind && info.Name == in.Plugin {
				return schema.FromProto(k.GetConfig())
			}
		}
	}
	return nil, fault.New(fault.NotFound, "There is no plugin with this name.")
}
