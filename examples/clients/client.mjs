// What all programs here share: the SDK's client, pointed at Patchbay instead of the vendor.
import { tavily } from "@tavily/core";

const { PATCHBAY_URL = "http://localhost:50883/search", PATCHBAY_TOKEN } = process.env;

if (!PATCHBAY_TOKEN) {
  console.error("Set PATCHBAY_TOKEN to an access token; \"patchbay token create\" makes one.");
  process.exit(2);
}

// Note that there is no slash at the end of the address.
export const client = tavily({
  apiKey: PATCHBAY_TOKEN,
  apiBaseURL: `${PATCHBAY_URL.replace(/\/+$/, "")}/api/proxy`,
});

// argument is the text after the program's name on the command line, or a default.
export function argument(otherwise) {
  return process.argv.slice(2).join(" ") || otherwise;
}
