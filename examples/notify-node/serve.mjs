// What every plugin in Node needs: handshake, health, the base service, instances, errors. It knows no kind.
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import grpc from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";

// The published .proto files: a copy beside the program, or those of the checkout.
const here = fileURLToPath(new URL(".", import.meta.url));
const protos = [join(here, "proto"), join(here, "../../sdk/proto")].find((dir) => existsSync(dir));
const load = (...files) => loadSync(files, { includeDirs: [protos, here], keepCase: true, longs: Number, enums: String, defaults: true });
const rpc = load("status.proto");
const maxMessage = 16 << 20;

// Fault is an error that crosses the wire: a gRPC code, whose fault it is, a stable reason, and a text for the operator.
export class Fault extends Error {
  constructor(code, source, reason, message, retryAfter = 0) {
    super(message);
    Object.assign(this, { code, source, reason, retryAfter });
  }

  status() {
    const detail = (type, value) => ({ type_url: `type.googleapis.com/${type}`, value: rpc[type].serialize(value) });
    const details = [detail("google.rpc.ErrorInfo", { reason: this.reason, domain: this.source })];
    if (this.retryAfter > 0) details.push(detail("google.rpc.RetryInfo", { retry_delay: { seconds: Math.ceil(this.retryAfter) } }));
    const code = grpc.status[this.code], metadata = new grpc.Metadata();
    metadata.set("grpc-status-details-bin", rpc["google.rpc.Status"].serialize({ code, message: this.message, details }));
    return { code, details: this.message, metadata };
  }
}

// log writes a line that reaches the core's log with its level.
export function log(level, message) {
  process.stderr.write(JSON.stringify({ "@level": level, "@message": message }) + "\n");
}

// unary turns a function that returns or throws into a gRPC handler.
const unary = (handle) => (call, done) => handle(call).then(
  (answer) => done(null, answer),
  (e) => {
    if (!(e instanceof Fault)) log("error", `a call failed: ${e.stack}`);
    done((e instanceof Fault ? e : new Fault("INTERNAL", "plugin", "INTERNAL", "the plugin failed; see its log")).status());
  },
);

// raw is a method whose messages need no .proto file: bytes as they are.
const bytes = { requestSerialize: Buffer.from, requestDeserialize: Buffer.from, responseSerialize: Buffer.from, responseDeserialize: Buffer.from };
const raw = (path) => ({ path, requestStream: false, responseStream: false, ...bytes });

// base is the service patchbay.plugin.v1.Plugin over a map of instances.
function base(describe, check, instances) {
  const unknown = (id) => new Fault("FAILED_PRECONDITION", "host", "UNKNOWN_INSTANCE", `there is no instance "${id}"`);
  const remove = async (id) => {
    const calls = instances.get(id)?.calls ?? [];
    instances.delete(id);
    await Promise.allSettled(calls);
  };
  const methods = {
    Describe: async () => describe,
    Validate: async ({ request: { config } }) => ({ diagnostics: check(config.json).findings }),
    Configure: async ({ request: { config } }) => {
      const { findings, settings } = check(config.json);
      if (findings.length === 0) {
        instances.set(config.instance_id, { settings, calls: new Set() });
        log("info", `instance ${config.name} is ready`);
      }
      return { diagnostics: findings };
    },
    Remove: async ({ request }) => { await remove(request.instance_id); return {}; },
    Health: async ({ request: { instance_id: id } }) => {
      if (id && !instances.has(id)) throw unknown(id);
      return { state: "STATE_OK" };
    },
    Stop: async () => { await Promise.all([...instances.keys()].map(remove)); return {}; },
  };
  return { methods, unknown };
}

// routed finds the instance of a call of the kind and counts the call as one of it. When the caller leaves, signal ends.
const routed = (instances, unknown, handle) => async (call) => {
  const id = String(call.metadata.get("patchbay-instance")[0] ?? "");
  const instance = instances.get(id);
  if (!instance) throw unknown(id);
  const left = new AbortController();
  call.on("cancelled", () => left.abort());
  const running = handle(instance.settings, call.request, left.signal);
  instance.calls.add(running);
  try { return await running; } finally { instance.calls.delete(running); }
};

const each = (methods, wrap) => Object.fromEntries(Object.entries(methods).map(([name, handle]) => [name, unary(wrap(handle))]));

// serve runs the plugin until the core ends it.
export function serve({ describe, check, service, proto, calls }) {
  if (process.env.PATCHBAY_PLUGIN_COOKIE !== "patchbay-plugin-v1") {
    console.error(`${describe.name} is a Patchbay plugin. The core starts it; name it in plugin.hcl.`);
    process.exit(1);
  }
  if (process.env.PLUGIN_CLIENT_CERT) {
    console.error(`${describe.name} does not encrypt its socket: remove mtls = true.`);
    process.exit(1);
  }
  console.log = console.error; // Standard output belongs to the handshake.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
  const host = process.ppid;
  setInterval(() => { if (process.ppid !== host) process.exit(0); }, 500).unref();

  const instances = new Map(), definitions = load("patchbay/plugin/v1/plugin.proto", proto);
  const { methods, unknown } = base(describe, check, instances);
  const server = new grpc.Server({ "grpc.max_receive_message_length": maxMessage, "grpc.max_send_message_length": maxMessage });
  server.addService(definitions["patchbay.plugin.v1.Plugin"], each(methods, (handle) => handle));
  server.addService(definitions[service], each(calls, (handle) => routed(instances, unknown, handle)));
  // A health answer of one field, status = SERVING; and the end, an empty message.
  server.addService({ Check: raw("/grpc.health.v1.Health/Check") }, { Check: unary(async () => Buffer.from([8, 1])) });
  server.addService({ Shutdown: raw("/plugin.GRPCController/Shutdown") }, {
    Shutdown: unary(async () => { server.tryShutdown(() => process.exit(0)); return Buffer.alloc(0); }),
  });

  const socket = join(process.env.PLUGIN_UNIX_SOCKET_DIR ?? tmpdir(), `${describe.name}.sock`);
  server.bindAsync(`unix:${socket}`, grpc.ServerCredentials.createInsecure(), (e) => {
    if (e) throw e;
    process.stdout.write(`1|1|unix|${socket}|grpc|\n`);
  });
}
