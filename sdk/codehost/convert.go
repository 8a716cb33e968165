package codehost

import (
	"time"

	codehostv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/codehost/v1"
	sharedv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/shared/v1"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

func secretToProto(s schema.Secret) *sharedv1.Secret {
	if s == "" {
		return nil
	}
	return &sharedv1.Secret{Value: []byte(s.Reveal())}
}

func secretFrom(p *sharedv1.Secret) schema.Secret { return schema.Secret(p.GetValue()) }

func (r *Resolution) toProto() *codehostv1.ResolveResponse {
	out := &codehostv1.ResolveResponse{Kind: r.Kind, Owner: r.Owner, Warnings: r.Warnings}
	for _, repo := range r.Repos {
		p := &codehostv1.Repo{FullName: repo.FullName, Visibility: repo.Visibility}
		if !repo.LastActivity.IsZero() {
			p.LastActivityUnixMs = repo.LastActivity.UnixMilli()
		}
		out.Repos = append(out.Repos, p)
	}
	return out
}

func resolutionFrom(p *codehostv1.ResolveResponse) *Resolution {
	out := &Resolution{Kind: p.GetKind(), Owner: p.GetOwner(), Warnings: p.GetWarnings()}
	for _, r := range p.GetRepos() {
		repo := Repo{FullName: r.GetFullName(), Visibility: r.GetVisibility()}
		if ms := r.GetLastActivityUnixMs(); ms != 0 {
			repo.LastActivity = time.UnixMilli(ms).UTC()
		}
		out.Repos = append(out.Repos, repo)
	}
	return out
}

func (h *Hook) toProto() *codehostv1.Hook {
	return &codehostv1.Hook{Id: h.ID, Url: h.URL, Events: h.Events, Active: h.Active, ContentType: h.ContentType}
}

func hookFrom(p *codehostv1.Hook) *Hook {
	return &Hook{ID: p.GetId(), URL: p.GetUrl(), Events: p.GetEvents(), Active: p.GetActive(), ContentType: p.GetContentType()}
}

func (s *HookSpec) toProto() *codehostv1.HookSpec {
	return &codehostv1.HookSpec{Url: s.URL, Secret: secretToProto(s.Secret), Events: s.Events, Active: s.Active}
}

func specFrom(p *codehostv1.HookSpec) HookSpec {
	return HookSpec{URL: p.GetUrl(), Secret: secretFrom(p.GetSecret()), Events: p.GetEvents(), Active: p.GetActive()}
}

func deliveryFrom(p *codehostv1.ParseWebhookRequest) Delivery {
	return Delivery{Event: p.GetEvent(), Signature: p.GetSignature(), Body: p.GetBody(), Secret: secretFrom(p.GetSecret())}
}

func (w *Webhook) toProto() *codehostv1.ParseWebhookResponse {
	return &codehostv1.ParseWebhookResponse{
		Event: w.Event, Action: w.Action, Owner: w.Owner, FullName: w.FullName,
		Package: w.Package, PackageType: w.PackageType, Tags: w.Tags, Digest: w.Digest,
	}
}

func webhookFrom(p *codehostv1.ParseWebhookResponse) *Webhook {
	return &Webhook{
		Event: p.GetEvent(), Action: p.GetAction(), Owner: p.GetOwner(), FullName: p.GetFullName(),
		Package: p.GetPackage(), PackageType: p.GetPackageType(), Tags: p.GetTags(), Digest: p.GetDigest(),
	}
}
