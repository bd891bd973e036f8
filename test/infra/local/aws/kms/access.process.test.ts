import {
  CreateKeyCommand,
  DecryptCommand,
  EncryptCommand,
  GenerateMacCommand,
  type KMSClient,
  PutKeyPolicyCommand,
} from '@aws-sdk/client-kms'
import { expect, test } from 'vitest'
import type { KeyModel, PolicyDocument, PolicyStatement } from '../../../../../infra/local/model.ts'
import { accountId, arnOf, functionModel, stackModel, startStack } from '../stack.ts'

const keyId = '11111111-2222-3333-4444-555555555555'
const keyArn = arnOf('kms', `key/${keyId}`)
const denied = { name: 'AccessDeniedException' }

function keyModel(keyPolicy?: PolicyDocument, changes: Partial<KeyModel> = {}): KeyModel {
  return {
    keyId,
    arn: keyArn,
    keySpec: 'HMAC_256',
    keyUsage: 'GENERATE_VERIFY_MAC',
    description: '',
    keyPolicy,
    tags: { purpose: 'signing' },
    ...changes,
  }
}

function allow(Action: string, Condition?: PolicyStatement['Condition'], Resource = keyArn): PolicyStatement {
  return { Effect: 'Allow', Action, Resource, ...(Condition === undefined ? {} : { Condition }) }
}

const mac = (kms: KMSClient) =>
  kms.send(new GenerateMacCommand({ KeyId: keyId, Message: Buffer.from('x'), MacAlgorithm: 'HMAC_SHA_256' }))

async function startAs(statements: PolicyStatement[], key = keyModel()) {
  const stack = await startStack(
    stackModel({ functions: [functionModel('worker', statements)], keys: [key] }),
  )
  return { owner: stack.kms, worker: stack.as('worker').kms }
}

const rootDelegation: PolicyStatement = {
  Effect: 'Allow',
  Principal: { AWS: `arn:aws:iam::${accountId}:root` },
  Action: 'kms:*',
  Resource: '*',
}
const namesRole: PolicyStatement = {
  Effect: 'Allow',
  Principal: { AWS: [`arn:aws:iam::${accountId}:role/worker-role`] },
  Action: 'kms:GenerateMac',
  Resource: '*',
}

test.each<[string, PolicyStatement[], PolicyStatement[] | undefined, boolean]>([
  ['a grant and the default key policy', [allow('kms:GenerateMac')], undefined, true],
  ['no grant and the default key policy', [], undefined, false],
  ['a grant for another action', [allow('kms:VerifyMac')], undefined, false],
  ['a grant, but a key policy that delegates nothing', [allow('kms:GenerateMac')], [], false],
  ['no grant, but a key policy that names the role', [], [namesRole], true],
  [
    'a grant and a deny of the same action',
    [allow('kms:*'), { Effect: 'Deny', Action: 'kms:GenerateMac', Resource: '*' }],
    undefined,
    false,
  ],
  [
    'a grant, but a key policy that denies the action',
    [allow('kms:GenerateMac')],
    [rootDelegation, { ...namesRole, Effect: 'Deny' }],
    false,
  ],
  [
    'a NotAction grant that excludes the action',
    [{ Effect: 'Allow', NotAction: 'kms:GenerateMac', Resource: '*' }],
    undefined,
    false,
  ],
  [
    'a grant that requires a tag of the key',
    [allow('kms:GenerateMac', { StringEquals: { 'aws:ResourceTag/purpose': 'signing' } })],
    undefined,
    true,
  ],
  [
    'a grant that requires a tag that the key lacks',
    [allow('kms:GenerateMac', { StringEquals: { 'aws:ResourceTag/purpose': 'x' } })],
    undefined,
    false,
  ],
])('with %s, GenerateMac is allowed or denied as on AWS', async (_case, statements, keyPolicy, mayUse) => {
  const { worker } = await startAs(statements, keyModel(keyPolicy && { Statement: keyPolicy }))
  if (mayUse) await mac(worker)
  else await expect(mac(worker)).rejects.toMatchObject(denied)
})

