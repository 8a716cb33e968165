service "search" { backend = search.docs }
service "mail" { notify = notify.ops }
