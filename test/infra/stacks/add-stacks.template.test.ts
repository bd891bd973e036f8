import { expect, it } from 'vitest'
import { readConfig } from '../../../infra/config.ts'
import { resolvePage } from '../../../infra/stacks/add-stacks.ts'
import { synthesizeUnchecked, ofType } from './synthesize.ts'

const expected = { service: 'account-service', stage: 'prod' }

const stacks = await synthesizeUnchecked('prod')

function toRecord(tags: unknown): Record<string, string> {
  if (!Array.isArray(tags)) return tags as Record<string, string>
  return Object.fromEntries(
    (tags as { Key: string; Value: string }[]).map(({ Key: key, Value: value }) => [key, value]),
  )
}

const tagged = () =>
  [...stacks].flatMap(([name, { resources }]) =>
    Object.entries(resources).flatMap(([id, { Type: type, Properties: properties }]) =>
      properties['Tags'] === undefined
        ? []
        : [{ path: `${name}/${id}`, type, tags: toRecord(properties['Tags']) }],
    ),
  )

it('every taggable resource of a stage has the stage’s tags', () => {
  expect(tagged().length).toBeGreaterThan(300)
  for (const { path, tags } of tagged()) expect(tags, path).toMatchObject(expected)
  for (const { stack } of stacks.values()) expect(stack.tags.tagValues()).toEqual(expected)
})

it('the table’s replica has the stage’s tags', () => {
  const [table] = ofType(stacks, 'AWS::DynamoDB::GlobalTable')
  const [replica] = table?.resource.Properties['Replicas'] as { Tags: unknown }[]
  expect(toRecord(replica?.Tags)).toEqual(expected)
})

it('no resource of a stage has the tag that marks signing keys', () => {
  for (const { path, tags } of tagged()) expect(tags, path).not.toHaveProperty('signing-key')
})

it('a resource whose creation fails is not retained, because its name would block the next deployment', () => {
  const policies = [...stacks].flatMap(([, { resources }]) =>
    Object.values(resources).map(({ DeletionPolicy }) => DeletionPolicy),
  )
  expect(policies).toContain('RetainExceptOnCreate')
  expect(policies).not.toContain('Retain')
})

const deployed = 'https://d1.cloudfront.example'

it.each([
  [
    'the local stack’s page by default',
    {},
    undefined,
    'http://127.0.0.1:3001/',
    ['http://127.0.0.1:3001'],
    'http://127.0.0.1:3001/sign-out',
  ],
  ['the deployed page', {}, deployed, `${deployed}/`, [deployed], `${deployed}/sign-out`],
  [
    'the configured page, even if another is deployed',
    { authUrl: 'https://login.example/in?x=1' },
    deployed,
    'https://login.example/in?x=1',
    ['https://login.example'],
    undefined,
  ],
  [
    'the configured page with its own sign-out',
    { authUrl: 'https://login.example/in', signOutUrl: 'https://login.example/out' },
    deployed,
    'https://login.example/in',
    ['https://login.example'],
    'https://login.example/out',
  ],
  [
    'the deployed page, which may call the API beside the configured CORS origins',
    { corsOrigins: 'https://a.example, https://b.example' },
    deployed,
    `${deployed}/`,
    [deployed, 'https://a.example', 'https://b.example'],
    `${deployed}/sign-out`,
  ],
])(
  'resolvePage returns the URLs and CORS origins of %s',
  (_, values, origin, authUrl, corsOrigins, signOutUrl) => {
    const page = resolvePage(readConfig({ stage: 'local', ...values }), origin)
    expect(page).toEqual({ authUrl, signOutUrl, corsOrigins })
  },
)
