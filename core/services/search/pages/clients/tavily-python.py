import os
from tavily import TavilyClient

client = TavilyClient(api_key=os.environ["TOKEN"], api_base_url="{url}/api/proxy")
print([r["url"] for r in client.search("patch bay", max_results=3)["results"]])
