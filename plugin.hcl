# Patchbay's configuration. Check it with "patchbay config check", see what is in effect with "patchbay config show".
# It runs as it is, without an account anywhere: search answers from the documents of this folder, and mail to
# …@mail.localhost arrives on this machine.

storage "sqlite" {
  path = "data/patchbay.sqlite3"
}

# A search backend that indexes files on this machine, and web sites if some are named.
search "local" "docs" {
  config {
    folders = ["core/docs", "sdk/docs"]
    # sites = ["https://docs.example.org/guide/"] # pages below that folder; visited again every day, see "refresh"
  }
}

# A web search API instead: uncomment, add keys with "patchbay key add", and set backend = search.web below, or
# backend = [search.web, search.docs], so that the documents answer while the web cannot.
# search "tavily" "web" {}

# Or the web through a SearXNG server of your own, without an account (its settings.yml lists json under search.formats):
# search "searxng" "meta" {
#   config {
#     base_url = "http://127.0.0.1:8888"
#   }
# }

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

# The releases of repositories as one feed. Nothing is read before somebody saves a token of the code host under
# http://localhost:50883/releases/settings, or follows a repository, or some are named here for everybody.
codehost "github" "hub" {}

service "releases" {
  base_url  = "/releases"
  codehosts = [codehost.hub]
  repos     = [] # such as ["golang/go", "gin-gonic/gin"]
}

# Keep the compose projects of this host up to date: uncomment, and open http://localhost:50883/stacks
# registry "oci" "default" {}
# engine "docker" "local" {}
# notify "telegram" "chat" {} # recipients are set on the page /notifications
# notify "email" "mail" {}
# notify "webpush" "push" {}
# service "containers" {
#   engine     = engine.local
#   registries = registry.default
#   notify     = [notify.chat, notify.mail, notify.push]
# }
