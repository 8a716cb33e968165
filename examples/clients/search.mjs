// node search.mjs QUESTION: prints title, address, score and passage of each result.
import { argument, client } from "./client.mjs";

const answer = await client.search(argument("How do plugins restart?"), { maxResults: 3 });

for (const { title, url, score, content } of answer.results) {
  console.log(`${title}\n${url} (${score.toFixed(2)})\n${content}\n`);
}
