import { expect } from 'vitest'
import { readKeyStatus } from '../../../infra/ops/keys/key-status.ts'
import { isRecorded } from '../../../shared/events/event-record.ts'
import { readWallet } from '../../../shared/ledger/wallet.ts'
import { describeWallet } from '../../support/ledger.ts'
import { basic, pkce, type TestClient } from '../../support/oauth-clients.ts'
import { authenticatorCode } from '../../support/sign-in.ts'
import type { Before } from './a-lost-region-before.ts'
import { findings, follow, type Procedure, signerOf } from './follow.ts'
import { kidOf, type People, peopleOf } from './people.ts'
import { type SentEvent, sendEvents } from './send-events.ts'

/**
 * Follows the procedure in the standby region, and checks what people have there. Resolves with the instant
 * of the first sign-in (epoch milliseconds), and the number of events that were lost until senders repeated
 * them.
 */
export async function actInStandbyRegion(url: string, before: Omit<Before, 'items'>) {
  const procedure = follow('A lost region', url)
  const people = peopleOf(url)
  const { session, client } = before
  await mendLedger(procedure, before.tornAt)
  expect(await people.read(session.accessToken)).toBe(200)
  const signedInAt = await replaceSigner(procedure, people, before)
  expect(await people.verifies(session.deviceToken)).toBe(true)
  expect(await answerToClient(url, client, client.secret ?? '')).toBe('invalid_grant')
  expect(await answerToClient(url, client, 'another secret of 32 characters or more')).toBe('invalid_client')
  return { signedInAt, lostEvents: await repeatEvents(procedure, before) }
}

/** Takes the ledger back to an instant before the loss: a transaction that arrived in part is gone then. */
async function mendLedger({ ops }: Procedure, tornAt: number): Promise<void> {
  const words = { INSTANT: new Date(tornAt).toISOString() }
  const tornFound = async () => (await ops('ledger torn --since INSTANT', words)).code === 1
  expect(await tornFound()).toBe(true)
  await ops('ledger mend --since INSTANT --apply', words)
  expect(await tornFound()).toBe(false)
  expect((await ops('ledger verify')).code).toBe(0)
  expect((await ops('addresses hold')).code).toBe(0)
}

/**
 * Lets a key of this region sign. The second factor that was answered 503 is taken then, and the keys that
 * were left behind are published until their tokens have expired.
 */
async function replaceSigner(
  procedure: Procedure,
  people: People,
  { newcomer, session }: Omit<Before, 'items'>,
) {
  const { data } = await people.sendPassword(newcomer)
  const code = await authenticatorCode(newcomer.totpSecret)
  const enter = () => people.sendCode(newcomer, data['login_ticket'], code)
  expect(await enter()).toMatchObject({ status: 503, retryAfter: '5' })
  const published = (await keysIn('published'))[0] ?? expect.unreachable()
  await procedure.ops('keys revoke KID', { KID: published })
  const signer = signerOf(await procedure.ops('keys rotate --emergency'))
  const answer = await enter()
  const signedInAt = Date.now()
  expect(answer.status).toBe(200)
  const deviceToken = answer.data['device_token'] ?? ''
  expect(kidOf(deviceToken)).toBe(signer)
  expect(await people.verifies(deviceToken)).toBe(true)
  expect(await people.read(answer.data['access_token'] ?? '')).toBe(200)
  const retiring = await keysIn('retiring')
  expect(retiring).toContain(kidOf(session.deviceToken))
  expect(await findings(procedure)).toEqual(retiring.map((kid) => `key_in_other_region ${kid}`).sort())
  const doctor = (await procedure.ops('doctor')).result as { checks: { check: string; ok: boolean }[] }
  expect(doctor.checks.filter(({ ok }) => !ok)).toEqual([])
  return signedInAt
}

const keysIn = async (wanted: string): Promise<string[]> =>
  (await readKeyStatus()).keys.filter(({ state }) => state === wanted).map(({ kid }) => kid)

/** The error of a token request with a code that does not exist, which tells whether the secret is right. */
async function answerToClient(
  url: string,
  { clientId, redirectUri }: TestClient,
  secret: string,
): Promise<unknown> {
  const response = await fetch(`${url}/oauth2/token`, {
    method: 'POST',
    headers: basic(clientId, secret),
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code: 'none',
      redirect_uri: redirectUri,
      code_verifier: pkce().verifier,
    }),
  })
  return ((await response.json()) as { error: unknown }).error
}

/**
 * Sends all events again: the standby region had some of them, and others never reached it. Resolves with the
 * number of these.
 */
async function repeatEvents(
  procedure: Procedure,
  { asset, holdings, replicated, unreplicated, directory }: Omit<Before, 'items'>,
): Promise<number> {
  const balance = async () => describeWallet(await readWallet(asset, { consistent: true })).holdings
  expect(await balance()).toEqual({ USDT: '0.3 0 0 0' })
  const events = [...replicated, ...unreplicated]
  const isKnown = await Promise.all(events.map(isApplied))
  expect(events.filter((_, i) => !isKnown[i])).toEqual(unreplicated)
  await sendEvents(procedure, events, directory)
  expect(await balance()).toEqual(holdings)
  expect((await procedure.ops('ledger verify')).code).toBe(0)
  return unreplicated.length
}

/** Whether the table knows that an event took effect. */
const isApplied = ({ 'detail-type': detailType, detail }: SentEvent): Promise<boolean> => {
  const { user_id, adjustment_id } = detail as { user_id: number; adjustment_id?: string }
  return isRecorded({ detailType, businessKey: adjustment_id ?? String(user_id) })
}
