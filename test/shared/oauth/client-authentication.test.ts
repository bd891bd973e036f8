import { describe, expect, it } from 'vitest'
import { readClientCredentials } from '../../../shared/oauth/client-authentication.ts'

type Sent = Parameters<typeof readClientCredentials>[0]

/** Reads the credentials of a request with these parameters, and with this text as its Basic credentials. */
const read = (sent: Sent, basic?: string) =>
  readClientCredentials(sent, {
    authorization: () => (basic === undefined ? undefined : Buffer.from(basic).toString('base64')),
  })

describe('the credentials of a client', () => {
  it.each([
    ['only an id', { client_id: 'app' }, undefined, { secrets: [], basic: false }],
    [
      'a secret in the body',
      { client_id: 'app', client_secret: 's' },
      undefined,
      { secrets: ['s'], basic: false },
    ],
    ['Basic', {}, 'app:s', { secrets: ['s'], basic: true }],
    ['Basic beside the same id', { client_id: 'app' }, 'app:s', { secrets: ['s'], basic: true }],
    ['Basic without a secret', {}, 'app:', { secrets: [], basic: true }],
    ['Basic with an encoded secret', {}, 'app:a%2Bb', { secrets: ['a+b', 'a%2Bb'], basic: true }],
    ['Basic with a colon in the secret', {}, 'app:a:b', { secrets: ['a:b'], basic: true }],
  ])('%s are read', (_what, sent, basic, credentials) => {
    expect(read(sent, basic)).toEqual({ clientId: 'app', ...credentials })
  })

  it.each([
    ['no id', {}, undefined, 'client_id'],
    ['only a secret', { client_secret: 's' }, undefined, 'client_id'],
    ['Basic beside another id', { client_id: 'other' }, 'app:s', 'client_id'],
    ['Basic beside a secret in the body', { client_secret: 's' }, 'app:s', 'client_secret'],
  ])('%s are refused, because nobody could say who is meant', (_what, sent, basic, field) => {
    expect(() => read(sent, basic)).toThrow(
      expect.objectContaining({ failure: 'invalid_parameter', fields: [expect.objectContaining({ field })] }),
    )
  })

  it('Basic credentials without a colon authenticate nobody, and are answered with a challenge', () => {
    expect(() => read({}, 'app')).toThrow(
      expect.objectContaining({
        failure: 'invalid_client',
        status: 401,
        headers: { 'www-authenticate': expect.stringMatching(/^Basic /) as string },
      }),
    )
  })
})
