"""A DNS provider over dns-lexicon, which knows some seventy vendors.

This file is what is particular to it; ../search-python/serve.py is what every plugin in Python needs.
"""

import importlib
import ipaddress
import json
import pkgutil
import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent / "../search-python"))
import dns.exception  # noqa: E402
import dns.resolver  # noqa: E402
import grpc  # noqa: E402
import requests  # noqa: E402
from lexicon import providers  # noqa: E402
from lexicon.config import ConfigResolver  # noqa: E402
from serve import Fault, error_at, log, new, serve  # noqa: E402

TYPES = ["A", "AAAA", "CNAME", "MX", "TXT"]
VENDORS = {m.name for m in pkgutil.iter_modules(providers.__path__)} - {"base"}
TIMEOUT = 30  # seconds for one request; requests itself would wait for ever

_send = requests.Session.send
requests.Session.send = lambda self, request, **options: _send(self, request, **{**options, "timeout": options.get("timeout") or TIMEOUT})


def describe():
    def attribute(name, kind="TYPE_STRING", **more):
        return {"name": name, "type": kind, **more}

    return new("patchbay.plugin.v1.DescribeResponse", name="dns-lexicon", version="1.0.0", summary="Records at the vendors of dns-lexicon.", kinds=[{
        "name": "dns", "service": "patchbay.dns.v1.DNS", "config": {"attributes": [
            attribute("vendor", required=True, doc="Name of the vendor in dns-lexicon, such as hetzner or powerdns."),
            attribute("zones", "TYPE_STRING_LIST", required=True, doc="Names of the zones."),
            attribute("options", "TYPE_STRING_MAP", doc="Options of the vendor that are not secret, by the names in dns-lexicon with underscores."),
            attribute("auth_token", sensitive=True, doc="Token or key of the vendor's API."),
            attribute("auth_username", doc="Name of the account, where the vendor needs one."),
            attribute("resolvers", "TYPE_STRING_LIST", doc="Addresses of the name servers that are asked whether records are visible, such as 192.0.2.53 or 192.0.2.53:5353. Unset: the resolvers of this machine."),
            attribute("ttl", "TYPE_INTEGER", default_json="300", doc="TTL in seconds of records whose TTL is not asked for."),
            attribute("zone_file_values", "TYPE_BOOL", default_json="false",
                      doc="Whether the vendor wants values as in a zone file: texts in quotes, \"10 mail.example.com.\" for an MX. True for powerdns."),
        ]},
    }])


def server(text):
    """Address and port of a name server, or nothing."""
    host, _, port = text.partition(":") if text.count(":") == 1 else (text, "", "")
    try:
        return str(ipaddress.ip_address(host)), int(port or 53)
    except ValueError:
        return None


def look(settings, name, kind):
    """What each resolver says of a name."""
    for text in settings.get("resolvers") or [""]:
        resolver = dns.resolver.Resolver(configure=not text)
        resolver.lifetime = 5
        if text:
            address, resolver.port = server(text)
            resolver.nameservers = [address]
        seen = {"server": text or "the resolvers of this machine", "values": []}
        try:
            answer = resolver.resolve(name + ".", kind)
            seen["ttl_seconds"] = answer.rrset.ttl
            for r in answer:
                seen["values"].append(b"".join(r.strings).decode(errors="replace") if kind == "TXT" else r.to_text().lower().removesuffix("."))
            seen["values"].sort()
        except (dns.resolver.NXDOMAIN, dns.resolver.NoAnswer):
            pass
        except dns.exception.DNSException as e:
            seen["problem"] = type(e).__name__
        yield seen


def visibility(kind, wanted, observations):
    """The worst of what the resolvers that answered say."""
    worst = "UNKNOWN"
    for o in observations:
        if "problem" in o:
            continue
        same = set(wanted) <= set(o["values"]) if kind == "TXT" and wanted else set(wanted) == set(o["values"])
        if same:
            worst = "VISIBLE" if worst == "UNKNOWN" else worst
        elif not o["values"] or kind == "TXT" and wanted:
            worst = "MISSING" if worst != "DIFFERENT" else worst
        else:
            worst = "DIFFERENT"
    return "VISIBILITY_" + worst


