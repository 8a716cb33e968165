storage "sqlite" { path = "data/p.sqlite3" }
dns "manual" "main" {}
service "mail" {
  base_url = "/mail"
  dns = dns.main
  domains = ["mail.localhost"]
  smtp { listen = "127.0.0.1:35459" }
}
