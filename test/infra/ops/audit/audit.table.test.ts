import { GetKeyPolicyCommand, PutKeyPolicyCommand, ScheduleKeyDeletionCommand } from '@aws-sdk/client-kms'
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { handler as rotate } from '../../../../functions/schedule/rotate-signing-keys.ts'
import { audit, summarize } from '../../../../infra/ops/audit/audit.ts'
import { anyPrincipal } from '../../../../infra/signing-key-policy.ts'
import type { Facts } from '../../../../infra/ops/audit/facts.ts'
import { gatherFacts } from '../../../../infra/ops/audit/gather-facts.ts'
import type { Target } from '../../../../infra/ops/target.ts'
import { formatResult } from '../../../../infra/ops/terminal.ts'
import { kms } from '../../../../shared/aws/kms.ts'
import { keysPartition } from '../../../../shared/aws/signing-key-names.ts'
import { queryItems } from '../../../../shared/db/read.ts'
import { tableName } from '../../../../shared/db/table.ts'
import { writeItem } from '../../../../shared/db/write.ts'
import { evidenceHash, evidenceKey } from '../../../../shared/keys/evidence.ts'
import { readKeySet, thumbprint, toJwks } from '../../../../shared/keys/set.ts'
import { settings } from '../../../../shared/settings.ts'
import { useOwnKeys } from '../../../support/own-keys.ts'
import { listen } from '../../../support/serve-http.ts'
import { actWhile } from '../../../support/tamper-calls.ts'

const { renew } = useOwnKeys()
const day = 86_400_000

/** The keys of the faked JWKS endpoint; undefined for those of the stored key set. */
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
  const target: Target = {
    stage: 'local',
    baseUrl,
    hasEdge: false,
    hasAlarms: false,
    awsEndpoint: undefined,
    region: undefined,
    namePrefix: '',
    tableName: tableName(),
    eventBusName: 'account-service',
    settings: settings(),
    breakGlass: [anyPrincipal],
  }
  const { SIGNING_KEY_TAG: tag = '', EVIDENCE_COPIES: copiesAt } = process.env
  return gatherFacts(target, { at, tag, copiesAt })
}
const findings = async (at?: number) => [
  ...new Set((await report(at)).findings.map(({ finding }) => finding)),
]

const setItem = (Key: { pk: string; sk: string }, attribute: string, value: unknown) =>
  writeItem({
    Update: {
      Key,
      UpdateExpression: 'SET #attribute = :value',
      ExpressionAttributeNames: { '#attribute': attribute },
      ExpressionAttributeValues: { ':value': value },
    },
  })
/** Creates a key set: a retired key in the archive, a retiring, an active and a published key. */
async function live() {
  await renew()
  const { signer: first } = await call({})
  await call({ action: 'rotate', emergency: true })
  await call({ action: 'revoke', kid: first })
  await call({ action: 'rotate', emergency: true })
  // A request in the same millisecond as the last rotation would count as fulfilled, so the test waits.
  const now = Date.now()
  await vi.waitUntil(() => Date.now() > now, { interval: 1 })
  await call({ action: 'rotate' })
  const { keys } = await readKeySet()
  const of = (state: string) => keys.find((key) => key.state === state) ?? expect.unreachable(state)
  return { active: of('active'), published: of('published'), retiring: of('retiring') }
}

let keySet: Awaited<ReturnType<typeof live>>
beforeAll(async () => {
  keySet = await live()
}, 60_000)

/** A change of the gathered facts, and the findings that it must cause. */
type Row = [what: string, change: (facts: Facts) => void, found: string[]]

const inKms = ({ kms }: Facts, { arn }: { arn: string }) =>
  kms.find((key) => key.arn === arn) ?? expect.unreachable()
const onRecord = ({ keySet }: Facts, state: string) =>
  keySet?.keys.find((key) => key.state === state) ?? expect.unreachable()
const evidenceAt = ({ evidence }: Facts, sequence: number) => evidence.at(sequence) ?? expect.unreachable()

/** Changes the record of an evidence row, but neither the hash nor the signature inside the record. */
function edit(row: Facts['evidence'][number]): void {
  const record = Object.assign(row.record ?? expect.unreachable(), { run_id: 'somebody else' })
  row.hash = evidenceHash(record)
  row.content += ' '
}

const positions: [which: string, position: number][] = [
  ['the oldest', 0],
  ['one in the middle', 2],
  ['the newest', -1],
]