def check(config):
    """Read a config block: the settings, and what is wrong with it. No side effects."""
    try:
        block = json.loads(config.json or b"{}")
    except (ValueError, RecursionError):
        block = None
    if not isinstance(block, dict):
        return None, [error_at("", "must be an object")]
    known = ("vendor", "zones", "options", "auth_token", "auth_username", "resolvers", "ttl", "zone_file_values")
    findings = [error_at(name, "is not known here") for name in block if name not in known]
    texts = lambda values: isinstance(values, (list, dict)) and all(isinstance(v, str) for v in (values.values() if isinstance(values, dict) else values))  # noqa: E731
    if not isinstance(block.get("vendor"), str) or block["vendor"] not in VENDORS:
        findings.append(error_at("vendor", "must be a vendor of dns-lexicon"))
    if not isinstance(block.get("zones"), list) or not block["zones"] or not texts(block["zones"]) or not all(re.fullmatch(r"[a-z0-9_.-]+", z) for z in block["zones"]):
        findings.append(error_at("zones", "must be names of zones in lower case"))
    if block.get("options") is not None and not (isinstance(block["options"], dict) and texts(block["options"])):
        findings.append(error_at("options", "must be texts by name"))
    if block.get("resolvers") is not None and not (isinstance(block["resolvers"], list) and texts(block["resolvers"]) and all(map(server, block["resolvers"]))):
        findings.append(error_at("resolvers", "must be addresses of name servers"))
    for name in ("auth_token", "auth_username"):
        if not isinstance(block.get(name), (str, type(None))):
            findings.append(error_at(name, "must be a text"))
    ttl = 300 if block.get("ttl") is None else block["ttl"]
    if not isinstance(ttl, int) or isinstance(ttl, bool) or not 1 <= ttl <= 2147483647:
        findings.append(error_at("ttl", "must be 1 to 2147483647"))
    if not isinstance(block.get("zone_file_values"), (bool, type(None))):
        findings.append(error_at("zone_file_values", "must be true or false"))
    return {**block, "ttl": ttl}, findings


def build(config, settings):
    return settings


def local(name):
    return name == "localhost" or name.endswith(".localhost")


def bad(message):
    return Fault(grpc.StatusCode.INVALID_ARGUMENT, "caller", "INVALID_REQUEST", message)


def no_zone(name):
    return Fault(grpc.StatusCode.NOT_FOUND, "upstream", "NO_ZONE", f"there is no zone for {name!r}")


def clean(name):
    """A name in its usual form, or an error."""
    name = name.lower().removesuffix(".")
    label = r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?"
    if len(name) > 253 or not re.fullmatch(rf"(\*\.)?{label}(\.{label})*", name):
        raise bad(f"the name {name[:80]!r} is not valid")
    return name


def quote(text):
    """A text as a zone file has it, in strings of 255 bytes."""
    raw = text.encode()
    parts = [raw[i:i + 255] for i in range(0, len(raw), 255)]
    escape = lambda b: "\\" + chr(b) if b in b'"\\' else chr(b) if 32 <= b <= 126 else f"\\{b:03d}"  # noqa: E731
    return " ".join('"' + "".join(map(escape, part)) + '"' for part in parts)


def unquote(text):
    """The text that quote has made, also where its outermost quotes are gone."""
    joined = re.sub(r'(?<!\\)"\s+"', "", text.removeprefix('"').removesuffix('"'))
    raw = re.sub(rb"\\(\d{3}|.)", lambda m: bytes([int(m[1])]) if m[1].isdigit() else m[1], joined.encode())
    return raw.decode(errors="replace")


