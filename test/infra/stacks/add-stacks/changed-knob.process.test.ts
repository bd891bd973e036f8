import { expect, it } from 'vitest'
import { bundleAuthorizationPage } from '../../../../infra/bundle/page.ts'
import type { Config } from '../../../../infra/config.ts'
import type { Settings } from '../../../../shared/settings.ts'
import { everything } from '../../../support/configured-stage.ts'
import { type Stacks, synthesizeUnchecked } from '../synthesize.ts'

await bundleAuthorizationPage()

// `failover` is left out: it adds stacks in another region, and changes no deployed stack.
// `signOutUrl` only goes with `authUrl`, and is no more than a variable of the functions.
type LeftOut = keyof typeof Settings.entries | 'stage' | 'failover' | 'certificateArn' | 'signOutUrl'

const { certificateArn, ...options } = everything
const secondValues: Record<Exclude<keyof typeof Config.entries, LeftOut>, unknown> = {
  ...options,
  authUrl: 'https://auth.example.com/',
  corsOrigins: 'https://a.example',
  protectData: false,
  macKeys: ['MacKey', 'MacKey2'],
  mailDelaySeconds: 100,
  throttleRate: 10,
  concurrentExecutions: 20,
  alarms: false,
  alarmTopicArn: 'arn:aws:sns:us-east-1:123456789012:others',
  logRetentionDays: 7,
}

/** Lists the exports that an update would remove although a deployed stack imports them. */
function lostExports(before: Stacks, after: Stacks): string[] {
  const templates = JSON.stringify([...before.values()].map(({ resources }) => resources))
  return [...before].flatMap(([name, { outputs }]) => {
    const kept = Object.values(after.get(name)?.outputs ?? outputs).map(({ Export }) => Export?.Name)
    return Object.values(outputs)
      .flatMap(({ Export }) => Export?.Name ?? [])
      .filter((one) => templates.includes(`{"Fn::ImportValue":"${one}"}`) && !kept.includes(one))
  })
}

const page = { authUrl: undefined }
const before = await synthesizeUnchecked('prod', { values: page })

it.each(Object.entries(secondValues))('a stage update can add and remove option %s', async (knob, value) => {
  const domain = knob === 'domainName' ? { certificateArn } : {}
  const after = await synthesizeUnchecked('prod', { values: { ...page, ...domain, [knob]: value } })
  expect(lostExports(before, after), 'set').toEqual([])
  // Removing a MAC key takes two deployments (infra/RUNBOOK.md, A new MAC key).
  if (knob !== 'macKeys') expect(lostExports(after, before), 'removed').toEqual([])
})
