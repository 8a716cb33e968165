// node research.mjs QUESTION: starts a research, waits for it, and prints the report with its sources.
import { setTimeout as pause } from "node:timers/promises";
import { argument, client } from "./client.mjs";

const { requestId } = await client.research(argument("How do plugin hosts restart plugins?"), { model: "mini" });

let report = await client.getResearch(requestId);
for (let wait = 1000; report.status === "pending" || report.status === "in_progress"; wait = Math.min(wait * 1.5, 10_000)) {
  await pause(wait);
  report = await client.getResearch(requestId);
}

if (report.status !== "completed") {
  console.error(`The research ended as ${report.status}.`);
  process.exit(1);
}
console.log(report.content);
for (const { title, url } of report.sources) {
  console.log(`- ${title}: ${url}`);
}
