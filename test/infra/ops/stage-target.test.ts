import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { UsageError } from '../../../infra/ops/errors.ts'
import { findStage } from '../../../infra/ops/stage-target.ts'
import { findTarget } from '../../../infra/ops/target.ts'
import { configured, standby } from '../../support/configured-stage.ts'
import { newDirectory } from '../../support/new-directory.ts'

const directory = newDirectory()

function write(name: string, content: unknown): string {
  const file = join(directory, name)
  writeFileSync(file, JSON.stringify(content))
  return file
}

const certificateArn = 'arn:aws:acm:eu-central-1:123456789012:certificate/1'
const cdkFile = write('cdk.json', {
  context: {
    stages: {
      named: { ...configured, domainName: 'api.example.com', certificateArn },
      plain: configured,
      bare: {},
      ready: { ...configured, standby },
      moved: { ...configured, standby, failover: 'restored' },
    },
  },
})
const outputs = write('outputs.json', {
  'account-service-plain-api': {
    BaseUrl: 'https://x.execute-api.example',
    AuthUrl: 'https://page.example/',
  },
})

describe('findStage', () => {
  it.each([
    ['its configured domain', 'named', {}, 'https://api.example.com'],
    ['the stacks’ outputs', 'plain', {}, 'https://x.execute-api.example'],
    ['the option --base-url', 'named', { baseUrl: 'https://other.example' }, 'https://other.example'],
  ])('findStage takes the address of the API from %s', (_what, stage, options, baseUrl) => {
    expect(findStage(stage, { outputs, ...options }, cdkFile).baseUrl).toBe(baseUrl)
  })

  it('findStage takes the address of the authorization page from authUrl, or from the stacks’ outputs', () => {
    const stages = { context: { stages: { own: { ...configured, authUrl: 'https://own.example/' } } } }
    expect(findStage('own', { outputs }, write('own.json', stages)).authUrl).toBe('https://own.example/')
    const deployed = { context: { stages: { plain: { ...configured, authUrl: undefined } } } }
    const file = write('deployed.json', deployed)
    expect(findStage('plain', { outputs }, file).authUrl).toBe('https://page.example/')
    expect(findStage('plain', { outputs: '/no/such/file' }, file).authUrl).toBeUndefined()
  })

  it.each([
    ['a directory', directory],
    ['a file of something else', write('list.json', { stages: [1] })],
    ['a file that is not JSON', import.meta.filename],
  ])('findStage refuses %s as a file of outputs, in words', (_what, wrong) => {
    expect(() => findStage('plain', { outputs: wrong }, cdkFile)).toThrow(UsageError)
  })

  it('after a failover, commands work in the standby region', () => {
    expect(findStage('moved', { outputs }, cdkFile)).toMatchObject({
      region: 'eu-west-1',
      tableName: 'restored',
      hasAlarms: true,
    })
  })

  it('without a failover, commands work in the region that the SDK chooses', () => {
    expect(findStage('plain', { outputs }, cdkFile).region).toBeUndefined()
  })

  it('after a failover, commands with the option --region work on the lost region', () => {
    const region = 'eu-central-1'
    const lost = findStage('moved', { outputs, region }, cdkFile)
    expect(lost).toMatchObject({ region, tableName: 'account-service-moved' })
  })

  it('findStage derives table, bus and settings from the stage’s name and configuration', () => {
    const stages = { context: { stages: { quick: { ...configured, accessTokenTtlSeconds: 60 } } } }
    expect(findStage('quick', { outputs: '/no/such/file' }, write('quick.json', stages))).toMatchObject({
      stage: 'quick',
      baseUrl: undefined,
      awsEndpoint: undefined,
      namePrefix: 'account-service-quick-',
      tableName: 'account-service-quick',
      eventBusName: 'account-service-quick',
      settings: { accessTokenTtlSeconds: 60, signingKeyRotationDays: 30 },
    })
  })

  it('with the option --table, commands use the named table instead of the deployment’s table', async () => {
    const options = { stage: 'dev', outputs: '/no/such/file' }
    expect((await findTarget(options)).tableName).toBe('account-service-dev')
    expect((await findTarget({ ...options, table: 'restored' })).tableName).toBe('restored')
  })

  it('findStage reports an invalid configuration as wrong usage, without a stack trace', () => {
    expect(() => findStage('bare', { outputs }, cdkFile)).toThrow(UsageError)
  })
})
