import { describe, expect, it } from 'vitest'
import { readConfig } from '../../../infra/config.ts'
import { events } from '../../../infra/events.ts'
import { compileSession } from '../../../infra/local/aws/iam/authorize.ts'
import type { KeyModel, StackModel } from '../../../infra/local/model.ts'
import { eventName, maxStageLength } from '../../../infra/names.ts'
import { rotationRoleName } from '../../../infra/signing-key-policy.ts'
import { ownSource } from '../../../shared/env.ts'
import { configured } from '../../support/configured-stage.ts'
import {
  accountId,
  keyOf,
  onKey,
  readStage,
  signingKey,
  type StagePolicies,
} from '../../support/read-stage.ts'

const dev = await readStage('dev')
const prod = await readStage('prod')

const rotation = (stage: StagePolicies) => stage.denialsOf('rotate-signing-keys')
const signs = { 'kms:SigningAlgorithm': 'RSASSA_PKCS1_V1_5_SHA_256', 'kms:MessageType': 'DIGEST' }
const roleArn = (name: string) => `arn:aws:iam::${accountId}:role/${name}`

const administrator = (arn = roleArn('administrator')) => {
  const policies = [{ Statement: [{ Effect: 'Allow', Action: '*', Resource: '*' } as const] }]
  const session = { origin: 'an administrator', roleArn: arn, roleTags: {}, policies }
  return compileSession(arn, session, { accountId } as StackModel)
}

const givesTags = (tags: Record<string, string>) => ({
  'aws:TagKeys': Object.keys(tags),
  ...Object.fromEntries(Object.entries(tags).map(([name, value]) => [`aws:RequestTag/${name}`, value])),
})
const devTags = { 'signing-key': 'account-service-dev' }

// AWS may check a whole transaction against one statement.
it('a function has one IAM statement for all its table reads and one for all its writes', () => {
  const kinds = dev.functions.flatMap(({ name, policies }) =>
    policies
      .flatMap(({ Statement }) => Statement)
      .filter(({ Resource }) => /:table\/[^/]+$/.test(String(Resource)))
      .map(({ Action }) => `${name} ${/(Put|Update|Delete)Item/.test(String(Action)) ? 'writes' : 'reads'}`),
  )
  expect(kinds.length).toBeGreaterThan(50)
  expect(kinds).toEqual([...new Set(kinds)])
})

describe('signing keys', () => {
  it.each(['user-login-2fa', 'oauth2-token', 'oauth2-exchange', 'rotate-signing-keys'])(
    '%s of one stage cannot sign with the keys of another stage',
    (name) => {
      expect(dev.denialsOf(name)(onKey('Sign', keyOf('dev'), signs))).toBeUndefined()
      expect(dev.denialsOf(name)(onKey('Sign', keyOf('prod'), signs))).toContain('not authorized')
      expect(prod.denialsOf(name)(onKey('Sign', keyOf('dev'), signs))).toContain('not authorized')
    },
  )

  it('only four functions are allowed to sign with KMS keys', () => {
    const signers = dev.functions.filter(({ policies }) => JSON.stringify(policies).includes('"kms:Sign"'))
    expect(signers).toHaveLength(4)
  })

  it.each([
    ['kms:SigningAlgorithm', 'RSASSA_PKCS1_V1_5_SHA_512'],
    ['kms:SigningAlgorithm', 'RSASSA_PSS_SHA_256'],
    ['kms:MessageType', 'RAW'],
  ])('no function is allowed to sign with %s %s', (key, value) => {
    for (const name of ['user-login-2fa', 'rotate-signing-keys']) {
      const request = onKey('Sign', keyOf('dev'), { ...signs, [key]: value })
      expect(dev.denialsOf(name)(request)).toContain('not authorized')
    }
  })

  it('the rotation can create only RSA_2048 keys with the tag of its own deployment', () => {
    const create = (changes: object, action = 'kms:CreateKey', resource = '*') =>
      rotation(dev)({
        action,
        resource,
        context: {
          'kms:KeySpec': 'RSA_2048',
          'kms:KeyUsage': 'SIGN_VERIFY',
          ...givesTags(devTags),
          ...changes,
        },
      })
    expect(create({})).toBeUndefined()
    expect(create({}, 'kms:TagResource', keyOf('dev').arn)).toBeUndefined()
    // AWS does not document these two context keys for TagResource, so a request may lack them.
    const undescribed = { 'kms:KeySpec': undefined, 'kms:KeyUsage': undefined }
    expect(create(undescribed, 'kms:TagResource', keyOf('dev').arn)).toBeUndefined()
    expect(create({ 'kms:KeySpec': 'SYMMETRIC_DEFAULT', 'kms:KeyUsage': 'ENCRYPT_DECRYPT' })).toBeDefined()
    expect(create({ 'kms:KeySpec': 'RSA_4096' })).toBeDefined()
    expect(create(givesTags({ ...devTags, 'signing-key': 'account-service-prod' }))).toBeDefined()
    expect(create(givesTags({ ...devTags, stage: 'prod' }))).toBeDefined()
  })
})

