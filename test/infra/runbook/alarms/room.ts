import { readFileSync } from 'node:fs'
import { DescribeRuleCommand, EventBridgeClient } from '@aws-sdk/client-eventbridge'
import { expect } from 'vitest'
import { readStatistic } from '../../../../infra/local/aws/cloudwatch/metrics.ts'
import type { LocalStack } from '../../../../infra/local/local-stack.ts'
import type { AlarmModel, FunctionModel } from '../../../../infra/local/model.ts'
import { readAlarms } from '../../../../infra/local/template/read-alarms.ts'
import { TemplateReader } from '../../../../infra/local/template/reader.ts'
import type { StackTemplate } from '../../../../infra/local/template/stack-templates.ts'
import { clientOptions } from '../../../../shared/aws/client-options.ts'
import { follow, pollOptions } from '../follow.ts'
import { peopleOf } from '../people.ts'
import type { Relay } from './relay.ts'

/** A cause of alarms, and the way out of it. */
export interface AlarmRehearsal {
  /** What goes wrong. */
  cause: string
  /** The alarms of metrics that it raises: these and no others. */
  raises: readonly string[]
  /**
   * The alarm of the journey that notifies the topic: one fault, one notification. None if all alarms notify
   * it by themselves, as those of new versions do.
   */
  journey?: string
  /** Makes it go wrong. */
  fault: (room: Room) => Promise<unknown>
  /** Minutes after which the alarm is raised. Default: 3, after which its journey has notified. */
  minutes?: number
  /** Follows the alarm's section of the runbook to the end. */
  mend: (room: Room) => Promise<unknown>
  /** Minutes after which no alarm is raised any more. Default: 6, over which most alarms look back. */
  quietMinutes?: number
}

/** The stack on which alarms are rehearsed, with what rehearsals share. */
export type Room = ReturnType<typeof openRoom>

/** Schedules run at least this often while minutes pass. */
const scheduleMinutes = 25

/** Opens the room of a stack, which serves these templates. */
export function openRoom(stack: LocalStack, relay: Relay, templates: StackTemplate[]) {
  const { model, aws, baseUrl } = stack
  const { cloudwatch } = aws
  const events = new EventBridgeClient(clientOptions())
  const thisMinute = () => Math.floor(cloudwatch.clock.read() / 60_000)
  let begun = 0
  let sinceSchedules = 0
  const runSchedules = async () => {
    for (const { name: Name, schedule, targets } of model.rules) {
      if (schedule === undefined) continue
      if ((await events.send(new DescribeRuleCommand({ Name }))).State !== 'ENABLED') continue
      const scheduled = model.functions.find(({ arn }) => arn === targets[0]?.arn)
      await stack.invoke(scheduled?.logicalId ?? '', '{}')
    }
    sinceSchedules = 0
  }
  const functionOf = (name: string): FunctionModel =>
    model.functions.find((one) => one.name === name) ?? expect.unreachable(name)
  /** The sum of a metric of the functions since the rehearsal began. */
  const sumOf = (name: string, dimensions: Record<string, string>): number => {
    const metric = { namespace: 'account-service', name, dimensions }
    return cloudwatch.metrics.compute(metric, readStatistic('Sum'), begun, thisMinute() + 1) ?? 0
  }
  const linesOf = (name: string): string[] =>
    readFileSync(stack.logFile, 'utf8')
      .split('\n')
      .filter((line) => line.includes(` ${name} `))
  return {
    stack,
    relay,
    url: baseUrl,
    people: peopleOf(baseUrl),
    functionOf,
    /** Opens a section of the runbook, whose commands then run on the stack. */
    section: (heading: string) => follow(heading, baseUrl),
    /** Lets minutes pass at once; the schedules that are on run meanwhile. */
    pass: async (minutes: number): Promise<void> => {
      for (let left = minutes; left > 0; left -= scheduleMinutes) {
        const step = Math.min(left, scheduleMinutes)
        if (sinceSchedules + step > scheduleMinutes) await runSchedules()
        cloudwatch.advance(step)
        sinceSchedules += step
      }
    },
    /** Runs a function as its schedule does. */
    run: (name: string) => stack.invoke(functionOf(name).logicalId, '{}'),
    /** Begins a rehearsal: from now on metrics are counted. */
    begin: () => void (begun = thisMinute()),
    /** Waits until a metric of the functions adds up to this since the rehearsal began. */
    counted: async (
      name: string,
      atLeast: number,
      dimensions: Record<string, string> = {},
    ): Promise<void> => {
      await expect.poll(() => sumOf(name, dimensions), pollOptions).toBeGreaterThanOrEqual(atLeast)
    },
    sumOf,
    /** Waits until Lambda has counted so many calls of a function since the rehearsal began. */
    invoked: async (FunctionName: string, atLeast: number): Promise<void> => {
      const metric = { namespace: 'AWS/Lambda', name: 'Invocations', dimensions: { FunctionName } }
      const sum = () => cloudwatch.metrics.compute(metric, readStatistic('Sum'), begun, thisMinute() + 1)
      await expect.poll(() => sum() ?? 0, { ...pollOptions, interval: 10 }).toBeGreaterThanOrEqual(atLeast)
    },
    /** Waits until Lambda has counted so many calls at once since the rehearsal began. */
    concurrent: async (atLeast: number): Promise<void> => {
      const metric = { namespace: 'AWS/Lambda', name: 'ClaimedAccountConcurrency', dimensions: {} }
      const most = () => cloudwatch.metrics.compute(metric, readStatistic('Maximum'), begun, thisMinute() + 1)
      await expect.poll(() => most() ?? 0, pollOptions).toBeGreaterThanOrEqual(atLeast)
    },
    /** The alarms of a function, as the deployment of a version of it makes them. */
    alarmsOf: (name: string, version: string): AlarmModel[] => {
      const { region, accountId } = model
      const addresses = { region, accountId, apiUrl: baseUrl, awsUrl: aws.url, versions: { [name]: version } }
      const alarms = readAlarms(new TemplateReader(templates, addresses))
      return alarms.filter((alarm) => alarm.name.startsWith(`${name}-`))
    },
    /** All lines in the log of a function. */
    linesOf,
    /** The structured lines in the log of a function. */
    logOf: (name: string): Record<string, unknown>[] =>
      linesOf(name)
        .filter((line) => line.includes(` ${name} {"`))
        .map((line) => JSON.parse(line.slice(line.indexOf('{'))) as Record<string, unknown>),
    /** The alarms of metrics that are raised; with an instant of CloudWatch's clock, at any time since. */
    raised: (from = Infinity): string[] =>
      cloudwatch
        .alarms()
        .filter(({ alarm, raised, since }) => (raised || since > from) && !('rule' in alarm))
        .map(({ alarm: { name } }) => name)
        .sort(),
  }
}

