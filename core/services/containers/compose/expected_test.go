package compose_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/core/services/containers/compose"
)

func TestExpect(t *testing.T) {
	dir := write(t, map[string]string{
		".env": "TAG=1\nFROM_DOT=dot\n", "web.env": "A=from the file\nB=$FROM_DOT and more\nC=overridden\n",
		"compose.yaml": `
services:
  web:
    image: nginx:${TAG}
    env_file: [web.env, {path: absent.env, required: false}]
    environment:
      C: "3"
      PASSWORD: "${DB_PASSWORD}"
      URL: "postgres://u:${DB_PASSWORD}@${DB_HOST:-db}/x"
      PASSED_ON:
      FROM_DOT:
      EMPTY: ""
      DOLLAR: "$$HOME"
      INHERITED: "${HOME}"
    command: ["serve", "--token=${TOKEN}"]
    user: "1000"
    volumes: ["data:/data/", "./conf:/etc/conf:ro", "/scratch"]
    tmpfs: /run
    networks: [front, default]
    ports: ["127.0.0.1:8080:80", "${PORT}:81"]
    labels: {traefik.enable: "true"}
    mem_limit: 64m
    cpus: 0.1
    restart: on-failure:3
    secrets: [key]
  vpn:
    image: vpn
    network_mode: host
    deploy: {resources: {limits: {pids: 20, memory: 1m, cpus: "0.5"}}}
volumes: {data: {}}
networks: {front: {name: the-front}}
secrets: {key: {file: ./key}}
`,
	})
	src := compose.Source{Project: "blog", WorkingDir: dir, Files: []string{filepath.Join(dir, "compose.yaml")}}
	if _, err := compose.Expect(t.Context(), src, "none", nil); err == nil {
		t.Error("a service that does not exist is expected")
	}
	got, err := compose.Expect(t.Context(), src, "web", map[string]string{"HOME": "/home/me", "PORT": "82"})
	if err != nil {
		t.Fatal(err)
	}
	want := &compose.Expected{
		Env: map[string][]string{
			"A": {"from the file"}, "B": {"dot and more", "$FROM_DOT and more"}, "C": {"3"}, "PASSWORD": {""}, "URL": {"postgres://u:@db/x"},
			"FROM_DOT": {"dot"}, "EMPTY": {""}, "DOLLAR": {"$HOME"}, "INHERITED": {"/home/me"},
		},
		Unresolved: map[string][]string{"PASSWORD": {"DB_PASSWORD"}, "URL": {"DB_PASSWORD"}, "PASSED_ON": {"PASSED_ON"},
			compose.EntryCommand: {"TOKEN"}},
		Command: []string{"serve", "--token="}, User: "1000",
		Mounts: []compose.Mount{
			{Kind: compose.DockerVolume, Name: "blog_data", Target: "/data"},
			{Kind: compose.BindMount, Source: filepath.Join(dir, "conf"), Target: "/etc/conf", ReadOnly: true},
			{Kind: compose.DockerVolume, Target: "/scratch"},
		},
		Elsewhere: []string{"/run/secrets/key", "/run"}, Networks: []string{"blog_default", "the-front"},
		Ports:  []string{"127.0.0.1:8080:80/tcp", ":82:81/tcp"},
		Labels: map[string]string{"traefik.enable": "true"}, Memory: 64 << 20, NanoCPUs: 100_000_000, Restart: "on-failure:3",
		Settings: map[string]string{"tmpfs": "/run"}, HasEnvFiles: true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for policy, matches := range map[string]bool{"on-failure": true, "no": false} {
		if got.RestartMatches(policy) != matches {
			t.Errorf("the policy %s matches: %v", policy, !matches)
		}
	}
	vpn, err := compose.Expect(t.Context(), src, "vpn", map[string]string{"PORT": "82"})
	if err != nil || vpn.NetworkMode != "host" || len(vpn.Networks) != 0 || len(vpn.Unresolved) != 0 || vpn.OptionalPIDs != 20 ||
		vpn.OptionalMemory != 1<<20 || vpn.OptionalNanoCPUs != 500_000_000 || !vpn.RestartMatches("no") {
		t.Errorf("%+v, %v", vpn, err)
	}
}