class Vendor:
    """One zone at the vendor, for one call."""

    def __init__(self, settings, zone, ttl=0):
        self.settings, self.plain = settings, not settings.get("zone_file_values")
        options = {k: v for k, v in {**(settings.get("options") or {}), "auth_token": settings.get("auth_token"), "auth_username": settings.get("auth_username")}.items() if v}
        self.ttl = ttl or settings["ttl"]
        self.config = {"provider_name": settings["vendor"], "domain": zone, "ttl": self.ttl, settings["vendor"]: options}
        self.zone = zone

    def _provider(self, **more):
        module = importlib.import_module("lexicon.providers." + self.settings["vendor"])
        provider = module.Provider(ConfigResolver().with_dict({**self.config, **more}))
        provider.authenticate()
        return provider

    def use(self, do, **more):
        """Call the vendor, and put what goes wrong into the words of the contract. No message of lexicon is passed on: it may hold a secret."""
        try:
            return do(self._provider(**more))
        except requests.HTTPError as e:
            status = e.response.status_code
            codes = {401: grpc.StatusCode.UNAUTHENTICATED, 403: grpc.StatusCode.PERMISSION_DENIED, 404: grpc.StatusCode.NOT_FOUND, 429: grpc.StatusCode.RESOURCE_EXHAUSTED}
            raise Fault(codes.get(status, grpc.StatusCode.UNAVAILABLE), "upstream", "UPSTREAM_STATUS", f"{self.settings['vendor']} answered with status {status}") from None
        except requests.RequestException as e:
            raise Fault(grpc.StatusCode.UNAVAILABLE, "upstream", "UPSTREAM_CONNECT", f"{self.settings['vendor']}: {type(e).__name__}") from None
        except Fault:
            raise
        except Exception as e:
            log("warn", f"dns-lexicon failed: {type(e).__name__}")
            raise Fault(grpc.StatusCode.UNAVAILABLE, "upstream", "UPSTREAM_PROTOCOL", f"dns-lexicon failed: {type(e).__name__}") from None

    def value(self, record):
        """The value of a record of lexicon in its usual form."""
        content = record["content"]
        if record["type"] == "TXT":
            return content if self.plain and not content.startswith('"') else unquote(content)
        if record["type"] == "MX":
            priority = ((record.get("options") or {}).get("mx") or {}).get("priority")
            content = content if priority is None or " " in content else f"{priority} {content}"
        return content.lower().removesuffix(".")

    def records(self, name="", kind=""):
        found = self.use(lambda p: p.list_records(kind or None, name or None, None))
        return [r for r in found if r["type"] in TYPES and (not name or r["name"].lower().removesuffix(".") == name) and (not kind or r["type"] == kind)]

    def create(self, kind, name, value):
        more, content = {}, value
        if kind == "TXT" and not self.plain:
            content = quote(value)
        if kind == "MX":
            preference, host = value.split(" ", 1)
            content = host if self.plain else f"{preference} {host}."
            more = {"priority": preference} if self.plain else {}
        self.use(lambda p: p.create_record(kind, name, content), **more)

    def delete(self, kind, name):
        self.use(lambda p: p.delete_record(None, kind, name, None))