/** Rehearses an alarm: its cause, what it tells, what the runbook says, and that it ends. */
export async function rehearse(room: Room, rehearsal: AlarmRehearsal): Promise<void> {
  const { raises, journey, fault, minutes = 3, mend, quietMinutes = 6 } = rehearsal
  const { notifications, clock } = room.stack.aws.cloudwatch
  expect(room.raised(), 'before').toEqual([])
  // What goes wrong within a minute then has a whole one, however slow the machine is.
  await room.pass(1)
  const start = clock.read()
  room.begin()
  const before = notifications.length
  const told = () => notifications.slice(before).map(({ alarm }) => alarm)
  const byThemselves = room.stack.model.alarms.filter(
    ({ name, notifies }) => notifies && raises.includes(name),
  )
  const telling = [...byThemselves.map(({ name }) => name), ...(journey === undefined ? [] : [journey])]

  await fault(room)
  await room.pass(minutes)
  expect(room.raised(start)).toEqual([...raises].sort())
  expect(told()).toEqual(telling)
  await expectListed(room)

  await mend(room)
  await room.pass(quietMinutes)
  expect(room.raised(), 'after').toEqual([])
  expect(told()).toEqual(telling)
}

/** Expects that the operator's command and the console list what is raised, with what to do. */
async function expectListed(room: Room): Promise<void> {
  const { code, result } = await room.section('One alarm for a fault').ops('alarms')
  const { alarms } = result as { alarms: { name: string; description: string }[] }
  expect(alarms.map(({ name }) => name).sort()).toEqual(room.raised())
  expect(code).toBe(alarms.length === 0 ? 0 : 1)
  const answer = await fetch(`${room.url}/_local/alarms`)
  const shown = (await answer.json()) as { health: string; alarms: { name: string; what_to_do: string }[] }
  expect(shown.health).toBe(alarms.length === 0 ? 'OK' : 'ALARM')
  expect(shown.alarms.map(({ name }) => name).sort()).toEqual(room.raised())
  for (const { name, what_to_do: section } of shown.alarms) expect(section, name).not.toBe('')
}
