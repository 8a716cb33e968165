"""What every plugin in Python needs: handshake, health, the base service, instances, errors. It knows no kind."""

import json
import os
import signal
import sys
import tempfile
import threading
import traceback
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

# The published .proto files in compiled form: a copy beside the program, or that of the checkout.
HERE = Path(__file__).resolve().parent
PUBLISHED = next(file for file in (HERE / "proto" / "patchbay.binpb", HERE / "../../sdk/proto/patchbay.binpb") if file.exists())
MAX_MESSAGE = 16 << 20

pool = descriptor_pool.DescriptorPool()
for file in descriptor_pb2.FileDescriptorSet.FromString(PUBLISHED.read_bytes()).file:
    pool.AddSerializedFile(file.SerializeToString())
# The function has its name since protobuf 4.22.
class_of = getattr(message_factory, "GetMessageClass", None) or message_factory.MessageFactory(pool).GetPrototype


def new(name, /, **fields):
    """A message by its full name, such as patchbay.search.v1.Head; fields of an enum take its values by name."""
    return class_of(pool.FindMessageTypeByName(name))(**fields)


class Fault(Exception):
    """An error that crosses the wire: a gRPC code, whose fault it is, a stable reason, and a text for the operator."""

    def __init__(self, code, source, reason, message):
        super().__init__(message)
        self.code, self.source, self.reason, self.message = code, source, reason, message

    def abort(self, context):
        info = new("google.rpc.ErrorInfo", reason=self.reason, domain=self.source)
        status = new("google.rpc.Status", code=self.code.value[0], message=self.message)
        status.details.add(type_url="type.googleapis.com/google.rpc.ErrorInfo", value=info.SerializeToString())
        context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
        context.abort(self.code, self.message)


def log(level, message):
    """Write a line that reaches the core's log with its level."""
    print(json.dumps({"@level": level, "@message": message}), file=sys.stderr, flush=True)


def error_at(attribute, summary):
    """A finding about the configuration, at an attribute or, without one, at the whole block."""
    path = [{"attribute": attribute}] if attribute else []
    return new("patchbay.plugin.v1.Diagnostic", severity="SEVERITY_ERROR", summary=summary, path=path)


def guarded(method):
    """Turn what a method raises into an error of that call."""

    def call(request, context):
        try:
            return method(request, context)
        except Fault as fault:
            return fault.abort(context)
        except Exception:
            log("error", "a call failed: " + traceback.format_exc())
            return Fault(grpc.StatusCode.INTERNAL, "plugin", "INTERNAL", "the plugin failed; see its log").abort(context)

    return call


def handlers(service, methods):
    """The gRPC handlers of a service for the unary methods that the object has."""
    return grpc.method_handlers_generic_handler(service, {
        m.name: grpc.unary_unary_rpc_method_handler(
            guarded(getattr(methods, m.name)), class_of(m.input_type).FromString, class_of(m.output_type).SerializeToString)
        for m in pool.FindServiceByName(service).methods if hasattr(methods, m.name)
    })


class Instances:
    """The configured instances, each with the number of calls that use it."""

    def __init__(self):
        self._values, self._calls, self._changed = {}, {}, threading.Condition()

    def put(self, id, value):
        with self._changed:
            self._values[id] = value

    def ids(self):
        with self._changed:
            return list(self._values)

    @contextmanager
    def use(self, id):
        with self._changed:
            if id not in self._values:
                raise Fault(grpc.StatusCode.FAILED_PRECONDITION, "host", "UNKNOWN_INSTANCE", f"there is no instance {id!r}")
            self._calls[id] = self._calls.get(id, 0) + 1
            value = self._values[id]
        try:
            yield value
        finally:
            with self._changed:
                self._calls[id] -= 1
                self._changed.notify_all()

    def of(self, context):
        """The instance that a call of the kind is for."""
        return self.use(dict(context.invocation_metadata()).get("patchbay-instance", ""))

    def remove(self, id):
        with self._changed:
            self._values.pop(id, None)
            self._changed.wait_for(lambda: not self._calls.get(id))
            self._calls.pop(id, None)


class Base:
    """The service patchbay.plugin.v1.Plugin, and grpc.health.v1.Health."""

    def __init__(self, description, check, build, instances):
        self.description, self.check, self.build, self.instances = description, check, build, instances

    def Describe(self, request, context):
        return self.description

    def Validate(self, request, context):
        _, findings = self.check(request.config)
        return new("patchbay.plugin.v1.ValidateResponse", diagnostics=findings)

    def Configure(self, request, context):
        settings, findings = self.check(request.config)
        if not findings:
            self.instances.put(request.config.instance_id, self.build(request.config, settings))
            log("info", f"instance {request.config.name} is ready")
        return new("patchbay.plugin.v1.ConfigureResponse", diagnostics=findings)

    def Remove(self, request, context):
        self.instances.remove(request.instance_id)
        return new("patchbay.plugin.v1.RemoveResponse")

    def Health(self, request, context):
        if request.instance_id:
            with self.instances.use(request.instance_id):
                pass
        return new("patchbay.plugin.v1.HealthResponse", state="STATE_OK")

    def Stop(self, request, context):
        for id in self.instances.ids():
            self.instances.remove(id)
        return new("patchbay.plugin.v1.StopResponse")

    def Check(self, request, context):
        return new("grpc.health.v1.HealthCheckResponse", status="SERVING")


def serve(description, check, build, service, kind):
    """Run the plugin until the core ends it. kind makes the object with the methods of the service from the instances."""
    if os.environ.get("PATCHBAY_PLUGIN_COOKIE") != "patchbay-plugin-v1":
        sys.exit(f"{description.name} is a Patchbay plugin. The core starts it; name it in plugin.hcl.")
    if os.environ.get("PLUGIN_CLIENT_CERT"):
        sys.exit(f"{description.name} does not encrypt its socket: remove mtls = true.")
    handshake = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # Standard output belongs to the handshake; what is printed from here on goes to the log.
    for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(s, signal.SIG_IGN)
    host, ended, instances = os.getppid(), threading.Event(), Instances()

    server = grpc.server(ThreadPoolExecutor(32), options=[
        ("grpc.max_receive_message_length", MAX_MESSAGE), ("grpc.max_send_message_length", MAX_MESSAGE)])
    base = Base(description, check, build, instances)
    shutdown = grpc.unary_unary_rpc_method_handler(lambda request, context: ended.set() or b"")
    server.add_generic_rpc_handlers((
        handlers("patchbay.plugin.v1.Plugin", base), handlers("grpc.health.v1.Health", base), handlers(service, kind(instances)),
        grpc.method_handlers_generic_handler("plugin.GRPCController", {"Shutdown": shutdown}),
    ))
    directory = os.environ.get("PLUGIN_UNIX_SOCKET_DIR") or tempfile.mkdtemp()
    socket = os.path.join(directory, description.name + ".sock")
    if not server.add_insecure_port("unix:" + socket):
        sys.exit("cannot listen on " + socket)
    server.start()
    print(f"1|1|unix|{socket}|grpc|", file=handshake, flush=True)
    while not ended.wait(0.5) and os.getppid() == host:
        pass
    server.stop(1).wait()
