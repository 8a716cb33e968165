# env SVC_DATABASE_URL=postgres://user:SECRET@db/app
storage "postgres" {}
