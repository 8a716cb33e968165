import { TavilySearch } from "@langchain/tavily";

const tool = new TavilySearch({ tavilyApiKey: process.env.TOKEN, apiBaseUrl: "{url}/api/proxy", maxResults: 3 });
const answer = await tool.invoke({ query: "patch bay" });
console.log(JSON.stringify(answer.results.map((r) => r.url)));
