// node extract.mjs ADDRESS...: prints the readable text of documents, by the addresses that search.mjs prints.
import { argument, client } from "./client.mjs";

const urls = argument("file:README.md").split(" ");
const { results, failedResults } = await client.extract(urls, { format: "markdown" });

for (const { url, rawContent } of results) {
  console.log(`${url}\n${rawContent}\n`);
}
for (const { url, error } of failedResults) {
  console.error(`${url}: ${error}`);
  process.exitCode = 1;
}
