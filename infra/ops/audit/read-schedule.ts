import {
  DescribeRuleCommand,
  EventBridgeClient,
  ListTargetsByRuleCommand,
  ResourceNotFoundException,
} from '@aws-sdk/client-eventbridge'
import { clientOptions } from '../../../shared/aws/client-options.ts'
import type { ScheduleFact } from './facts.ts'

/** Asks EventBridge whether, when and what the rotation's rule calls. */
export async function readSchedule(rule: string): Promise<ScheduleFact> {
  const events = new EventBridgeClient(clientOptions())
  try {
    const [described, { Targets = [] }] = await Promise.all([
      events.send(new DescribeRuleCommand({ Name: rule })),
      events.send(new ListTargetsByRuleCommand({ Rule: rule })),
    ])
    return {
      rule,
      exists: true,
      enabled: described.State === 'ENABLED',
      expression: described.ScheduleExpression,
      targets: Targets.flatMap(({ Arn }) => Arn ?? []),
    }
  } catch (error) {
    if (!(error instanceof ResourceNotFoundException)) throw error
    return { rule, exists: false, enabled: false, expression: undefined, targets: [] }
  } finally {
    events.destroy()
  }
}
