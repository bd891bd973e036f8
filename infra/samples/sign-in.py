"""Signs a user in with Authlib, as a web application does, and shows a page of bills.

With `npm start` running: pip install authlib flask requests; python infra/samples/sign-in.py
"""

import json
import os
import secrets
from decimal import Decimal

from authlib.integrations.flask_client import OAuth
from flask import Flask, url_for

ISSUER = os.environ.get("ISSUER", "http://127.0.0.1:3000")
app = Flask(__name__)
app.secret_key = secrets.token_bytes()
service = OAuth(app).register(
    "service",
    client_id=os.environ.get("CLIENT_ID", "demo-app"),
    server_metadata_url=f"{ISSUER}/.well-known/openid-configuration",
    client_kwargs={"scope": "openid email account.read", "code_challenge_method": "S256"},
    token_endpoint_auth_method="none",
)


@app.get("/")
def sign_in():
    return service.authorize_redirect(url_for("show_bills", _external=True))


@app.get("/callback")
def show_bills():
    token = service.authorize_access_token()
    answer = service.get(f"{ISSUER}/account/bills?current=1&size=5", token=token)
    envelope = json.loads(answer.text, parse_float=Decimal)  # a double would lose digits of amounts
    if not answer.ok:
        return f"the request was answered {answer.status_code}: {envelope['code']} {envelope['msg']}", 502
    title = f"{token['userinfo']['email']} has {envelope['data']['total']} bills, of which the newest are"
    bills = [f"{bill['business_id']} {bill['amount']} {bill['currency']}" for bill in envelope["data"]["records"]]
    return "\n".join([title, *bills]), {"content-type": "text/plain"}


failed = 502, {"content-type": "text/plain"}
app.register_error_handler(Exception, lambda error: (f"{error} (from the issuer {ISSUER})", *failed))
app.run(port=int(os.environ.get("PORT", "4000")))
