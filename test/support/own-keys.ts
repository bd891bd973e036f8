import {
  CreateTableCommand,
  DeleteTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
} from '@aws-sdk/client-dynamodb'
import { ListKeysCommand, ListResourceTagsCommand } from '@aws-sdk/client-kms'
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll } from 'vitest'
import { kms } from '../../shared/aws/kms.ts'
import { clientOptions } from '../../shared/aws/client-options.ts'
import { forgetCachedKeySet } from '../../shared/keys/sign.ts'
import { signingKeyTagName } from '../../shared/aws/signing-key-names.ts'
import { readKeyState } from '../../shared/keys/kms.ts'

/**
 * Gives a test file a table and a key tag of its own, so that no other test rotates its signing keys. `renew`
 * replaces the key set by an empty one.
 */
export function useOwnKeys(): { renew: () => Promise<void> } {
  const client = new DynamoDBClient(clientOptions())
  const before = { TABLE_NAME: process.env['TABLE_NAME'], SIGNING_KEY_TAG: process.env['SIGNING_KEY_TAG'] }
  const tables: string[] = []
  const renew = async (): Promise<void> => {
    const name = `keys-${randomUUID()}`
    await client.send(
      new CreateTableCommand({
        TableName: name,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [
          { AttributeName: 'pk', AttributeType: 'S' },
          { AttributeName: 'sk', AttributeType: 'S' },
        ],
        KeySchema: [
          { AttributeName: 'pk', KeyType: 'HASH' },
          { AttributeName: 'sk', KeyType: 'RANGE' },
        ],
      }),
    )
    await client.send(new DescribeTableCommand({ TableName: name }))
    tables.push(name)
    process.env['TABLE_NAME'] = name
    process.env['SIGNING_KEY_TAG'] = name
    forgetCachedKeySet()
  }
  beforeAll(renew)
  afterAll(async () => {
    Object.assign(process.env, before)
    for (const name of tables) await client.send(new DeleteTableCommand({ TableName: name }))
    client.destroy()
  })
  return { renew }
}

/** Tags of KMS keys, cached because they never change and the keys of other tests are many. */
const tagOf = new Map<string, string | undefined>()

/** Lists the KMS keys with the tag of the current key set, and their states. */
export async function listOwnKeys(): Promise<{ arn: string; state: string }[]> {
  const own: string[] = []
  let marker: string | undefined
  do {
    const page = await kms.send(
      new ListKeysCommand({ Limit: 1000, ...(marker === undefined ? {} : { Marker: marker }) }),
    )
    for (const { KeyArn = '' } of page.Keys ?? []) {
      if (!tagOf.has(KeyArn)) {
        const { Tags = [] } = await kms.send(new ListResourceTagsCommand({ KeyId: KeyArn }))
        tagOf.set(KeyArn, Tags.find(({ TagKey }) => TagKey === signingKeyTagName)?.TagValue)
      }
      if (tagOf.get(KeyArn) === process.env['SIGNING_KEY_TAG']) own.push(KeyArn)
    }
    marker = page.NextMarker
  } while (marker !== undefined)
  return Promise.all(own.map(async (arn) => ({ arn, state: await readKeyState(arn) })))
}
