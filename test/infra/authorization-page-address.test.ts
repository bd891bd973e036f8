import { describe, expect, it } from 'vitest'
import { readConfig } from '../../infra/config.ts'
import { resolvePage } from '../../infra/authorization-page-address.ts'

const deployed = 'https://d1.cloudfront.example'

describe('resolvePage', () => {
  it.each([
    ['the laptop’s page by default', {}, undefined, 'http://127.0.0.1:3001/', ['http://127.0.0.1:3001']],
    ['the page that is deployed', {}, deployed, `${deployed}/`, [deployed]],
    [
      'the page that is configured, deployed or not',
      { authUrl: 'https://login.example/in?x=1' },
      deployed,
      'https://login.example/in?x=1',
      ['https://login.example'],
    ],
    [
      'other origins where they are configured',
      { corsOrigins: 'https://a.example, https://b.example' },
      deployed,
      `${deployed}/`,
      ['https://a.example', 'https://b.example'],
    ],
  ])('gives %s', (_, values, origin, authUrl, corsOrigins) => {
    expect(resolvePage(readConfig({ stage: 'dev', ...values }), origin)).toEqual({ authUrl, corsOrigins })
  })
})
