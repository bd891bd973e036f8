import { createHash } from 'node:crypto'
import { beforeEach, expect, it, vi } from 'vitest'
import { callS3 } from '../../../shared/aws/s3.ts'

const address = new URL('https://bucket.example/evidence/1.json?versions=')

beforeEach(() => {
  vi.stubEnv('AWS_REGION', 'eu-central-1')
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'id')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret')
})

/** Calls S3, which answers with this status. Returns what was sent. */
async function send(status: number, body?: string) {
  const fetched = vi.spyOn(globalThis, 'fetch').mockResolvedValue(new Response('answer', { status }))
  const answer = await callS3(address, body)
  const [to, { method, headers, body: sent } = {}] = fetched.mock.lastCall ?? []
  return { answer, to, method, headers: headers as Record<string, string>, sent }
}

it('an object is put with its checksum, without which S3 refuses one that is locked', async () => {
  const { to, method, headers, sent, answer } = await send(200, 'content')
  expect([to, method, sent, answer]).toEqual([address, 'PUT', 'content', 'answer'])
  const checksum = createHash('sha256').update('content').digest('base64')
  expect(headers['x-amz-checksum-sha256']).toBe(checksum)
  expect(headers['authorization']).toMatch(/SignedHeaders=[a-z0-9;-]*x-amz-checksum-sha256/)
})

it('without a body, S3 is asked with a signed GET', async () => {
  const { method, headers, sent } = await send(200)
  expect([method, sent]).toEqual(['GET', null])
  expect(headers).not.toHaveProperty('x-amz-checksum-sha256')
  expect(headers['authorization']).toMatch(/^AWS4-HMAC-SHA256 /)
})
