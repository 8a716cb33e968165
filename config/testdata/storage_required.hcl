storage "postgres" {}
