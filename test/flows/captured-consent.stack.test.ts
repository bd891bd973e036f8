import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient, PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb'
import { randomBytes } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { accessKeyIdOf } from '../../infra/local/aws/iam/callers.ts'
import { clientOptions } from '../../shared/aws/client-options.ts'
import { type Item, tableName } from '../../shared/db/table.ts'
import { type AuthorizationCode, issueCode } from '../../shared/oauth/authorization-code.ts'
import { checkAccessToken } from '../../shared/tokens/access-token.ts'
import {
  createClient,
  createSession,
  pkce,
  type SignedIn,
  type TestClient,
} from '../support/oauth-clients.ts'
import { obtainCode, postForm } from '../support/oauth.ts'

/** The table, as a captured `oauth2-consent` reaches it: with that function's own role. */
const captured = DynamoDBDocumentClient.from(
  new DynamoDBClient({
    ...clientOptions(),
    credentials: {
      accessKeyId: accessKeyIdOf('arn:aws:lambda:us-east-1:000000000000:function:oauth2-consent'),
      secretAccessKey: 'any',
    },
  }),
)

let client: TestClient
let victim: SignedIn
/** All that the captured function can read of the victim's tokens, which the victim never sent to it. */
let found: Item[]

const readTokensOf = async (userId: number): Promise<Item[]> => {
  const { Items = [] } = await captured.send(
    new QueryCommand({
      TableName: tableName(),
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': `TOKENS#${userId}` },
    }),
  )
  return Items
}

beforeAll(async () => {
  ;[client, victim] = await Promise.all([createClient(), createSession()])
  found = await readTokensOf(victim.userId)
})

/** Has the captured function store a code of its own making, and exchanges it as any client would. */
async function exchangeForged(sessionDigest: string, forged: Partial<AuthorizationCode> = {}) {
  const { verifier, challenge } = pkce()
  const { code, put } = issueCode({
    userId: victim.userId,
    sessionId: victim.sessionId,
    sessionDigest,
    sessionExpiresAt: victim.expiresAt,
    authenticatedAt: Number(found[0]?.['authenticatedAt']),
    clientId: client.clientId,
    redirectUri: client.redirectUri,
    codeChallenge: challenge,
    nonce: undefined,
    scopes: ['openid'],
    expiresAt: Date.now() + 60_000,
  })
  await captured.send(new PutCommand({ TableName: tableName(), Item: { ...put.Put?.Item, ...forged } }))
  const form = { code, redirect_uri: client.redirectUri, code_verifier: verifier }
  return postForm('/oauth2/token', {
    ...form,
    grant_type: 'authorization_code',
    client_id: client.clientId,
  })
}

/** Every text in the items that the function read, and every part of their keys. */
const knownTexts = () => [
  ...new Set(
    found
      .flatMap((item) => Object.values(item))
      .filter((value) => typeof value === 'string')
      .flatMap((text) => [text, ...text.split('#')]),
  ),
]

test('a captured oauth2-consent cannot make a code for somebody who never called it', async () => {
  expect(found).toHaveLength(1)
  for (const text of [...knownTexts(), randomBytes(32).toString('base64url')]) {
    const { status, body } = await exchangeForged(text)
    expect([status, body['error']], text).toEqual([400, 'invalid_grant'])
  }
  // With what only somebody who saw the token can compute, the same code would work.
  const { digest } = await checkAccessToken(victim.accessToken, 'first-party')
  expect(await exchangeForged(digest)).toMatchObject({ status: 200 })
})

test('a captured oauth2-consent cannot end a client’s access_token by a forged code that looks used', async () => {
  const { exchange } = await obtainCode(client, victim)
  const { body } = await postForm('/oauth2/token', exchange)
  const token = String(body['access_token'])
  const { key: givenKey } = await checkAccessToken(token, 'openid')
  for (const text of knownTexts())
    expect(await exchangeForged(text, { givenKey })).toMatchObject({ status: 400 })
  expect((await checkAccessToken(token, 'openid')).userId).toBe(victim.userId)
})