const rows: Row[] = [
  [
    'a key that somebody disabled in KMS',
    (facts) => Object.assign(inKms(facts, keySet.active), { state: 'Disabled' }),
    ['disabled_behind_the_service'],
  ],
  [
    'a key that somebody scheduled for deletion in KMS',
    (facts) =>
      Object.assign(inKms(facts, keySet.published), {
        state: 'PendingDeletion',
        deletionAt: Date.now() + day,
      }),
    ['disabled_behind_the_service', 'deletion_scheduled'],
  ],
  [
    'a retired key that was enabled again in KMS',
    (facts) => Object.assign(inKms(facts, facts.archive[0] ?? expect.unreachable()), { state: 'Enabled' }),
    ['retired_but_enabled'],
  ],
  ...Object.entries({
    tags: {},
    origin: 'EXTERNAL',
    usage: 'ENCRYPT_DECRYPT',
    spec: 'ECC_NIST_P256',
    thumbprint: 'of another key',
  }).map(([property, value]): Row => [
    `a signing key with other ${property} in KMS: ${JSON.stringify(value)}`,
    (facts) => Object.assign(inKms(facts, keySet.active), { [property]: value }),
    ['not_the_key_on_record'],
  ]),
  [
    'a KMS key with the deployment’s tag that is not on record, whatever its state',
    (facts) =>
      facts.kms.push({ ...inKms(facts, keySet.active), arn: `${keySet.active.arn}-x`, state: 'Disabled' }),
    ['unknown_key'],
  ],
  [
    'a second active key on record',
    (facts) => Object.assign(onRecord(facts, 'published'), { state: 'active', active_at: Date.now() }),
    ['several_signers', 'state_unaccounted'],
  ],
  [
    'a key whose timestamps on record differ from its evidence',
    (facts) => Object.assign(onRecord(facts, 'active'), { active_at: Date.now() - day }),
    ['state_unaccounted'],
  ],
  [
    'a key that was removed from the key set',
    ({ keySet: found }) =>
      Object.assign(found ?? {}, { keys: found?.keys.filter(({ state }) => state !== 'retiring') }),
    ['keys_unaccounted', 'key_removed', 'unknown_key', 'foreign_key'],
  ],
  ...positions.map(([which, position]): Row => [
    `a removed evidence record: ${which}`,
    ({ evidence }) => evidence.splice(position, 1),
    ['evidence_removed', 'history_rewritten'],
  ]),
  ...positions.map(([which, position]): Row => [
    `an edited evidence record: ${which}`,
    (facts) => edit(evidenceAt(facts, position)),
    ['evidence_edited'],
  ]),
  [
    'an evidence record that the evidence key has not signed',
    (facts) => Object.assign(evidenceAt(facts, 2).record ?? {}, { signature: '' }),
    ['evidence_edited'],
  ],
  [
    'a copy of a record that is not in the evidence chain',
    ({ copies }) => copies?.push('evidence/000000000001-of-another-record'),
    ['history_rewritten'],
  ],
  [
    'an evidence record that has no copy an hour later',
    (facts) => Object.assign(facts, { copies: facts.copies?.slice(1), at: facts.at + day / 24 }),
    ['evidence_uncopied'],
  ],
  [
    'an evidence chain that was rewritten since an earlier report',
    (facts) => (facts.anchor = { sequence: 2, hash: 'of another record' }),
    ['history_rewritten'],
  ],
  [
    'an evidence key that KMS does not have, or that is one of two',
    (facts) => facts.evidenceKeys.push(...facts.evidenceKeys),
    ['evidence_unverified'],
  ],
  [
    'a rotation schedule that is disabled',
    ({ schedule }) => (schedule.enabled = false),
    ['schedule_disabled'],
  ],
  [
    'a trail that somebody stopped',
    (facts) => (facts.trail = { ok: false, words: 'arn:trail is stopped' }),
    ['calls_unlogged'],
  ],
  ['a rotation schedule that is missing', ({ schedule }) => (schedule.exists = false), ['schedule_removed']],
]

it('the audit of a correct key set has no findings', async () => {
  const sound = await report()
  expect(sound.findings).toEqual([])
  expect(sound.ok).toBe(true)
  expect(sound.signer).toBe(keySet.active.kid)
  expect(sound.keys.map(({ state, kms: inKms }) => [state, inKms?.state])).toEqual([
    ['retired', 'PendingDeletion'],
    ['retiring', 'Enabled'],
    ['active', 'Enabled'],
    ['published', 'Enabled'],
  ])
  expect(sound.controls.every(({ holds }) => holds)).toBe(true)
  expect(sound.next_due).toBeGreaterThan(sound.at)
})

