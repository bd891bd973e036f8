import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { handler as accountBills } from '../../../functions/account/bills.ts'
import { handler as accountInfo } from '../../../functions/account/info.ts'
import { handler as dashboard } from '../../../functions/dashboard/overview.ts'
import { handler as mailDelayed } from '../../../functions/intake/mail.delayed.ts'
import { handler as mailRequested } from '../../../functions/intake/mail.requested.ts'
import { handler as walletAdjusted } from '../../../functions/intake/wallet.adjusted.ts'
import { handler as authorize } from '../../../functions/oauth2/authorize.ts'
import { handler as consent } from '../../../functions/oauth2/consent.ts'
import { handler as exchange } from '../../../functions/oauth2/exchange.ts'
import { handler as token } from '../../../functions/oauth2/token.ts'
import type { Endpoint } from '../../../shared/http/endpoint.ts'
import { callEndpoint, type TestRequest } from '../../support/call-endpoint.ts'
import { deliver } from '../../support/deliver.ts'
import { addUser, adjustment } from '../../support/ledger.ts'
import {
  authorizationRequest,
  bearer,
  createClient,
  createSession,
  exchangeRequest,
  pkce,
} from '../../support/oauth-clients.ts'
import { delayedMail } from '../../support/login-tickets.ts'
import { login, openTicket, verifyAuthenticator } from '../../support/sign-in-calls.ts'
import { authenticatorCode, createUser } from '../../support/sign-in.ts'
import { type Measured, measure } from './measure.ts'
import type { OperationName } from './workload.ts'

const callWithStatus = async (handler: Endpoint, request: TestRequest, status = 200) => {
  const answer = await callEndpoint(handler, request)
  expect(answer.status).toBe(status)
  return answer.data
}

/** Measures the DynamoDB and KMS usage of every operation in CAPACITY.md once, with warm functions. */
export async function measureAllOperations(): Promise<Record<OperationName, Measured>> {
  const user = await createUser()
  const [session, client] = await Promise.all([createSession(), createClient()])
  const { accessToken } = session
  const read = (handler: Endpoint, query = '') =>
    measure(() => callWithStatus(handler, { headers: bearer(accessToken), query }))
  // The operations below find the signing keys cached and a wallet with 20 bills.
  await callWithStatus(exchange, { body: { access_token: accessToken } })
  for (let bill = 0; bill < 20; bill += 1) await deliver(walletAdjusted, adjustment(session.userId))

  const password = await measure(() => login(user))
  const ticket = await openTicket(user)
  const code = await authenticatorCode(user.totpSecret)
  const { verifier, challenge } = pkce()
  const request = authorizationRequest(client, { code_challenge: challenge })
  const authorized = await measure(() =>
    authorize(
      {
        rawQueryString: new URLSearchParams(request).toString(),
        headers: {},
        requestContext: { requestId: 'r', http: { method: 'GET', path: '/', sourceIp: '192.0.2.1' } },
      } as never,
      {} as never,
    ),
  )
  let consentAnswer: unknown
  const consented = await measure(async () => {
    consentAnswer = await callWithStatus(consent, { body: request, headers: bearer(accessToken) })
  })
  const form = exchangeRequest(client, (consentAnswer as { code: string }).code, verifier)
  const [newcomer, payer] = [await addUser(), await addUser()]
  await deliver(walletAdjusted, adjustment(payer))
  const mail = {
    mail_id: randomUUID(),
    kind: 'code',
    to: user.email,
    code: '123456',
    expires_at: Date.now() + 60_000,
  }
  const secondFactor = await measure(() => verifyAuthenticator(user, ticket, code))
  return {
    password,
    mail: await measure(() => deliver(mailRequested, mail)),
    unneededMail: await measure(() => deliver(mailDelayed, delayedMail(user, ticket))),
    secondFactor,
    authorize: authorized,
    consent: consented,
    token: await measure(() => callWithStatus(token, { body: form })),
    exchange: await measure(() => callWithStatus(exchange, { body: { access_token: accessToken } })),
    balances: await read(accountInfo),
    bills: await read(accountBills, 'current=1&size=20'),
    dashboard: await read(dashboard),
    firstBill: await measure(() => deliver(walletAdjusted, adjustment(newcomer))),
    nextBill: await measure(() => deliver(walletAdjusted, adjustment(payer))),
  }
}
