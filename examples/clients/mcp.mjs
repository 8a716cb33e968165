// node mcp.mjs QUESTION: speaks MCP to the service: lists its tools and calls the one that searches.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { argument } from "./client.mjs";

const { PATCHBAY_URL = "http://localhost:50883/search", PATCHBAY_TOKEN } = process.env;

const mcp = new Client({ name: "patchbay-example", version: "1.0.0" });
const transport = new StreamableHTTPClientTransport(new URL(`${PATCHBAY_URL.replace(/\/+$/, "")}/mcp`), {
  requestInit: { headers: { Authorization: `Bearer ${PATCHBAY_TOKEN}` } },
});
await mcp.connect(transport);

const { tools } = await mcp.listTools();
for (const { name, title } of tools) {
  console.log(`${name}: ${title}`);
}

// What the tools are called depends on the backend: "search" for some, with a prefix for others.
const { name } = tools.find(({ name }) => /(^|_)search$/.test(name));
const answer = await mcp.callTool({ name, arguments: { query: argument("How do plugins restart?"), max_results: 3 } });
if (answer.isError) {
  console.error(answer.content[0].text);
  process.exitCode = 1;
} else {
  for (const { title, url } of answer.structuredContent.results) {
    console.log(`${title}\n${url}\n`);
  }
}

// A polite client ends its session.
await transport.terminateSession();
await mcp.close();
