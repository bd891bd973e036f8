import {
  DescribeRuleCommand,
  EventBridgeClient,
  ListTargetsByRuleCommand,
  ResourceNotFoundException,
} from '@aws-sdk/client-eventbridge'
import { clientOptions } from '../../../shared/aws/client-options.ts'

/** Reads an EventBridge rule that starts a function. */
export async function readSchedule(rule: string) {
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
  }
}
