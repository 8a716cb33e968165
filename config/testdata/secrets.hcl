core {
  secret_key = "SECRET-literal"
}
search "remote" "a" {
  config {
    token    = "SECRET-a" # SECRET-comment
    base_ulr = "SECRET-unknown-attribute"
    tokn     = <<-EOT
      SECRET-heredoc
    EOT
    header "h" { value = ["SECRET-list"] }
    limit = "not-a-number"
  }
}
search "remote" "b" {
  config {
    token = SECRET
  }
}
search "remote" "c" {
  config { token = "${env("NOT_SET")}SECRET-c" }
}
search "remote" "rejected" {
  config {
    token = "SECRET-rejected"
    feed { url = "https://one.example.com" }
    feed { url = "http://two.example.com" }
    header "x" { value = secret_file("files/token") }
  }
}
