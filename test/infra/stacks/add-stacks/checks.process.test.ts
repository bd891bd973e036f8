import { type App, Stack } from 'aws-cdk-lib'
import { Policy, PolicyStatement } from 'aws-cdk-lib/aws-iam'
import { Queue } from 'aws-cdk-lib/aws-sqs'
import { beforeAll, expect, it, vi } from 'vitest'
import { bundleAuthorizationPage } from '../../../../infra/bundle/page.ts'
import { bundleFunctions } from '../../../../infra/bundle/functions.ts'
import { everything } from '../../../support/configured-stage.ts'
import { synthesize } from '../synthesize.ts'

beforeAll(() => Promise.all([bundleFunctions(), bundleAuthorizationPage()]))

it('synthesis fails on a queue without TLS or dead-letter queue and on a policy for resource *', async () => {
  const change = (app: App) => {
    const constructs = app.node.findAll()
    const intake = constructs.find(({ node: { id } }) => id === 'account-service-prod-intake')
    if (Stack.isStack(intake)) new Queue(intake, 'forgotten')
    for (const one of constructs) {
      if (one instanceof Policy && one.node.path.includes('-api/account-info/'))
        one.addStatements(new PolicyStatement({ actions: ['dynamodb:GetItem'], resources: ['*'] }))
    }
  }
  const message = await synthesize('prod', { change }).then(() => '', String)
  for (const rule of ['SQS3', 'SQS4']) expect(message).toContain(rule)
  expect(message).toMatch(/account-info\/Role\/DefaultPolicy[^]*IAM5\[Resource::\*\]/)
})

it.each([
  ['dev', 'dev', { authUrl: undefined }],
  ['prod-with-every-option', 'prod', everything],
  ['prod-after-a-failover', 'prod', { ...everything, failover: 'restored' }],
])(
  'the stage %s passes the checks at synthesis, which prints no deprecation',
  async (written, stage, values) => {
    const warn = vi.spyOn(console, 'warn')
    const all = await synthesize(stage, { values, written })
    for (const [name, { resources }] of all) expect(Object.keys(resources).length, name).toBeLessThan(450)
    expect(warn.mock.calls.flat().filter((text) => /deprecated/.test(String(text)))).toEqual([])
  },
)