describe('an administrator, to whom IAM policies allow everything', () => {
  const changes = 'CreateGrant DisableKey PutKeyPolicy ReplicateKey ScheduleKeyDeletion UntagResource'.split(
    ' ',
  )
  const breakGlass = roleArn('break-glass')
  const key = keyOf('prod', [breakGlass])

  it.each(['Sign', ...changes])('a signing key’s policy denies administrators the action %s', (action) => {
    expect(administrator()(onKey(action, key, signs))).toContain('no resource-based policy allows')
  })

  it.each([breakGlass, `arn:aws:iam::${accountId}:root`])(
    'an administrator who acts as %s can change a signing key, but cannot sign with it',
    (arn) => {
      for (const action of changes) expect(administrator(arn)(onKey(action, key)), action).toBeUndefined()
      expect(administrator(arn)(onKey('Sign', key, signs))).toContain('not authorized')
    },
  )

  it('an administrator can enable a disabled signing key', () => {
    expect(administrator()(onKey('EnableKey', key))).toBeUndefined()
  })

  it('an administrator can delete the keys of a stage whose data is not protected', () => {
    const open = (stage: string) => readConfig({ ...configured, stage }).breakGlass
    expect(open('prod')).toEqual([])
    const request = onKey('ScheduleKeyDeletion', keyOf('dev', open('dev')))
    expect(administrator()(request)).toBeUndefined()
  })
})

describe('the rotation', () => {
  it('a signing key’s own policy lets the rotation retire it while IAM does not yet see its tag', () => {
    for (const action of ['DisableKey', 'ScheduleKeyDeletion'])
      expect(rotation(dev)(onKey(action, { ...keyOf('dev'), tags: {} })), action).toBeUndefined()
    expect(rotation(dev)(onKey('DisableKey', keyOf('prod')))).toContain('not authorized')
  })

  it('the rotation creates signing keys with the key policy that the audit expects', () => {
    const { environment } = prod.functions.find(({ name }) => name.endsWith('-signing-keys')) ?? {}
    expect(JSON.parse(environment?.['SIGNING_KEY_POLICY'] ?? '')).toEqual(keyOf('prod').keyPolicy)
  })

  it('the name of the rotation’s role fits IAM’s limit', () => {
    const longest = rotationRoleName('a'.repeat(maxStageLength), 'ap-southeast-1')
    expect(longest.length).toBeLessThanOrEqual(64)
  })

  it('only the rotation can sign with the evidence key, even if IAM policies allow everything', () => {
    const sign = onKey('Sign', dev.keys.EVIDENCE, signs)
    const signers = dev.functions.filter(({ name }) => dev.denialsOf(name)(sign) === undefined)
    expect(signers.map(({ name }) => name)).toEqual(['account-service-dev-rotate-signing-keys'])
    for (const denial of [administrator(), rotation(prod)]) expect(denial(sign)).toContain('explicit deny')
  })

  it('the rotation can do nothing with the evidence key but sign', () => {
    for (const action of ['Verify', 'GetPublicKey', 'DisableKey', 'PutKeyPolicy', 'CreateGrant'])
      expect(rotation(dev)(onKey(action, dev.keys.EVIDENCE)), action).toContain('not authorized')
  })
})

