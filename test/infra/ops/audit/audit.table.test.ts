import {
  CreateKeyCommand,
  DisableKeyCommand,
  GetKeyPolicyCommand,
  KMSClient,
  PutKeyPolicyCommand,
  ScheduleKeyDeletionCommand,
  UntagResourceCommand,
} from '@aws-sdk/client-kms'
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { handler as rotate } from '../../../../functions/schedule/rotate-signing-keys.ts'
import { audit } from '../../../../infra/ops/audit/audit.ts'
import { anyPrincipal } from '../../../../infra/signing-key-policy.ts'
import type { Facts } from '../../../../infra/ops/audit/facts.ts'
import { gatherFacts } from '../../../../infra/ops/audit/gather-facts.ts'
import { layOut } from '../../../../infra/ops/report.ts'
import { reportAudit } from '../../../../infra/ops/reports/audit.ts'
import { clientOptions } from '../../../../shared/aws/client-options.ts'
import { kms } from '../../../../shared/aws/kms.ts'
import { keysPartition } from '../../../../shared/aws/signing-key-names.ts'
import { queryItems, readItem } from '../../../../shared/db/read.ts'
import type { Key } from '../../../../shared/db/table.ts'
import { writeItem } from '../../../../shared/db/write.ts'
import { requireEnv } from '../../../../shared/env.ts'
import { evidenceHash, evidenceKey } from '../../../../shared/keys/evidence.ts'
import { readKeySet, signingKeySetKey, thumbprint, toJwks } from '../../../../shared/keys/set.ts'
import { settings } from '../../../../shared/settings.ts'
import { useOwnKeys } from '../../../support/own-keys.ts'
import { listen } from '../../../support/serve-http.ts'
import { actWhile } from '../../../support/tamper-calls.ts'

const { renew } = useOwnKeys()
const day = 86_400_000

/** The keys that the faked JWKS endpoint publishes. Undefined: it publishes the stored key set. */
let published: object[] | undefined
const { url: baseUrl, close } = await listen((request, response) => {
  const answer = async () => {
    if (request.url?.endsWith('openid-configuration')) return { issuer: baseUrl, jwks_uri: `${baseUrl}/keys` }
    return published === undefined ? toJwks((await readKeySet()).keys) : { keys: published }
  }
  void answer().then((body) =>
    response.setHeader('cache-control', 'public, max-age=300').end(JSON.stringify(body)),
  )
})

afterAll(close)
afterEach(() => {
  vi.unstubAllEnvs()
  published = undefined
})

const call = (event: object) => rotate(event, { awsRequestId: randomUUID() })

const report = async (at?: number) => audit(await facts(at))

async function facts(at = Date.now()) {
  const target = { stage: 'local', baseUrl, hasAlarms: false, namePrefix: '', settings: settings() }
  const options = { at, tag: requireEnv('SIGNING_KEY_TAG'), environment: process.env }
  return gatherFacts({ ...target, breakGlass: [anyPrincipal] }, options)
}
const findings = async (at?: number) => [
  ...new Set((await report(at)).findings.map(({ finding }) => finding)),
]

const setItem = async (key: Key, change: object) =>
  writeItem({ Put: { Item: { ...(await readItem(key)), ...key, ...change } } })

/** Creates a key set with one key in each state: published, active, retiring and (in the archive) retired. */
async function live() {
  await renew()
  const { signer: first } = await call({})
  await call({ action: 'rotate', emergency: true })
  await call({ action: 'revoke', kid: first })
  await call({ action: 'rotate', emergency: true })
  // Waits, because a second rotation within the same millisecond does nothing.
  const now = Date.now()
  await vi.waitUntil(() => Date.now() > now, { interval: 1 })
  await call({ action: 'rotate' })
  const { keys } = await readKeySet()
  const of = (state: string) => keys.find((key) => key.state === state) ?? expect.unreachable(state)
  return { active: of('active'), published: of('published'), retiring: of('retiring') }
}

let keySet: Awaited<ReturnType<typeof live>>
beforeAll(async () => void (keySet = await live()), 60_000)

/** A test case: `change` alters the facts that an audit gathers; `found` names the expected findings. */
type Row = [what: string, found: string, change: (facts: Facts) => void]
const row = (...columns: Row): Row => columns

const inKms = ({ kms }: Facts, { arn }: { arn: string }) =>
  kms.find((key) => key.arn === arn) ?? expect.unreachable()
