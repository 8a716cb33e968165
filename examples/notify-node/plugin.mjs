// A notification channel that posts to an incoming webhook, as chat servers offer them: {"text": …, "username": …}.
// This file is what is particular to it; serve.mjs is what every plugin in Node needs.
import { Fault, serve } from "./serve.mjs";

const maxText = 4000;

const describe = {
  name: "notify-node",
  version: "1.0.0",
  summary: "Posts notifications to an incoming webhook.",
  kinds: [{
    name: "notify",
    service: "patchbay.notify.v1.Channel",
    config: {
      attributes: [
        { name: "url", type: "TYPE_STRING", required: true, sensitive: true, doc: "Address of the incoming webhook." },
        { name: "username", type: "TYPE_STRING", default_json: '"Patchbay"', doc: "Who the message is from." },
      ],
    },
    // The text is cut by this plugin itself, so that the descriptor of the kind names no bound and stays empty.
  }],
};

// check reads a config block: what it finds wrong, and the settings if nothing is. It has no side effects.
function check(json) {
  const findings = [];
  const wrong = (attribute, summary) => findings.push({ severity: "SEVERITY_ERROR", summary, path: attribute ? [{ attribute }] : [] });
  let block;
  try { block = JSON.parse(json.toString() || "{}"); } catch { /* told below */ }
  if (block === null || typeof block !== "object" || Array.isArray(block)) {
    wrong("", "must be an object");
    return { findings };
  }
  for (const name of Object.keys(block)) if (name !== "url" && name !== "username") wrong(name, "is not known here");
  const url = URL.canParse(block.url ?? "") ? new URL(block.url) : null;
  if (typeof block.url !== "string" || !/^https?:$/.test(url?.protocol ?? "")) wrong("url", "must be an address with http or https");
  if (typeof (block.username ?? "") !== "string") wrong("username", "must be a string");
  return { findings, settings: { url: block.url, username: block.username ?? "Patchbay" } };
}

// checkSend refuses what the contract forbids.
function checkSend({ notification: n, target }) {
  const bad = (reason, message) => { throw new Fault("INVALID_ARGUMENT", "caller", reason, message); };
  if (target?.json?.length || target?.secret) bad("INVALID_TARGET", "the channel takes no recipient per call");
  if (!/^[A-Za-z0-9._-]{1,128}$/.test(n?.id ?? "")) bad("INVALID_NOTIFICATION", "the id is missing or malformed");
  if (!n.kind || !n.title?.plain) bad("INVALID_NOTIFICATION", "kind and title must not be empty");
  try { if (n.payload.length) JSON.parse(n.payload); } catch { bad("INVALID_NOTIFICATION", "the payload is not JSON"); }
}

// post hands one message over. Its errors say what became of it: the core repeats a call only if nothing was delivered.
async function post(settings, id, text, signal) {
  let answer;
  try {
    answer = await fetch(settings.url, {
      method: "POST", redirect: "manual", signal,
      headers: { "Content-Type": "application/json", "Idempotency-Key": id },
      body: JSON.stringify({ text, username: settings.username }),
    });
    await answer.body?.cancel();
  } catch (e) {
    // Neither the message nor the cause is passed on: they may hold the address, which is a secret here.
    if (["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "UND_ERR_CONNECT_TIMEOUT"].includes(e.cause?.code)) {
      throw new Fault("UNAVAILABLE", "upstream", "UPSTREAM_CONNECT", "no connection to the webhook");
    }
    throw new Fault("UNKNOWN", "upstream", "OUTCOME_UNKNOWN", "the connection was lost before the answer");
  }
  if (answer.ok) return;
  const told = `the webhook answered with status ${answer.status}`;
  if (answer.status === 429 || answer.status === 503) {
    throw new Fault("UNAVAILABLE", "upstream", "UPSTREAM_STATUS", told, Number(answer.headers.get("Retry-After")) || 0);
  }
  if (answer.status < 500) throw new Fault("FAILED_PRECONDITION", "upstream", "UPSTREAM_STATUS", told);
  throw new Fault("UNKNOWN", "upstream", "OUTCOME_UNKNOWN", told);
}

const channel = {
  async Send(settings, request, signal) {
    checkSend(request);
    const { id, title, summary, detail, links } = request.notification;
    const parts = [
      ["PART_TITLE", title.plain], ["PART_SUMMARY", summary?.plain], ["PART_DETAIL", detail?.plain],
      ["PART_LINKS", links.map((l) => `${l.label}: ${l.url}`).join("\n")],
    ].filter(([, text]) => text);
    const whole = parts.map(([, text]) => text).join("\n\n");
    const text = whole.slice(0, maxText);
    await post(settings, id, text, signal);
    const warnings = text === whole ? [] : [`the text was cut after ${maxText} characters`];
    return { delivered: parts.map(([part]) => part), warnings };
  },

  async ValidateTarget(_settings, { target }) {
    const given = target?.json?.length || target?.secret;
    return { diagnostics: given ? [{ severity: "SEVERITY_ERROR", summary: "the channel takes no recipient per call" }] : [] };
  },
};

serve({ describe, check, service: "patchbay.notify.v1.Channel", proto: "patchbay/notify/v1/notify.proto", calls: channel });
