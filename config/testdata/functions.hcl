search "local" "docs" {
  config {
    folders = [
      env("NOT_SET"),
      env("A", "b", "c"),
      env(),
      file("files/missing.txt"),
      secret_file("files"),
      secretfile("files/token"),
      lower(),
      format("%d", "x"),
    ]
  }
}
