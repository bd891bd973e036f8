import { describe, expect, it } from 'vitest'
import { synthesizeUnchecked, ofType } from './synthesize.ts'

const expected = { service: 'account-service', stage: 'prod' }

const stacks = await synthesizeUnchecked('prod')

/**
 * Converts the tags of a resource to an object; CloudFormation has them as a list of pairs or as an object.
 */
function toRecord(tags: unknown): Record<string, string> {
  if (!Array.isArray(tags)) return tags as Record<string, string>
  return Object.fromEntries(
    (tags as { Key: string; Value: string }[]).map(({ Key: key, Value: value }) => [key, value]),
  )
}

/** Lists every resource of the stacks that has tags. */
const tagged = () =>
  [...stacks].flatMap(([name, { resources }]) =>
    Object.entries(resources).flatMap(([id, { Type: type, Properties: properties }]) =>
      properties['Tags'] === undefined
        ? []
        : [{ path: `${name}/${id}`, type, tags: toRecord(properties['Tags']) }],
    ),
  )

describe('tags', () => {
  it('every taggable resource of a stage has the stage’s tags', () => {
    expect(tagged().length).toBeGreaterThan(300)
    for (const { path, tags } of tagged()) expect(tags, path).toEqual(expected)
    for (const { stack } of stacks.values()) expect(stack.tags.tagValues()).toEqual(expected)
  })

  it('the table has the stage’s tags on its replica', () => {
    const [table] = ofType(stacks, 'AWS::DynamoDB::GlobalTable')
    const [replica] = table?.resource.Properties['Replicas'] as { Tags: unknown }[]
    expect(toRecord(replica?.Tags)).toEqual(expected)
  })

  it('no resource of a stage has the tag that marks signing keys', () => {
    for (const { path, tags } of tagged()) expect(tags, path).not.toHaveProperty('signing-key')
  })
})

it('a resource is retained when its creation fails, so that its name blocks the next deployment', () => {
  const policies = [...stacks].flatMap(([, { resources }]) =>
    Object.values(resources).map(({ DeletionPolicy }) => DeletionPolicy),
  )
  expect(policies).toContain('RetainExceptOnCreate')
  expect(policies).not.toContain('Retain')
})
