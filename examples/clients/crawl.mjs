// node crawl.mjs ADDRESS: prints the beginning of each page of a site.
import { argument, client } from "./client.mjs";

const { results } = await client.crawl(argument("https://example.org"), { limit: 10, maxDepth: 1 });

for (const { url, rawContent } of results) {
  console.log(`${url}\n${rawContent.slice(0, 200)}\n`);
}
