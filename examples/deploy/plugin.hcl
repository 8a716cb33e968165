# Patchbay in a container: it looks after the compose projects of the host whose engine socket it is given.

storage "sqlite" {
  path = "/data/patchbay.sqlite3"
}

registry "oci" "default" {}

engine "docker" "local" {}

service "containers" {
  base_url   = "/"
  engine     = engine.local
  registries = registry.default
}
