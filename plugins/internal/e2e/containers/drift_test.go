package containers

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// richProject uses whatever of compose is compared before an update.
const richProject = `version: "3.7"
services:
  web:
    image: "%s"
    command: ["/app"]
    user: "0"
    stop_grace_period: 1s
    restart: unless-stopped
    env_file: [web.env]
    environment:
      SPACED: "a b"
      DOLLAR: "$$HOME"
      PASSWORD: "${DB_PASSWORD}"
    labels: {traefik.enable: "true"}
    ports: ["127.0.0.1::80", "9999"]
    volumes: ["data:/data", "./conf:/etc/conf:ro", "/scratch"]
    tmpfs: /run
    networks: [front, default]
    cap_add: [NET_ADMIN]
    secrets: [key]
volumes: {data: {}}
networks: {front: {}}
secrets: {key: {file: ./key}}
`

// TestContainersDrift: a project that runs as its files say is updated without a question, one that would lose a value is
// refused, and an edit that nobody has applied needs consent.
func TestContainersDrift(t *testing.T) {
	t.Parallel()
	for _, bin := range dockertest.Compose(t) {
		t.Run(bin.Name, func(t *testing.T) {
			t.Parallel()
			a := &kit.App{Reg: dockertest.Registry(t, dockertest.RegistryOptions{}), Repo: "demo/" + dockertest.Name(t)}
			dockertest.App(t, a.Reg, a.Repo, "1", dockertest.Behaviour{Version: "1"})
			text := fmt.Sprintf(richProject, a.Reg.Host+"/"+a.Repo+":1")
			a.Dir = dockertest.Project(t, map[string]string{
				"docker-compose.yml": text, ".env": "DB_PASSWORD=geheim\n", "web.env": "# variables\nFROM_FILE=x=y\nQUOTED=plain\n", "conf/x": "",
				"key": "k",
			})
			a.Project = filepath.Base(a.Dir)
			dockertest.Up(t, bin, a.Dir, "up", "-d")
			write := func(name, content string) {
				t.Helper()
				if err := os.WriteFile(filepath.Join(a.Dir, name), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			c := kit.StartCore(t, kit.ContainersHCL(bin.Path, ""))
			web := c.StackNamed(t, a.Project).Service(t, "web")
			a.Push(t, dockertest.Behaviour{Version: "2"})
			web = c.Check(t, web.ID)
			refused := func(reason string) string {
				t.Helper()
				got := c.API(t, http.MethodPost, "/api/updates", kit.UpdateBody(web, ""), http.StatusConflict)
				if !strings.Contains(got.Body, `"`+reason+`"`) || strings.Contains(got.Body, "geheim") {
					t.Errorf("want %s: %s", reason, got.Body)
				}
				return got.Body
			}

			write(".env", "")
			if body := refused("unresolved_variables"); !strings.Contains(body, "DB_PASSWORD") {
				t.Errorf("the variable is not named: %s", body)
			}
			write(".env", "DB_PASSWORD=geheim\n")
			write("docker-compose.yml", strings.Replace(text, "SPACED:", "EDITED: \"1\"\n      SPACED:", 1))
			if body := refused("drift"); !strings.Contains(body, "EDITED") || strings.Contains(body, "SPACED") {
				t.Errorf("the edit is not told: %s", body)
			}
			write("docker-compose.yml", text)
			c.Finished(t, c.BeginJob(t, "/api/updates", kit.UpdateBody(web, "")), "success")

			write("docker-compose.yml", strings.Replace(text, "SPACED:", "EDITED: \"1\"\n      SPACED:", 1))
			a.Push(t, dockertest.Behaviour{Version: "3"})
			web = c.Check(t, web.ID)
			c.Finished(t, c.BeginJob(t, "/api/updates", kit.UpdateBody(web, `,"allowDrift":true`)), "success")
			env := dockertest.Docker(t, "inspect", "-f", "{{.Config.Env}}", dockertest.FindContainer(t, a.Dir, "web"))
			if !strings.Contains(env, "EDITED=1") || !strings.Contains(env, "PASSWORD=geheim") {
				t.Errorf("the environment is %s", env)
			}
			c.Finished(t, c.BeginJob(t, "/api/services/"+web.ID+"/rollback", ""), "success")
		})
	}
}
