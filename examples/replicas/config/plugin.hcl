# Patchbay on several cores: each reads this file. Change it for all of them and have each read it again; the console does not write it.

# SVC_DATABASE_URL names the database, SVC_REPLICAS lets several cores use it.
storage "postgres" {
  # The image FROM scratch has no pg_dump: make a copy before an upgrade, beside the server.
  migration_copy = false
}

# Add its keys on the page /search/keys.
search "tavily" "web" {}

service "search" {
  base_url = "/search"
  backend  = search.web
}

dns "manual" "main" {}

service "mail" {
  base_url = "/mail"
  dns      = dns.main
  domains  = ["mail.localhost"]

  smtp {
    listen = "0.0.0.0:2525"
    # nginx says who sends.
    proxy_protocol = ["172.30.80.0/24"]
  }
}

codehost "github" "hub" {}

service "releases" {
  base_url  = "/releases"
  codehosts = [codehost.hub]
}
