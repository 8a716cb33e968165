// node map.mjs ADDRESS: prints the addresses of a site's pages.
import { argument, client } from "./client.mjs";

const { baseUrl, results } = await client.map(argument("https://example.org"), { limit: 10 });

console.log(`${results.length} pages below ${baseUrl}`);
for (const url of results) {
  console.log(url);
}
