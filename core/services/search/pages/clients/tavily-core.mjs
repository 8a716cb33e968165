import { tavily } from "@tavily/core";

const client = tavily({ apiKey: process.env.TOKEN, apiBaseURL: "{url}/api/proxy" });
const answer = await client.search("patch bay", { maxResults: 3 });
console.log(JSON.stringify(answer.results.map((r) => r.url)));
