storage "sqlite" {}
storage "postgres" {}
