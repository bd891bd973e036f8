import { App } from 'aws-cdk-lib'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readConfig } from '../../../../infra/config.ts'
import { windowMinutes } from '../../../../infra/local/aws/cloudwatch/alarm-states.ts'
import { openCloudWatch } from '../../../../infra/local/aws/cloudwatch/cloudwatch.ts'
import { readAlarms } from '../../../../infra/local/template/read-alarms.ts'
import { TemplateReader } from '../../../../infra/local/template/reader.ts'
import { readStackTemplates } from '../../../../infra/local/template/stack-templates.ts'
import { addStacks } from '../../../../infra/stacks/add-stacks.ts'
import { makeBundleDirectories } from '../../../support/bundle-directories.ts'
import { configured } from '../../../support/configured-stage.ts'

const region = 'us-east-1'

/** The alarms of a stage's templates, in all of its regions, without the prefix of their names. */
async function alarmsOf(values: Record<string, unknown>) {
  const outdir = mkdtempSync(join(tmpdir(), 'synth-'))
  const app = new App({ outdir, analyticsReporting: false, builtinCloudFormationValidation: false })
  const config = readConfig({ ...configured, ...values })
  await addStacks(app, config, region)
  const addresses = { region, accountId: '000000000000', apiUrl: '', awsUrl: '' }
  const alarms = readAlarms(new TemplateReader(readStackTemplates(app.synth()), addresses))
  return alarms.map((alarm) => ({ ...alarm, name: alarm.name.replace(config.namePrefix, '') }))
}

makeBundleDirectories()
const local = new Set((await alarmsOf({ stage: 'local' })).map(({ name }) => name))
const protectedStage = await alarmsOf({ stage: 'prod', standby: { region: 'eu-west-1' }, edge: true })

/** Alarms that alarms.stack.test.ts cannot raise by their causes: a local stage does not have them. */
const elsewhere = protectedStage.filter(({ name }) => !local.has(name))

describe('alarms that no local stage has', () => {
  it('they are those of new versions, of the edge and of a standby region', () => {
    const kinds = elsewhere.map(({ name }) => name.replace(/^.+-deployment-/, 'deployment-'))
    expect([...new Set(kinds)].sort()).toEqual([
      'deployment-errors',
      'deployment-faults',
      `edge-refusals-${region}`,
      'replication-late',
      'standby-key-changes',
    ])
  })

  it.each(elsewhere.map((alarm) => [alarm.name, alarm] as const))(
    '%s is raised by its metrics, recorded by hand, and ends with them',
    (_name, alarm) => {
      const cloudwatch = openCloudWatch({ alarms: [alarm], compositeAlarms: [] })
      for (let minute = 0; minute < windowMinutes(alarm); minute += 1) {
        for (const { metric } of alarm.queries) cloudwatch.record(metric, 2 * alarm.threshold)
        cloudwatch.advance(1)
      }
      expect(cloudwatch.alarms()).toMatchObject([{ raised: true }])
      cloudwatch.advance(windowMinutes(alarm))
      expect(cloudwatch.alarms()).toMatchObject([{ raised: false }])
    },
  )
})

describe('alarms for which once is enough', () => {
  const events = protectedStage.filter(({ name }) => /-dead-letters$|^lost-events-/.test(name))
  const others = ['address-pool', 'address-pool-low', 'ledger-difference', 'guessed-account']
  const once = [...events, ...protectedStage.filter(({ name }) => others.includes(name))]

  it('there is one for each queue of dead letters', () => {
    expect(events.length).toBeGreaterThan(15)
    expect(once).toHaveLength(events.length + others.length)
  })

  it.each(once.map((alarm) => [alarm.name, alarm] as const))(
    '%s is raised by a single one, and not without any',
    (_name, alarm) => {
      const cloudwatch = openCloudWatch({ alarms: [alarm], compositeAlarms: [] })
      cloudwatch.advance(windowMinutes(alarm))
      expect(cloudwatch.alarms()).toMatchObject([{ raised: false }])
      const [query] = alarm.queries
      if (query !== undefined) cloudwatch.record(query.metric, 1)
      cloudwatch.advance(1)
      expect(cloudwatch.alarms()).toMatchObject([{ raised: true }])
    },
  )
})

describe('alarms on what runs by the clock', () => {
  const silent = protectedStage.filter(({ name }) => name.endsWith('-silent'))

  it('rotation and verification of the ledger have one each', () => {
    expect(silent.map(({ name }) => name)).toEqual(['rotation-silent', 'ledger-verification-silent'])
  })

  it.each(silent.map((alarm) => [alarm.name, alarm] as const))(
    '%s is raised when nothing has run for as long as it looks back, and ends with the next run',
    (_name, alarm) => {
      const cloudwatch = openCloudWatch({ alarms: [alarm], compositeAlarms: [] })
      const run = () => {
        for (const { metric } of alarm.queries) cloudwatch.record(metric, 1)
        cloudwatch.advance(1)
      }
      run()
      expect(cloudwatch.alarms()).toMatchObject([{ raised: false }])
      cloudwatch.advance(windowMinutes(alarm))
      expect(cloudwatch.alarms()).toMatchObject([{ raised: true }])
      run()
      expect(cloudwatch.alarms()).toMatchObject([{ raised: false }])
    },
  )
})