const onRecord = ({ keySet }: Facts, state: string) =>
  keySet?.keys.find((key) => key.state === state) ?? expect.unreachable()
const evidenceAt = ({ evidence }: Facts, sequence: number) => evidence.at(sequence) ?? expect.unreachable()

/** Edits an evidence record without changing its stored hash and signature. */
function edit(row: Facts['evidence'][number]): void {
  const record = Object.assign(row.record ?? expect.unreachable(), { run_id: 'somebody else' })
  row.hash = evidenceHash(record)
  row.content += ' '
}

const positions = Object.entries({ 'the oldest': 0, 'one in the middle': 2, 'the newest': -1 })

const rows = [
  row('a key that somebody disabled in KMS', 'disabled_behind_the_service', (facts) =>
    Object.assign(inKms(facts, keySet.active), { state: 'Disabled' }),
  ),
  row(
    'a key that somebody scheduled for deletion in KMS',
    'disabled_behind_the_service deletion_scheduled',
    (facts) => Object.assign(inKms(facts, keySet.published), { state: 'PendingDeletion' }),
  ),
  row('a retired key that was enabled again in KMS', 'retired_but_enabled', (facts) =>
    Object.assign(inKms(facts, facts.archive[0] ?? expect.unreachable()), { state: 'Enabled' }),
  ),
  ...Object.entries({
    tags: {},
    origin: 'EXTERNAL',
    usage: 'ENCRYPT_DECRYPT',
    spec: 'ECC_NIST_P256',
    thumbprint: 'of another key',
  }).map(([property, value]) =>
    row(
      `a signing key with other ${property} in KMS: ${JSON.stringify(value)}`,
      'not_the_key_on_record',
      (facts) => Object.assign(inKms(facts, keySet.active), { [property]: value }),
    ),
  ),
  row(
    'a KMS key with the deployment’s tag that is not on record, whatever its state',
    'unknown_key',
    (facts) =>
      facts.kms.push({ ...inKms(facts, keySet.active), arn: `${keySet.active.arn}-x`, state: 'Disabled' }),
  ),
  row(
    'a KMS key that is not on record and older than the open attempt to create a key',
    'unknown_key',
    (facts) => {
      Object.assign(facts.keySet ?? {}, { attempt: { arn: null, started_at: facts.at } })
      facts.kms.push({ ...inKms(facts, keySet.active), arn: `${keySet.active.arn}-x` })
    },
  ),
  row(
    'a retired key that KMS will delete although the deployment deletes no keys',
    'deletion_scheduled',
    (facts) => Object.assign(facts, { settings: { ...facts.settings, signingKeyDeletionDays: 0 } }),
  ),
  row('a key that KMS hides from the auditor', 'key_hidden', (facts) =>
    Object.assign(inKms(facts, keySet.active), { state: 'Denied' }),
  ),
  row('a key set without an active key', 'no_signer state_unaccounted rotation_overdue', (facts) =>
    Object.assign(onRecord(facts, 'active'), { state: 'retiring', retiring_at: Date.now() }),
  ),
  row('a JWKS that cannot be read', 'key_set_unavailable', (facts) =>
    Object.assign(facts, { jwks: { answered: false, problem: 'answered 500' } }),
  ),
  row('a JWKS that clients may cache until its next key signs', 'cached_too_long', ({ jwks, settings }) =>
    Object.assign(jwks, { maxAgeSeconds: settings.signingKeyPublishSeconds }),
  ),
  row('a second active key on record', 'state_unaccounted', (facts) =>
    Object.assign(onRecord(facts, 'published'), { state: 'active', active_at: Date.now() }),
  ),
  row('a key that is on record twice', 'state_unaccounted', ({ archive, keySet: found }) =>
    archive.push(...(found?.keys.slice(0, 1) ?? [])),
  ),
  row('a public key on record that somebody exchanged', 'state_unaccounted', (facts) =>
    Object.assign(onRecord(facts, 'active'), { n: onRecord(facts, 'published').n }),
  ),
  row('a key whose timestamps on record differ from its evidence', 'state_unaccounted', (facts) =>
    Object.assign(onRecord(facts, 'active'), { active_at: Date.now() - day }),
  ),
  row('a key with the instant of a state that it has not reached', 'state_unaccounted', (facts) =>
    Object.assign(onRecord(facts, 'active'), { retiring_at: Date.now() }),
  ),
  row(
    'a key that was removed from the key set',
    'state_unaccounted unknown_key foreign_key',
    ({ keySet: found }) =>
      Object.assign(found ?? {}, { keys: found?.keys.filter(({ state }) => state !== 'retiring') }),
  ),
  ...positions.flatMap(([which, position]) => [
    row(`a removed evidence record: ${which}`, 'evidence_removed history_rewritten', ({ evidence }) =>
      evidence.splice(position, 1),
    ),
    row(`an edited evidence record: ${which}`, 'evidence_edited', (facts) =>
      edit(evidenceAt(facts, position)),
    ),
  ]),
  row(
    'an evidence record under another spelling of its number',
    'evidence_removed evidence_edited',
    (facts) => Object.assign(evidenceAt(facts, 2), { sortKey: 'EVIDENCE#3' }),
  ),
  row('removed evidence records beside each other', 'evidence_removed history_rewritten', ({ evidence }) =>
    evidence.splice(1, 2),
  ),
  row(
    'a key set whose number of the newest evidence record is huge',
    'evidence_removed',
    ({ keySet: found }) => Object.assign(found ?? {}, { sequence: Number.MAX_SAFE_INTEGER }),
  ),
  row(
    'a signed evidence record that follows another one than the one before it',
    'evidence_edited',
    (facts) => Object.assign(evidenceAt(facts, 1).record ?? {}, { previous_hash: 'of another record' }),
  ),
  row('a key set that names another newest evidence record', 'evidence_edited', (facts) =>
    Object.assign(facts.keySet ?? {}, { evidence_hash: 'of another record' }),
  ),
  row('an evidence record that the evidence key has not signed', 'evidence_edited', (facts) =>
    Object.assign(evidenceAt(facts, 2).record ?? {}, { signature: '' }),
  ),
  row('a copy of a record that is not in the evidence chain', 'history_rewritten', ({ copies }) =>
    copies?.push('evidence/000000000001-of-another-record'),
  ),
  row('an evidence record without a copy after an hour', 'evidence_uncopied', (facts) =>
    Object.assign(facts, { copies: facts.copies?.slice(1), at: facts.at + day / 24 }),
  ),
  row(
    'an evidence chain that was rewritten since an earlier report',
    'history_rewritten',
    (facts) => (facts.anchor = { sequence: 2, hash: 'of another record' }),
  ),
  row('an evidence key whose private half was imported into KMS', 'evidence_key_changed', (facts) =>
    Object.assign(facts.evidenceKey, { origin: 'EXTERNAL' }),
  ),
  row('a key taken into use without a verified test signature', 'key_taken_unproven', (facts) => {
    const { record } = facts.evidence.find(({ record }) => record?.new_kid) ?? expect.unreachable()
    Object.assign(record?.check ?? expect.unreachable(), { verified_by_kms: false })
  }),
  row('a recorded disposal after which KMS could still use the key', 'disposal_unproven', (facts) =>
    Object.assign(evidenceAt(facts, 3).record ?? {}, { kms_state: 'Enabled' }),
  ),
  row('a trail that somebody stopped', 'calls_unlogged', (facts) => (facts.trail = { ok: false, words: '' })),
  row('a disabled rotation schedule', 'schedule_disabled', ({ schedule }) => (schedule.enabled = false)),
  row('a rotation schedule without a rate', 'schedule_changed', ({ schedule }) =>
    Object.assign(schedule, { expression: undefined }),
  ),
  row('a rotation schedule that starts something else', 'schedule_changed', ({ schedule }) =>
    Object.assign(schedule, { targets: ['arn:aws:lambda:eu-central-1:1:function:another'] }),
  ),
  row('a missing rotation schedule', 'schedule_changed', ({ schedule }) => (schedule.exists = false)),
]