describe('keys that are not the rotation’s', () => {
  const others: [string, KeyModel][] = [
    ['the MAC key', dev.keys.MAC],
    ['the TOTP key', dev.keys.TOTP],
    ['the evidence key', dev.keys.EVIDENCE],
    ['the MAC key of another stage', prod.keys.MAC],
    ['a signing key of another stage', keyOf('prod')],
    [
      'another system’s key for encryption',
      { ...signingKey({}), keySpec: 'RSA_2048', keyUsage: 'ENCRYPT_DECRYPT' },
    ],
    ['another system’s elliptic curve key', { ...signingKey({}), keySpec: 'ECC_NIST_P256' }],
  ]

  it.each(others)('the rotation cannot tag %s as its own signing key', (_, key) => {
    expect(rotation(dev)(onKey('TagResource', key, givesTags(devTags)))).toContain('not authorized')
  })

  // Keys of other systems usually have aliases.
  it('the rotation cannot tag an RSA signing key that has an alias', () => {
    const aliases = { 'kms:ResourceAliases': ['alias/another-system'] }
    const tag = onKey('TagResource', signingKey({}), { ...givesTags(devTags), ...aliases })
    expect(rotation(dev)(tag)).toContain('not authorized')
  })

  it.each(['Sign', 'DisableKey', 'ScheduleKeyDeletion', 'GetPublicKey', 'TagResource'])(
    'the policies of MAC and TOTP keys deny %s to the rotation, whatever their tags',
    (action) => {
      for (const key of [dev.keys.MAC, dev.keys.TOTP]) {
        const tagged = { ...key, keyUsage: 'SIGN_VERIFY', keySpec: 'RSA_2048', tags: devTags }
        const denial = rotation(dev)(onKey(action, tagged, { ...signs, ...givesTags(devTags) }))
        expect(denial).toContain('with an explicit deny in a resource-based policy')
      }
    },
  )

  it('the policy of the MAC key denies its use to the roles of another stage', () => {
    const mac = { 'kms:MacAlgorithm': 'HMAC_SHA_256' }
    const signIn = dev.denialsOf('user-login-with-password')
    expect(signIn(onKey('GenerateMac', dev.keys.MAC, mac))).toBeUndefined()
    expect(signIn(onKey('GenerateMac', prod.keys.MAC, mac))).toContain('explicit deny in a resource-based')
  })
})

it('a function is allowed to compute MACs with SHA-256 only', () => {
  const signIn = dev.denialsOf('user-login-with-password')
  expect(signIn(onKey('GenerateMac', dev.keys.MAC, { 'kms:MacAlgorithm': 'HMAC_SHA_512' }))).toBeDefined()
})

it.each<[string, string[] | undefined, boolean]>([
  ['the user id alone', ['user_id'], true],
  ['no encryption context', undefined, false],
  ['another encryption context', ['purpose'], false],
  ['the user id and more', ['user_id', 'purpose'], false],
])('a TOTP secret can be decrypted only with the user id as encryption context: %s', (_, keys, allowed) => {
  const denial = dev.denialsOf('user-login-2fa')(
    onKey('Decrypt', dev.keys.TOTP, { 'kms:EncryptionContextKeys': keys }),
  )
  expect(denial === undefined).toBe(allowed)
})

it.each(['mail-requested', 'mail-delayed'])(
  '%s can send mails from the configured sender address, but from no other address of its domain',
  (name) => {
    const send = (from: string) =>
      dev.denialsOf(name)({
        action: 'ses:SendEmail',
        resource: 'arn:aws:ses:eu-central-1:123456789012:identity/example.com',
        context: { 'ses:FromAddress': from },
      })
    expect(send('no-reply@example.com')).toBeUndefined()
    expect(send('board@example.com')).toContain('not authorized')
  },
)

describe('events:PutEvents', () => {
  const put = (name: string, detailType: string, sources: string[]) =>
    dev.denialsOf(name)({
      action: 'events:PutEvents',
      resource: dev.buses[0]?.arn ?? '',
      context: { 'events:detail-type': [detailType], 'events:source': sources },
    })
  const all = ['mail.requested', 'mail.delayed', 'address.assigned', 'wallet.adjusted', 'user.updated']

  it.each([
    ['user-login-with-password', ['mail.requested', 'mail.delayed']],
    ['user-login-2fa', ['mail.requested']],
    ['address-info', ['address.assigned']],
  ])('%s may put only these events on the bus: %j, from the source account-service only', (name, own) => {
    expect(all.filter((type) => put(name, type, ['account-service']) === undefined)).toEqual(own)
    for (const type of own)
      for (const sources of [['business'], ['chain'], []]) expect(put(name, type, sources)).toBeDefined()
  })

  const told = ['event.applied', 'event.refused']
  const fromOutside = events.filter(({ senders }) => senders.some((sender) => sender !== ownSource))

  it.each(fromOutside.map(({ detailType }) => [eventName(detailType)]))(
    'intake-%s may only tell outcomes, from the source account-service only',
    (name) => {
      const allowed = (sources: string[]) =>
        [...all, ...told].filter((type) => put(`intake-${name}`, type, sources) === undefined)
      expect(allowed(['account-service'])).toEqual(told)
      expect(allowed(['business'])).toEqual([])
    },
  )

  it('no other function may put events on the bus', () => {
    const putters = dev.functions.filter((fn) => JSON.stringify(fn.policies).includes('events:PutEvents'))
    expect(putters).toHaveLength(3 + fromOutside.length)
  })
})
