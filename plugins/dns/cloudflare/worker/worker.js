// Worker for Cloudflare Email Routing that posts each message, as it came, to a Patchbay mail service.
//
// Variables: PATCHBAY_URL is the address of the mail service, such as https://patchbay.example.com/mail, and
// PATCHBAY_SECRET (a secret) its inbound_secret.

// rejections are the answers after which the sender is told that the message cannot be delivered. Any other failure makes
// the sender try again.
const rejections = new Map([
  [404, "550 5.1.1 Mailbox unavailable"],
  [410, "550 5.1.1 Mailbox unavailable"],
  [413, "552 5.3.4 Message too large"],
]);

// toHex returns bytes as hexadecimal digits.
function toHex(buffer) {
  return Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// sign returns the hexadecimal HMAC-SHA256 of lines with \n between them.
async function sign(secret, lines) {
  const encoder = new TextEncoder();
  const key = await crypto.subtle.importKey("raw", encoder.encode(secret), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return toHex(await crypto.subtle.sign("HMAC", key, encoder.encode(lines.join("\n"))));
}

// encodeAddress returns an address as headers carry it: one outside of ASCII, which is allowed in mail, becomes an encoded word of
// RFC 2047 in UTF-8. An address that looks like one is encoded too.
function encodeAddress(address) {
  if (/^[\x20-\x7e]*$/.test(address) && !address.includes("=?")) {
    return address.trim();
  }
  const bytes = new TextEncoder().encode(address);
  return `=?UTF-8?B?${btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))}?=`;
}

// codeOf returns the code of an error of Patchbay, or nothing if the answer is not one: a proxy or a wrong address may
// answer 404 as well, and mail must not be rejected for that.
async function codeOf(response) {
  try {
    const { code } = await response.json();
    return typeof code === "string" && code !== "not_found" ? code : undefined;
  } catch {
    return undefined;
  }
}

export default {
  // email takes one message for one recipient. Where it throws, the sender tries again later.
  async email(message, env) {
    if (!env.PATCHBAY_URL || !env.PATCHBAY_SECRET) {
      throw new Error("set PATCHBAY_URL and PATCHBAY_SECRET");
    }
    const body = new Uint8Array(await new Response(message.raw).arrayBuffer());
    const timestamp = String(Math.floor(Date.now() / 1000));
    const [from, to] = [encodeAddress(message.from), encodeAddress(message.to)];
    const content = toHex(await crypto.subtle.digest("SHA-256", body));
    const response = await fetch(`${env.PATCHBAY_URL.replace(/\/+$/, "")}/api/inbound`, {
      method: "POST",
      redirect: "manual",
      headers: {
        "Content-Type": "message/rfc822",
        "X-Patchbay-Timestamp": timestamp,
        "X-Patchbay-Content-SHA256": content,
        "X-Patchbay-Signature": await sign(env.PATCHBAY_SECRET, [timestamp, from, to, content]),
        "X-Patchbay-Envelope-From": from,
        "X-Patchbay-Envelope-To": to,
      },
      body,
    });
    if (response.ok) {
      return;
    }
    const reason = rejections.get(response.status);
    if (reason && (await codeOf(response))) {
      message.setReject(reason);
      return;
    }
    throw new Error(`the mail service answered with status ${response.status}`);
  },
};