it('the audit of a correct key set has no findings', async () => {
  const sound = await report()
  expect(sound.findings).toEqual([])
  expect(sound.ok).toBe(true)
  expect(sound.signer).toBe(keySet.active.kid)
  const states = sound.keys.map(({ state, kms: inKms }) => `${state} ${inKms?.state}`)
  expect(states.join()).toBe('retired PendingDeletion,retiring Enabled,active Enabled,published Enabled')
  expect(sound.controls.every(({ holds }) => holds)).toBe(true)
  expect(sound.next_due).toBeGreaterThan(sound.at)
})

describe('audit findings', () => {
  it.each(rows)('the audit reports %s', async (_what, found, change) => {
    const gathered = await facts()
    change(gathered)
    const { findings: reported, ok } = audit(gathered)
    expect([...new Set(reported.map(({ finding }) => finding))].join(' ')).toBe(found)
    expect(ok).toBe(false)
  })

  it.each(['ListKeysCommand', 'QueryCommand'])(
    'if a rotation creates a key just after the audit’s %s, the audit reports nothing',
    async (command) => {
      const rotations = async () => {
        await call({ action: 'rotate', emergency: true })
        expect(await call({ action: 'rotate' })).toMatchObject({ transitions: [{ action: 'publish' }] })
      }
      expect(await actWhile('is answered', command, rotations, findings)).toEqual([])
      keySet = await live()
    },
  )

  it('the audit says in words what a changed key policy wrongly allows, and which statements are missing', async () => {
    const KeyId = keySet.active.arn
    const { Policy } = await kms.send(new GetKeyPolicyCommand({ KeyId }))
    const root = `arn:aws:iam::${KeyId.split(':')[4]}:root`
    const loosened = { Effect: 'Allow', Principal: { AWS: root }, Action: 'kms:*', Resource: '*' }
    await kms.send(new PutKeyPolicyCommand({ KeyId, Policy: JSON.stringify({ Statement: loosened }) }))
    const { findings: reported, controls } = await report()
    expect(reported).toMatchObject([{ finding: 'policy_changed', subject: KeyId }])
    expect(reported[0]?.message).toMatch(/it allows kms:\* to AWS:.*; it lacks .* that allows kms:Sign to/)
    expect(controls.filter(({ holds }) => !holds)).toMatchObject([{ control: 'pci-3.6.1' }])
    await kms.send(new PutKeyPolicyCommand({ KeyId, Policy }))
    expect(await findings()).toEqual([])
  })

  // A foreign key counts as one even if it is also in the stored key set.
  it('the audit reports a JWKS with a missing key, a wrong kid or a foreign key', async () => {
    const { keys } = toJwks((await readKeySet()).keys)
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const { n = '', e = '' } = publicKey.export({ format: 'jwk' })
    const foreign = { kty: 'RSA', n, e, alg: 'RS256', use: 'sig', kid: thumbprint({ n, e }) }
    published = [...keys, foreign]
    expect((await report()).findings).toMatchObject([{ finding: 'foreign_key', subject: foreign.kid }])
    published = keys.filter(({ kid }) => kid !== keySet.retiring.kid)
    const missing = { finding: 'key_not_published', subject: keySet.retiring.kid }
    expect((await report()).findings).toMatchObject([missing])
    published = keys.map((key) => (key.kid === keySet.active.kid ? { ...foreign, kid: key.kid } : key))
    expect(await findings()).toEqual(['wrong_kid'])
    published = undefined
    const stored = await readKeySet()
    const alien = { ...keySet.retiring, kid: foreign.kid, n, e }
    await setItem(signingKeySetKey, { keys: [...stored.keys, alien] })
    const told = (await report()).findings.find(({ finding }) => finding === 'foreign_key')
    expect(told?.message).toContain('a key that the rotation did not make: whoever has its private half')
    await setItem(signingKeySetKey, stored)
  })

  it('the audit reports a key rotation that is overdue by a day', async () => {
    const due = (await report()).next_due ?? expect.unreachable()
    expect(await findings(due + 60_000)).toEqual([])
    const { findings: found } = await report(due + day)
    expect(found).toMatchObject([
      { finding: 'rotation_overdue', controls: ['nist-cryptoperiod', 'pci-3.7.4'] },
      { finding: 'retirement_overdue', subject: keySet.retiring.kid },
    ])
    expect(found[0]?.message).toContain('overdue by 1 d')
    const later = ['rotation_overdue', 'retirement_overdue', 'cryptoperiod_exceeded']
    expect(await findings(Date.now() + 60 * day)).toEqual(later)
  })

  it('the audit reports an attribute that was added to an evidence record', async () => {
    const stored = (await readItem(evidenceKey(2))) ?? expect.unreachable()
    await setItem(evidenceKey(2), { comment: 'all is well' })
    expect(await findings()).toEqual(['evidence_edited'])
    await writeItem({ Put: { Item: { ...stored, ...evidenceKey(2) } } })
  })

  it('the audit reports a record that was added to the evidence chain', async () => {
    await setItem(evidenceKey(99), { comment: 'nothing happened' })
    expect(await findings()).toEqual(['evidence_edited'])
    await writeItem({ Delete: { Key: evidenceKey(99) } })
  })

  it('the audit reports every key whose records were deleted', async () => {
    keySet = await live()
    const made = (await report()).keys.map(({ arn }) => arn)
    for await (const { sk } of queryItems({
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': keysPartition },
    }))
      await writeItem({ Delete: { Key: { pk: keysPartition, sk: String(sk) } } })
    const missing = 'There is no valid key set: it was deleted or edited, for there are 4 keys in KMS.'
    expect((await report()).findings[0]).toMatchObject({ finding: 'ring_missing', message: missing })
    await call({})
    for (const KeyId of made.slice(1)) await kms.send(new ScheduleKeyDeletionCommand({ KeyId }))
    const { findings: reported } = await report()
    const named = reported.filter(({ finding }) => finding === 'unknown_key').map(({ subject }) => subject)
    expect(named.sort()).toEqual(made.sort())
  })

  it('the audit reports an evidence key that is not the rotation’s alone, is ambiguous or disabled', async () => {
    const credentials = { accessKeyId: 'administrator', secretAccessKey: 'any' }
    const administrator = new KMSClient({ ...clientOptions(), credentials })
    const shared = requireEnv('EVIDENCE_KEY_ID')
    const Tags = [{ TagKey: 'key', TagValue: 'account-service/EvidenceKey' }]
    // The new key gets the default policy of KMS: whoever has the IAM permission may sign with the key.
    const { KeyMetadata } = await administrator.send(
      new CreateKeyCommand({ KeySpec: 'RSA_2048', KeyUsage: 'SIGN_VERIFY', Tags }),
    )
    const KeyId = KeyMetadata?.Arn ?? expect.unreachable()
    vi.stubEnv('EVIDENCE_KEY_ID', KeyId)
    await live()
    const { findings: loose, evidence } = await report()
    expect(evidence.key).toMatchObject({ arn: KeyId, state: 'Enabled' })
    const other = { finding: 'evidence_key_changed', subject: shared }
    expect(loose).toMatchObject([{ finding: 'evidence_key_changed', subject: KeyId }, other])
    expect(loose[0]?.message).toContain('it lacks the statement that denies kms:Sign to')
    const { Policy } = await kms.send(new GetKeyPolicyCommand({ KeyId: shared }))
    await administrator.send(new PutKeyPolicyCommand({ KeyId, Policy }))
    expect((await report()).findings).toMatchObject([other])
    await administrator.send(new DisableKeyCommand({ KeyId }))
    const { findings: disabled } = await report()
    expect(disabled).toMatchObject([{ finding: 'evidence_unverified', subject: KeyId }, other])
    expect(disabled[0]?.message).toContain('The evidence key is Disabled in KMS')
    await administrator.send(new UntagResourceCommand({ KeyId, TagKeys: ['key'] }))
  })

  it('the audit reports the keys that a failover left in the lost region, until they are retired', async () => {
    keySet = await live()
    vi.stubEnv('AWS_REGION', 'eu-west-1')
    const { active, published, retiring } = keySet
    // The local KMS has no replica of the evidence key in the other region.
    const replica = requireEnv('EVIDENCE_KEY_ID')
    const left = (await report()).findings.map(({ finding, subject }) => [finding, subject])
    expect(left).toEqual([
      ['evidence_unverified', replica],
      ...[retiring, active, published].map(({ kid }) => ['key_in_other_region', kid]),
    ])
    for (const { kid } of [published, retiring]) await call({ action: 'revoke', kid })
    const after = await report()
    expect(after.findings.map(({ subject }) => subject)).toEqual([replica, active.kid])
    expect(after.keys.map(({ kms: inKms }) => inKms?.state)).toEqual(Array(4).fill('InOtherRegion'))
    vi.unstubAllEnvs()
    expect(await findings()).toEqual(['retired_but_enabled'])
  })
})

it('the text report of the audit names every key and every finding', async () => {
  await setItem(evidenceKey(4), { run_id: 'another' })
  const found = await report()
  const text = [...layOut(reportAudit(found))].map(([line]) => line).join('\n')
  for (const { kid } of found.keys) expect(text).toContain(kid)
  expect(text).toContain('evidence_edited')
})
