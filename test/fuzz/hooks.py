"""Hooks of schemathesis, which main.ts starts: callers, real values, and checks of the contract."""

import json
import os
import random
import re
from urllib.parse import urlencode

import schemathesis

with open(os.environ["FUZZ_ACTORS"], encoding="utf-8") as file:
    ACTORS = json.load(file)
STRANGERS = {one["authorization"]: one for one in ACTORS["strangers"]}
RANDOM = random.Random(1)

# Reasons for which a request is refused with 40001 although it matches the schemas (refusals.ts).
SEMANTIC_REASONS = set(ACTORS["semanticReasons"])

# Texts that are forbidden in log lines: markers of requests, tokens, tickets, passwords, named secrets.
FORBIDDEN_IN_LOG = re.compile(
    r"zzmarkerzz|zzheaderzz|@fuzz\.example|@example\.com|\bat_[0-9a-z]+\.[\w-]{22}\.|\blt_[0-9a-z]+\.[\w-]{43}"
    r"|\beyJ[\w-]+\.|9cc2ae8a1ba7a93da39b46fc1019c481|\bBasic [\w+/=%-]{4,}"
    r"|\b(login_password|validate_code|authenticator_code|login_ticket|access_token|code_verifier"
    r"|client_secret)(\\*\"\s*:|=)",
    re.IGNORECASE,
)


def with_real_values(values):
    """Replaces some generated values with real values for the same name, so that some requests succeed."""
    if isinstance(values, dict):
        for name in values:
            known = ACTORS["values"].get(name)
            if known and RANDOM.random() < 0.5:
                values[name] = RANDOM.choice(known)
    return values


@schemathesis.hook
def filter_case(context, case):
    """
    Drops requests that API Gateway refuses, because its request line and headers have at most 10,240 bytes,
    and those that only the words of the API reference exclude: a user id above 2^53, a member `__proto__`.
    """
    user_id = case.body.get("target_user_id") if isinstance(case.body, dict) else None
    fits = (not isinstance(user_id, int) or user_id < 2**53) and "__proto__" not in repr(case.body)
    return fits and len(urlencode(case.query or {}, doseq=True)) < 9000


@schemathesis.hook
def map_case(context, case):
    if case.meta is not None and case.meta.generation.mode.is_positive:
        case.query = with_real_values(case.query)
        case.body = with_real_values(case.body)
        case.path_parameters = with_real_values(case.path_parameters)
    return case


@schemathesis.hook
def before_call(context, case, kwargs):
    """Sends the request as Alice, or with a probability of 1/7 as a caller with fewer rights."""
    stranger = RANDOM.random() < 1 / 7
    choices = list(STRANGERS) if stranger else ACTORS["alices"]
    case.headers = {
        **(case.headers or {}),
        "Authorization": RANDOM.choice(choices),
        "X-Unknown": "zzheaderzz",
    }


def envelope_of(response):
    is_json = response.headers.get("content-type", [""])[0].startswith("application/json")
    return response.json() if is_json and response.content else None


@schemathesis.check
def answers_with_the_envelope(ctx, response, case):
    if case.method.upper() in ("HEAD", "OPTIONS") or response.status_code in (302, 304):
        return
    envelope = envelope_of(response)
    if envelope is None:
        assert response.content.startswith(b"\xef\xbb\xbf"), "the answer has no envelope"
        return
    code, msg = envelope.get("code"), envelope.get("msg")
    assert isinstance(msg, str) and "data" in envelope, "the answer has no envelope"
    if response.status_code == 200:
        assert code == 0 and msg == "success" and "error" not in envelope, f"200 with the code {code}"
    else:
        right = code // 100 == response.status_code or (code, response.status_code) == (40104, 400)
        assert right, f"the status {response.status_code} does not go with the code {code}"
    if code in (40100, 40300):
        assert "www-authenticate" in response.headers, "WWW-Authenticate is missing"


@schemathesis.check
def has_the_common_headers(ctx, response, case):
    def header(name):
        return response.headers.get(name, [""])[0]

    assert header("x-request-id"), "x-request-id is missing"
    assert header("x-content-type-options") == "nosniff"
    assert header("strict-transport-security").startswith("max-age=")
    assert header("referrer-policy") == "no-referrer"
    caching = header("cache-control")
    assert caching == "no-store" or (caching.startswith("public") and header("etag")), f"cached: {caching}"
    if response.status_code in (429, 503):
        assert header("retry-after").isdigit(), "Retry-After is missing"


@schemathesis.check
def takes_what_the_reference_allows(ctx, response, case):
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return
    envelope = envelope_of(response) or {}
    if envelope.get("code") not in (40000, 40001, 41300, 41500):
        return
    errors = (envelope.get("data") or {}).get("errors") or []
    reasons = {error["reason"] for error in errors}
    assert reasons and reasons <= SEMANTIC_REASONS, f"a good request was refused: {envelope}"


@schemathesis.check
def refuses_strangers(ctx, response, case):
    caller = STRANGERS.get((case.headers or {}).get("Authorization"))
    security = case.operation.definition.raw.get("security")
    if caller is None or not security or response.status_code >= 400:
        return
    roles = {*caller["scopes"], *(["first-party"] if caller["firstParty"] else [])}
    may = any("accessToken" not in way or set(way["accessToken"]) <= roles for way in security)
    assert may, f"it succeeded for {caller['authorization'][:12]}… with the scopes {caller['scopes']}"


@schemathesis.check
def does_not_repeat_headers(ctx, response, case):
    assert b"zzheaderzz" not in response.content, "the answer repeats a header"


@schemathesis.check
class LogHoldsNothingThatWasSent:
    def after_run(self, ctx):
        with open(os.environ["FUZZ_LOG"], encoding="utf-8") as file:
            lines = file.readlines()
        assert lines, "nothing was logged"
        found = [line[:400] for line in lines if FORBIDDEN_IN_LOG.search(line)]
        assert not found, "\n".join([f"{len(found)} log lines hold what was sent:", *found[:5]])