describe('audit findings', () => {
  it.each(rows)('the audit reports %s', async (_what, change, found) => {
    const gathered = await facts()
    change(gathered)
    const { findings: reported, ok } = audit(gathered)
    expect([...new Set(reported.map(({ finding }) => finding))]).toEqual(found)
    expect(ok).toBe(false)
  })

  it('an audit during a rotation does not mistake the copy of a new evidence record for the trace of a rewritten one', async () => {
    const rotation = () => call({ action: 'rotate', emergency: true })
    expect(await actWhile('is answered', 'QueryCommand', rotation, findings)).not.toContain(
      'history_rewritten',
    )
    keySet = await live()
  })

  it('the audit says in words what a changed key policy allows, and what it does not allow any more', async () => {
    const KeyId = keySet.active.arn
    const { Policy } = await kms.send(new GetKeyPolicyCommand({ KeyId }))
    const root = `arn:aws:iam::${KeyId.split(':')[4]}:root`
    const loosened = { Effect: 'Allow', Principal: { AWS: root }, Action: 'kms:*', Resource: '*' }
    await kms.send(new PutKeyPolicyCommand({ KeyId, Policy: JSON.stringify({ Statement: loosened }) }))
    const { findings: reported, controls } = await report()
    expect([...new Set(reported.map(({ finding, subject }) => `${finding} ${subject}`))]).toEqual([
      `policy_changed ${KeyId}`,
    ])
    expect(reported[0]?.message).toContain(`it allows kms:* to AWS:${root}`)
    expect(reported.map(({ message }) => message).join()).toContain('no longer allows kms:Sign to')
    expect(controls.filter(({ holds }) => !holds)).toMatchObject([{ control: 'pci-3.6.1' }])
    await kms.send(new PutKeyPolicyCommand({ KeyId, Policy }))
    expect(await findings()).toEqual([])
  })

  it('the audit reports the recorded disposal of a key with which KMS could still sign', async () => {
    const gathered = await facts()
    const disposal = gathered.evidence.find(({ record }) => record?.action === 'disable')?.record
    expect(disposal?.kms_state).toBe('PendingDeletion')
    Object.assign(disposal ?? {}, { kms_state: 'Enabled' })
    expect(audit(gathered).findings).toMatchObject([
      { finding: 'disposal_unproven', subject: `evidence ${disposal?.sequence}` },
    ])
  })

  it('the audit reports a JWKS with an unknown key, without a key on record, or with an unknown key under a known kid', async () => {
    const { keys } = toJwks((await readKeySet()).keys)
    const { n = '', e = '' } = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({
      format: 'jwk',
    })
    const foreign = { kty: 'RSA', n, e, alg: 'RS256', use: 'sig', kid: thumbprint({ n, e }) }
    published = [...keys, foreign]
    expect((await report()).findings).toMatchObject([{ finding: 'foreign_key', subject: foreign.kid }])
    published = keys.filter(({ kid }) => kid !== keySet.retiring.kid)
    expect((await report()).findings).toMatchObject([
      { finding: 'key_not_published', subject: keySet.retiring.kid },
    ])
    published = keys.map((key) => (key.kid === keySet.active.kid ? { ...foreign, kid: key.kid } : key))
    expect(await findings()).toEqual(['wrong_kid'])
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
    expect(await findings(Date.now() + 60 * day)).toEqual([
      'rotation_overdue',
      'retirement_overdue',
      'cryptoperiod_exceeded',
    ])
  })

  it('the audit reports every key that the rotation made before somebody deleted its records', async () => {
    keySet = await live()
    const made = (await report()).keys.map(({ arn }) => arn)
    for await (const { sk } of queryItems({
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': keysPartition },
    }))
      await writeItem({ Delete: { Key: { pk: keysPartition, sk: String(sk) } } })
    expect((await report()).findings[0]).toMatchObject({
      finding: 'ring_missing',
      message: 'There is no valid key set: it was deleted or edited, for there are 4 keys in KMS.',
    })
    await call({})
    for (const KeyId of made.slice(1)) await kms.send(new ScheduleKeyDeletionCommand({ KeyId }))
    const { findings: reported, controls } = await report()
    const named = reported.filter(({ finding }) => finding === 'unknown_key').map(({ subject }) => subject)
    expect(named.sort()).toEqual(made.sort())
    expect(controls).toContainEqual(expect.objectContaining({ control: 'evidence-integrity', holds: false }))
    keySet = await live()
  })

  it('the audit reports an attribute that was added to an evidence record, and a record that was added to the evidence chain', async () => {
    await setItem(evidenceKey(2), 'comment', 'all is well')
    expect(await findings()).toEqual(['evidence_edited'])
    await setItem(evidenceKey(99), 'comment', 'nothing happened')
    expect(await findings()).toEqual(['record_unreadable', 'evidence_added', 'evidence_edited'])
  })

  it('the audit reports the keys that a failover left in the lost region, until they are retired', async () => {
    keySet = await live()
    vi.stubEnv('AWS_REGION', 'eu-west-1')
    const { active, published, retiring } = keySet
    const left = (await report()).findings.map(({ finding, subject }) => [finding, subject])
    expect(left).toEqual([retiring, active, published].map(({ kid }) => ['key_in_other_region', kid]))
    for (const { kid } of [published, retiring]) await call({ action: 'revoke', kid })
    const after = await report()
    expect(after.findings.map(({ subject }) => subject)).toEqual([active.kid])
    expect(after.keys.map(({ kms: inKms }) => inKms?.state)).toEqual(Array(4).fill('InOtherRegion'))
    vi.unstubAllEnvs()
    expect(await findings()).toEqual(['retired_but_enabled'])
  })
})

it('the audit’s report as text names every key and every finding', async () => {
  await setItem(evidenceKey(4), 'run_id', 'another')
  const found = await report()
  const text = formatResult(summarize(found))
  for (const { kid } of found.keys) expect(text).toContain(kid)
  expect(text).toContain('evidence_edited')
})
