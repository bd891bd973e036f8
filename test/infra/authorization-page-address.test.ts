import { describe, expect, it } from 'vitest'
import { readConfig } from '../../infra/config.ts'
import { resolvePage } from '../../infra/authorization-page-address.ts'

const deployed = 'https://d1.cloudfront.example'

describe('resolvePage', () => {
  it.each([
    ['the local stack’s page by default', {}, undefined, 'http://127.0.0.1:3001/', ['http://127.0.0.1:3001']],
    ['the deployed page', {}, deployed, `${deployed}/`, [deployed]],
    [
      'the configured page, even if another is deployed',
      { authUrl: 'https://login.example/in?x=1' },
      deployed,
      'https://login.example/in?x=1',
      ['https://login.example'],
    ],
    [
      'the deployed page, with the configured CORS origins',
      { corsOrigins: 'https://a.example, https://b.example' },
      deployed,
      `${deployed}/`,
      ['https://a.example', 'https://b.example'],
    ],
  ])('resolvePage returns the URL and CORS origins of %s', (_, values, origin, authUrl, corsOrigins) => {
    expect(resolvePage(readConfig({ stage: 'local', ...values }), origin)).toEqual({ authUrl, corsOrigins })
  })
})
