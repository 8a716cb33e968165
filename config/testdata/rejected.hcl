search "local" "rejected" {
  config {
    folders = [
      "README.md",
      "missing",
    ]
    weights = {
      a = "1"
      b = "x"
    }
  }
}
