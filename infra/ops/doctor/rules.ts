import {
  DescribeRuleCommand,
  EventBridgeClient,
  ResourceNotFoundException,
} from '@aws-sdk/client-eventbridge'
import { clientOptions } from '../../../shared/aws/client-options.ts'
import { unmatchedRuleName } from '../../event-patterns.ts'
import { events } from '../../events.ts'
import { eventName } from '../../names.ts'
import { schedules } from '../../workers-and-schedules.ts'
import type { Target } from '../target.ts'
import { type Finding, judge } from './finding.ts'

/** Checks that the rules of schedules, events and unknown events are there and switched on. */
export async function checkRules({
  namePrefix,
  eventBusName,
}: Pick<Target, 'namePrefix' | 'eventBusName'>): Promise<Finding> {
  const rules = [
    // Schedules are rules of the account's default bus.
    ...schedules.map(({ name }) => ({ Name: namePrefix + name })),
    ...[...events.map(({ detailType }) => eventName(detailType)), unmatchedRuleName].map((name) => ({
      Name: namePrefix + name,
      EventBusName: eventBusName,
    })),
  ]
  const client = new EventBridgeClient(clientOptions())
  const states = await Promise.all(
    rules.map(async (rule) => ({ name: rule.Name, state: await readRuleState(client, rule) })),
  )
  const off = states.filter(({ state }) => state !== 'ENABLED')
  return judge(
    off.map(({ name, state }) => `${name} is ${state}`),
    `all ${schedules.length} schedules and ${events.length + 1} rules for events are enabled`,
  )
}

/** The state of a rule in EventBridge, or `MISSING`. */
export async function readRuleState(
  client: EventBridgeClient,
  rule: { Name: string; EventBusName?: string },
): Promise<string> {
  try {
    return (await client.send(new DescribeRuleCommand(rule))).State ?? 'UNKNOWN'
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return 'MISSING'
    throw error
  }
}
