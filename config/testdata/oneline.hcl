service "search" { base_url = "/search" backend = search.docs }
