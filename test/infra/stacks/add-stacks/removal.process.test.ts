import { describe, expect, it } from 'vitest'
import { bundleAuthorizationPage } from '../../../../infra/bundle/page.ts'
import { ofType, type Resource, type Stacks, synthesizeUnchecked, typesIn } from '../synthesize.ts'

await bundleAuthorizationPage()
const values = { authUrl: undefined, edge: true }
const dev = await synthesizeUnchecked('dev', { values })
const prod = await synthesizeUnchecked('prod', { values })

const resourcesOf = (stacks: Stacks): [path: string, resource: Resource][] =>
  [...stacks].flatMap(([stack, { resources }]) =>
    Object.entries(resources).map(([id, resource]): [string, Resource] => [`${stack}/${id}`, resource]),
  )

describe('`cdk destroy` of a stage without protection', () => {
  it('every stack can be deleted', () => {
    for (const { stack } of dev.values()) expect(stack.terminationProtection).not.toBe(true)
  })

  it('all resources are deleted with their stack', () => {
    for (const [path, { DeletionPolicy: policy }] of resourcesOf(dev))
      expect(policy ?? 'Delete', path).toBe('Delete')
    const [table] = ofType(dev, 'AWS::DynamoDB::GlobalTable')
    expect(JSON.stringify(table?.resource.Properties)).toContain('"DeletionProtectionEnabled":false')
  })

  it('the authorization page’s bucket is emptied before it is deleted', () => {
    const emptied = ofType(dev, 'Custom::S3AutoDeleteObjects').map(
      ({ resource }) => (resource.Properties['BucketName'] as { Ref: string }).Ref,
    )
    expect(emptied).toEqual(ofType(dev, 'AWS::S3::Bucket').map(({ id }) => id))
    expect(emptied).toHaveLength(1)
  })

  it('KMS deletes the keys of an unprotected stage after a week, the shortest time that KMS allows', () => {
    const waiting = ofType(dev, 'AWS::KMS::Key').map(
      ({ resource }) => resource.Properties['PendingWindowInDays'],
    )
    expect(waiting).toEqual([7, 7, 7, 7])
  })
})

it('`cdk destroy` of a protected stage empties no bucket', () => {
  expect(typesIn(prod)).not.toContain('Custom::S3AutoDeleteObjects')
})
