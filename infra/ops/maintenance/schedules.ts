import { DisableRuleCommand, EnableRuleCommand, EventBridgeClient } from '@aws-sdk/client-eventbridge'
import { clientOptions } from '../../../shared/aws/client-options.ts'
import { schedules as scheduleRows } from '../../workers-and-schedules.ts'
import { readRuleState } from '../doctor/rules.ts'
import type { Target } from '../target.ts'
import { joinStates, type Part, type PartState } from './parts.ts'

const states: Record<string, PartState> = { ENABLED: 'running', DISABLED: 'stopped' }

/** Stops the schedules by their rules. Operators can still invoke the functions, as a restore needs it. */
export const schedules: Part = {
  read: (target) =>
    withRules(target, async (client, names) => {
      const found = await Promise.all(names.map((Name) => readRuleState(client, { Name })))
      return joinStates(found.map((state) => states[state] ?? 'changing'))
    }),
  set: (target, stopped) =>
    withRules(target, async (client, names) => {
      for (const Name of names)
        await client.send(stopped ? new DisableRuleCommand({ Name }) : new EnableRuleCommand({ Name }))
    }),
}

async function withRules<Result>(
  { namePrefix }: Target,
  work: (client: EventBridgeClient, names: string[]) => Promise<Result>,
): Promise<Result> {
  const client = new EventBridgeClient(clientOptions())
  return work(
    client,
    scheduleRows.map(({ name }) => namePrefix + name),
  )
}
