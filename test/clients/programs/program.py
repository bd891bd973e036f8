"""Uses the client that openapi-python-client generates: signs in, reads, and meets a failure."""

import functools
import hashlib
import json
import sys
from decimal import Decimal

import client
from client.api.asset_wallet import get_account_bills, get_account_info
from client.api.community import get_community_members
from client.api.dashboard import get_dashboard_overview
from client.api.deposits import get_address_info
from client.api.password_sign_in import post_user_login_2_fa, post_user_login_with_password
from client.models import Failure, LoginForm, LoginVerifyForm, LoginVerifyFormMethod


def read_decimals(response):
    """Makes the generated client read every number with a point as a Decimal."""
    response.read()
    response.json = functools.partial(json.loads, response.content, parse_float=Decimal)


url, email, password, code = sys.argv[1:]
settings = {"base_url": url, "httpx_args": {"event_hooks": {"response": [read_decimals]}}}
public = client.Client(**settings)
login = LoginForm(email=email, login_password=hashlib.md5(password.encode()).hexdigest())
ticket = post_user_login_with_password.sync(client=public, body=login).data.login_ticket
method = LoginVerifyFormMethod.AUTHENTICATOR
verification = LoginVerifyForm(email=email, login_ticket=ticket, method=method, authenticator_code=code)
# A public operation also accepts a client without a token.
assert post_user_login_2_fa.sync.__annotations__["client"] == client.AuthenticatedClient | client.Client
user = post_user_login_2_fa.sync(client=public, body=verification).data

api = client.AuthenticatedClient(token=user.access_token, **settings)
account = get_account_info.sync(client=api, currency="USDT").data[0]
bill = get_account_bills.sync(client=api, current=1, size=5).data.records[0]
member = get_community_members.sync(client=api, current=1, size=5).data.records[0]
overview = get_dashboard_overview.sync(client=api).data
failure = get_address_info.sync(client=api, currency="NONE", currency_net_work="NONE")
assert isinstance(failure, Failure), failure
print(type(account.balance).__name__, account.balance, bill.amount, member.nickname, end=" ")
print(overview.balances[0].balance, failure.code, failure.data.errors[0].field)
