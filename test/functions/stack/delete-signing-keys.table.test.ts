import { DescribeKeyCommand } from '@aws-sdk/client-kms'
import type { CloudFormationCustomResourceEvent } from 'aws-lambda'
import { randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { handler as rotate } from '../../../functions/schedule/rotate-signing-keys.ts'
import { handler } from '../../../functions/stack/delete-signing-keys.ts'
import { kms } from '../../../shared/aws/kms.ts'
import { deleteSigningKeys } from '../../../shared/keys/delete.ts'
import { createSigningKey } from '../../../shared/keys/kms.ts'
import { listOwnKeys, useOwnKeys } from '../../support/own-keys.ts'
import { tamperCalls } from '../../support/tamper-calls.ts'

const { renew } = useOwnKeys()

/** What KMS answers for a key whose tag it does not show yet. */
const denied = Object.assign(new Error('not authorized'), { name: 'AccessDeniedException' })

/** The answers that CloudFormation has received, and what it says to the next one. */
let answers: { type: string | undefined; body: unknown }[]
let nextStatus: number
let server: Server
let address: string

beforeAll(async () => {
  server = createServer((request, response) => {
    void text(request).then((body) => {
      answers.push({ type: request.headers['content-type'], body: JSON.parse(body) })
      response.writeHead(nextStatus).end()
    })
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/answer?signature=x`
})
afterAll(() => server.close())
beforeEach(async () => {
  answers = []
  nextStatus = 200
  await renew()
})

const call = (RequestType: 'Create' | 'Update' | 'Delete', DeleteKeys = 'true') =>
  handler({
    RequestType,
    RequestId: 'request',
    StackId: 'stack',
    LogicalResourceId: 'Keys',
    ResponseURL: address,
    ResourceProperties: { ServiceToken: 'function', DeleteKeys },
  } as unknown as CloudFormationCustomResourceEvent)

const states = async () => (await listOwnKeys()).map(({ state }) => state)
const makeKeys = async () => {
  await createSigningKey(randomUUID())
  await createSigningKey(randomUUID())
}

it('deleting the stage deletes all its signing keys in a week, and those of no other stage', async () => {
  await makeKeys()
  const other = process.env['SIGNING_KEY_TAG']
  await renew()
  await makeKeys()
  await call('Delete')
  expect(await states()).toEqual(['PendingDeletion', 'PendingDeletion'])
  for (const { arn } of await listOwnKeys()) {
    const { KeyMetadata } = await kms.send(new DescribeKeyCommand({ KeyId: arn }))
    const days = (Number(KeyMetadata?.DeletionDate) - Date.now()) / 86_400_000
    expect(days).toBeGreaterThan(6.9)
    expect(days).toBeLessThan(7.1)
  }
  process.env['SIGNING_KEY_TAG'] = other
  expect(await states()).toEqual(['Enabled', 'Enabled'])
})

it('CloudFormation is told of the success, by an answer without a content type, as its URL is signed', async () => {
  await call('Delete')
  expect(answers).toEqual([
    {
      type: undefined,
      body: expect.objectContaining({
        Status: 'SUCCESS',
        PhysicalResourceId: 'signing-keys',
        RequestId: 'request',
        StackId: 'stack',
        LogicalResourceId: 'Keys',
      }) as unknown,
    },
  ])
})

it('a repeated deletion succeeds', async () => {
  await makeKeys()
  await call('Delete')
  await call('Delete')
  expect(answers).toMatchObject([{ body: { Status: 'SUCCESS' } }, { body: { Status: 'SUCCESS' } }])
})

it.each([
  ['creating the stage', 'Create', 'true'],
  ['an update', 'Update', 'true'],
  ['deleting a protected stage', 'Delete', 'false'],
] as const)('%s leaves the signing keys alone', async (_what, type, deleteKeys) => {
  await makeKeys()
  await call(type, deleteKeys)
  expect(await states()).toEqual(['Enabled', 'Enabled'])
  expect(answers).toMatchObject([{ body: { Status: 'SUCCESS' } }])
})

it('a new signing key whose tag KMS does not show yet is deleted when KMS shows it', async () => {
  const { signer } = await rotate({}, { awsRequestId: randomUUID() })
  expect(signer).toBeDefined()
  let isHidden = true
  const { restore } = tamperCalls(async ({ name, perform }) => {
    if (isHidden && name === 'ListResourceTagsCommand') throw denied
    return perform()
  })
  const pauses: number[] = []
  try {
    await deleteSigningKeys((milliseconds) => {
      pauses.push(milliseconds)
      isHidden = pauses.length < 3
    })
  } finally {
    restore()
  }
  expect(pauses).toHaveLength(3)
  expect(await states()).toEqual(['PendingDeletion'])
})

it('CloudFormation is told of a failure, so that it does not wait for an hour', async () => {
  const tag = process.env['SIGNING_KEY_TAG']
  Reflect.deleteProperty(process.env, 'SIGNING_KEY_TAG')
  await call('Delete')
  process.env['SIGNING_KEY_TAG'] = tag
  expect(answers).toMatchObject([{ body: { Status: 'FAILED', Reason: expect.any(String) as unknown } }])
})

it('an answer that does not arrive fails the call, so that Lambda repeats it', async () => {
  nextStatus = 503
  await expect(call('Create')).rejects.toThrow('status 503')
})