test('KMS Decrypt is denied if the policy requires a different encryption context', async () => {
  const key = keyModel(undefined, { keySpec: 'SYMMETRIC_DEFAULT', keyUsage: 'ENCRYPT_DECRYPT' })
  const { worker, owner } = await startAs(
    [allow('kms:Decrypt', { StringEquals: { 'kms:EncryptionContext:purpose': 'totp' } })],
    key,
  )
  const decrypt = async (purpose: string) => {
    const common = { KeyId: keyId, EncryptionContext: { purpose } }
    const encrypted = await owner.send(new EncryptCommand({ ...common, Plaintext: Buffer.from('x') }))
    await worker.send(new DecryptCommand({ ...common, CiphertextBlob: encrypted.CiphertextBlob }))
  }
  await decrypt('totp')
  await expect(decrypt('other')).rejects.toMatchObject(denied)
})

test('CreateKey with tags needs a role that may create keys with them besides kms:TagResource', async () => {
  const createsOurs = allow(
    'kms:CreateKey',
    { StringEquals: { 'aws:RequestTag/purpose': 'signing', 'kms:KeySpec': 'RSA_2048' } },
    '*',
  )
  const create = (kms: KMSClient, purpose: string) =>
    kms.send(
      new CreateKeyCommand({
        KeySpec: 'RSA_2048',
        KeyUsage: 'SIGN_VERIFY',
        Tags: [{ TagKey: 'purpose', TagValue: purpose }],
      }),
    )
  const complete = await startAs([createsOurs, allow('kms:TagResource', undefined, arnOf('kms', 'key/*'))])
  await create(complete.worker, 'signing')
  await expect(create(complete.worker, 'other')).rejects.toMatchObject(denied)
  await expect(create((await startAs([createsOurs])).worker, 'signing')).rejects.toMatchObject(denied)
})

test('a key policy can deny an action to a role because of the role’s tag', async () => {
  const deny: PolicyStatement = {
    Effect: 'Deny',
    Principal: { AWS: '*' },
    NotAction: 'kms:Encrypt',
    Resource: '*',
    Condition: { StringEquals: { 'aws:PrincipalTag/service': 'ours' } },
  }
  const start = async (roleTags: Record<string, string>) => {
    const { as } = await startStack(
      stackModel({
        functions: [{ ...functionModel('worker', [allow('kms:*')]), roleTags }],
        keys: [keyModel({ Statement: [rootDelegation, deny] })],
      }),
    )
    return as('worker').kms
  }
  await mac(await start({ service: 'another' }))
  await expect(mac(await start({ service: 'ours' }))).rejects.toMatchObject(denied)
})

test('KMS refuses a key policy under which the caller could not change the policy again', async () => {
  const statements = [allow('kms:CreateKey', undefined, '*'), allow('kms:PutKeyPolicy', undefined, '*')]
  const { as } = await startStack(stackModel({ functions: [functionModel('worker', statements)] }))
  const { kms } = as('worker')
  const own = JSON.stringify({ Statement: [{ ...namesRole, Action: 'kms:PutKeyPolicy' }] })
  const others = JSON.stringify({ Statement: [namesRole] })
  const locksOut = { name: 'MalformedPolicyDocumentException' }
  await expect(kms.send(new CreateKeyCommand({ Policy: others }))).rejects.toMatchObject(locksOut)
  const { KeyMetadata } = await kms.send(new CreateKeyCommand({ Policy: own }))
  const put = (Policy: string) => kms.send(new PutKeyPolicyCommand({ KeyId: KeyMetadata?.KeyId, Policy }))
  await expect(put(others)).rejects.toMatchObject(locksOut)
  await put(JSON.stringify({ Statement: [rootDelegation] }))
})
