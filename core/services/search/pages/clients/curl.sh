curl -s "{url}/api/proxy/search" \
  -H "Authorization: Bearer $TOKEN" \
  -H "Content-Type: application/json" \
  -d '{"query": "patch bay", "max_results": 3}'
