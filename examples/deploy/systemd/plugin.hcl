# Patchbay's configuration. Check it with "patchbay config check -config /etc/patchbay/plugin.hcl", and put changes into use with
# "systemctl reload patchbay". It runs as it is, without an account anywhere: search answers from the documents of Patchbay, and
# mail to …@mail.localhost arrives on this machine.

core {
  data_dir   = "/var/lib/patchbay"
  socket_dir = "/run/patchbay"
}

storage "sqlite" {}

# A search backend that indexes files on this machine, and web sites if some are named.
search "local" "docs" {
  config {
    folders = ["/usr/share/doc/patchbay"]
  }
}

service "search" {
  base_url = "/search"
  backend  = search.docs
}

# The DNS provider of the mail domains. This one needs no account: it names the records to set, and looks for them.
dns "manual" "main" {}

service "mail" {
  base_url = "/mail"
  dns      = dns.main
  domains  = ["mail.localhost"]

  smtp {
    listen = "127.0.0.1:2525"
  }
}

# The releases of repositories as one feed. Nothing is read before somebody saves a token of the code host, follows a repository,
# or some are named here for everybody.
codehost "github" "hub" {}

service "releases" {
  base_url  = "/releases"
  codehosts = [codehost.hub]
  repos     = [] # such as ["golang/go", "gin-gonic/gin"]
}

# Keep the compose projects of this host up to date: uncomment, and give the unit the engine's socket as
# /usr/share/doc/patchbay/examples/docker.conf shows.
# registry "oci" "default" {}
# engine "docker" "local" {}
# service "containers" {
#   engine     = engine.local
#   registries = registry.default
# }