class DNS:
    """The service patchbay.dns.v1.DNS, without zones that can be made and without mail routing."""

    def __init__(self, instances):
        self.instances = instances

    def ListZones(self, request, context):
        with self.instances.of(context) as settings:
            return new("patchbay.dns.v1.ListZonesResponse", zones=[{"id": z, "name": z} for z in settings["zones"]])

    def FindZone(self, request, context):
        with self.instances.of(context) as settings:
            name = clean(request.name)
            inside = [z for z in settings["zones"] if name == z or name.endswith("." + z)]
            if not inside:
                raise no_zone(name)
            zone = max(inside, key=len)
            return new("patchbay.dns.v1.FindZoneResponse", zone={"id": zone, "name": zone})

    def vendor(self, settings, zone, ttl=0):
        if not re.fullmatch(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*", zone):
            raise bad("the id of the zone is not valid")
        if zone not in settings["zones"]:
            raise no_zone(zone)
        return Vendor(settings, zone, ttl)

    def kind(self, request_type):
        if not 1 <= request_type <= len(TYPES):
            raise bad("the type must be one of A, AAAA, CNAME, MX and TXT")
        return TYPES[request_type - 1]

    def ListRecords(self, request, context):
        with self.instances.of(context) as settings:
            name, vendor = clean(request.name) if request.name else "", self.vendor(settings, request.zone_id)
            sets = {}
            for r in vendor.records(name, self.kind(request.type) if request.type else ""):
                owner = r["name"].lower().removesuffix(".")
                entry = sets.setdefault((owner, r["type"]), {"name": owner, "type": "RECORD_TYPE_" + r["type"], "ttl_seconds": int(r["ttl"] or 0), "values": []})
                entry["values"].append(vendor.value(r))
            return new("patchbay.dns.v1.ListRecordsResponse", sets=list(sets.values()))

    def SetRecords(self, request, context):
        with self.instances.of(context) as settings:
            kind, values = read_set(request.set, self.kind(request.set.type))
            if not values:
                raise bad("a record set needs a value")
            name = clean(request.set.name)
            if local(name):
                return new("patchbay.dns.v1.SetRecordsResponse", outcome="OUTCOME_NOT_NEEDED")
            vendor = self.vendor(settings, request.zone_id, request.set.ttl_seconds)
            if name != vendor.zone and not name.endswith("." + vendor.zone):
                raise bad("the name is not in the zone")
            old = vendor.records(name, kind)
            there = {vendor.value(r) for r in old if int(r["ttl"] or 0) == vendor.ttl}
            if there != set(values) or len(there) != len(old):
                # Lexicon changes single records: where something must go, all of the set does. That is not atomic.
                if old and not (there <= set(values) and len(there) == len(old)):
                    vendor.delete(kind, name)
                    there = set()
                for value in values:
                    if value not in there:
                        vendor.create(kind, name, value)
            return new("patchbay.dns.v1.SetRecordsResponse", outcome="OUTCOME_APPLIED")

    def DeleteRecords(self, request, context):
        with self.instances.of(context) as settings:
            name, kind = clean(request.name), self.kind(request.type)
            if local(name):
                return new("patchbay.dns.v1.DeleteRecordsResponse", outcome="OUTCOME_NOT_NEEDED")
            vendor = self.vendor(settings, request.zone_id)
            if vendor.records(name, kind):
                vendor.delete(kind, name)
            return new("patchbay.dns.v1.DeleteRecordsResponse", outcome="OUTCOME_APPLIED")

    def CheckRecords(self, request, context):
        with self.instances.of(context) as settings:
            checks = []
            for wanted in request.sets:
                kind, values = read_set(wanted, self.kind(wanted.type))
                name = clean(wanted.name)
                entry = {"name": name, "type": wanted.type, "visibility": "VISIBILITY_NOT_NEEDED"}
                if not local(name):
                    self.vendor(settings, request.zone_id)
                    entry["observations"] = list(look(settings, name, kind))
                    entry["visibility"] = visibility(kind, values, entry["observations"])
                checks.append(entry)
            return new("patchbay.dns.v1.CheckRecordsResponse", checks=checks)


def read_set(given, kind):
    """The type and the values of a set, each once and in its usual form."""
    if given.ttl_seconds > 2147483647 or len(given.values) > 100:
        raise bad("a record set has at most 100 values and a TTL of at most 2147483647 seconds")
    out = []
    for value in given.values:
        try:
            if kind in ("A", "AAAA"):
                value = str(ipaddress.IPv4Address(value) if kind == "A" else ipaddress.IPv6Address(value))
        except ValueError:
            raise bad(f"{value[:60]!r} is not the value of a record of type {kind}") from None
        if kind == "CNAME":
            value = clean(value)
        if kind == "MX":
            preference, _, host = value.partition(" ")
            if not preference.isascii() or not preference.isdigit() or int(preference) > 65535 or re.fullmatch(r"[0-9.]+", host):
                raise bad(f"{value[:60]!r} is not the value of an MX record")
            value = f"{int(preference)} {clean(host)}"
        if kind == "TXT" and (not 1 <= len(value.encode()) <= 4096 or re.search(r"[\x00-\x1f\x7f]", value)):
            raise bad("the value of a TXT record must have 1 to 4096 bytes and no control characters")
        out.append(value)
    if kind == "CNAME" and len(set(out)) > 1:
        raise bad("a CNAME has one value")
    return kind, sorted(set(out))


if __name__ == "__main__":
    serve(describe(), check, build, "patchbay.dns.v1.DNS", DNS)
