import { App } from 'aws-cdk-lib'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readConfig } from '../../../../infra/config.ts'
import { windowMinutes } from '../../../../infra/local/aws/cloudwatch/alarm-states.ts'
import { openCloudWatch } from '../../../../infra/local/aws/cloudwatch/cloudwatch.ts'
import { readStackTemplates } from '../../../../infra/local/template/stack-templates.ts'
import { addStacks } from '../../../../infra/stacks/add-stacks.ts'
import { makeBundleDirectories } from '../../../support/bundle-directories.ts'
import { configured } from '../../../support/configured-stage.ts'
import { alarmsIn, synthesizeAlarmStage } from '../../runbook/alarms/alarm-stage.ts'

const newDirectory = () => mkdtempSync(join(tmpdir(), 'synth-'))

makeBundleDirectories()
const { served, standby, edge } = await synthesizeAlarmStage(newDirectory(), {})
const rehearsed = alarmsIn([...served, ...standby, ...edge])

describe('the stage on which alarms are rehearsed', () => {
  it('has every alarm of a stage with every option, its edge and its standby region', async () => {
    const app = new App({
      outdir: newDirectory(),
      analyticsReporting: false,
      builtinCloudFormationValidation: false,
    })
    // Without the authorization page, whose stacks have no alarms, and need what the bundler makes.
    const options = { standby: { region: 'eu-west-1' }, edge: true }
    const config = readConfig({ stage: 'prod', ...configured, ...options })
    await addStacks(app, config, 'us-east-1')
    const names = alarmsIn(readStackTemplates(app.synth())).map(({ name }) =>
      name.replace(config.namePrefix, ''),
    )
    expect(names.length).toBeGreaterThan(200)
    expect(rehearsed.map(({ name }) => name).sort()).toEqual(names.sort())
  })

  it('has an alarm of the edge that ten refused requests a second raise, and fewer do not', () => {
    const alarm = rehearsed.find(({ name }) => name === 'edge-refusals-us-east-1') ?? expect.unreachable()
    const [{ metric } = expect.unreachable()] = alarm.queries
    for (const [refused, raised] of [
      [10, true],
      [9, false],
    ] as const) {
      const cloudwatch = openCloudWatch({ alarms: [alarm], compositeAlarms: [] })
      for (let minute = 0; minute < windowMinutes(alarm); minute += 1) {
        cloudwatch.record(metric, refused * 60)
        cloudwatch.advance(1)
      }
      expect(cloudwatch.alarms()).toMatchObject([{ raised }])
      cloudwatch.advance(windowMinutes(alarm))
      expect(cloudwatch.alarms()).toMatchObject([{ raised: false }])
    }
  })
})

describe('alarms for which once is enough', () => {
  const events = rehearsed.filter(({ name }) => /-dead-letters$|^lost-events-/.test(name))
  const others = ['address-pool', 'address-pool-low', 'ledger-difference', 'guessed-account']
  const once = [...events, ...rehearsed.filter(({ name }) => others.includes(name))]

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
  const silent = rehearsed.filter(({ name }) => name.endsWith('-silent'))

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
