// node research-stream.mjs QUESTION: prints a report while it is being written.
import { argument, client } from "./client.mjs";

const chunks = await client.research(argument("How do plugin hosts restart plugins?"), { model: "mini", stream: true });

// Chunks are bytes; an event may be spread over several of them.
const decoder = new TextDecoder();
let text = "";
for await (const chunk of chunks) {
  text += decoder.decode(chunk, { stream: true });
  const events = text.split("\n\n");
  text = events.pop();
  events.forEach(show);
}
show(text);

function show(event) {
  const data = event.split("\n").find((line) => line.startsWith("data: "));
  if (!data) {
    return;
  }
  const delta = JSON.parse(data.slice("data: ".length)).choices?.[0]?.delta ?? {};
  if (typeof delta.content === "string") {
    process.stdout.write(delta.content);
  }
  for (const { title, url } of delta.sources ?? []) {
    process.stdout.write(`\n- ${title}: ${url}`);
  }
}

process.stdout.write("\n");
