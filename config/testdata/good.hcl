# env OPS_URL=https://hooks.example.com/x
# env SVC_HTTP_ADDR=127.0.0.1:8080
# env SVC_PROXIES=10.0.0.1, 10.0.0.2
# env SVC_LABELS=a=b,c=d
# env SVC_SMTP_ADDR=127.0.0.1:25
# env SVC_GRACE=
# env KEY=SECRET-KEY
storage "sqlite" { path = "data/test.sqlite3" }
core {
  http_addr  = "0.0.0.0:1"
  secret_key = env("KEY")
  workers    = "8"
}
defaults {
  timeout = "1m"
}
plugin "intranet" {
  path = "./bin/intranet"
  args = ["--verbose"]
  env  = ["HTTPS_PROXY"]
}
search "local" "docs" {
  timeout  = "90s"
  required = false
  config {
    folders = ["README.md", join("/", ["core", lower("DOCS")]), trimspace(file("files/plain.txt"))]
    weights = { "a b" = "1", c = 2 }
    ratio   = 0.25
  }
}
search "remote" "main" {
  config {
    base_url = format("https://%s@api.example.com/$${x}", secret_file("files/token"))
    token    = secret_file("files/token")
    feed { url = env("OPS_URL", "none") }
    feed { url = env("UNSET", "https://fallback.example.com") }
    header "x-key" {
      value = env("KEY")
    }
  }
}
search "intranet" "wiki" {}
notify "webhook" "on-call" { concurrency = 2 }
service "search" {
  base_url = "https://search.example.com"
  backend  = search.docs
}
service "mail" {
  base_url = "/"
  notify   = [notify.on-call]
}
