import * as v from 'valibot'
import type { RuleModel, StackModel } from '../../model.ts'
import { AwsError } from '../wire/aws-error.ts'
import { operation, type Call, type Operation } from '../wire/operation.ts'
import type { Rules } from './rules.ts'

const EventBusName = v.optional(v.string(), 'default')
const RuleInput = v.object({ Name: v.string(), EventBusName })

/**
 * DescribeRule, ListRules, ListTargetsByRule, and switching a rule off and on. What was switched is forgotten when the
 * endpoint stops: the template says how rules start.
 */
export function ruleAdministration(model: StackModel, rules: Rules): Record<string, Operation> {
  const switchTo = (enabled: boolean, action: string) =>
    operation(RuleInput, (input, call) => rules.setEnabled(openRule(model, call, action, input), enabled))
  return {
    DescribeRule: operation(RuleInput, (input, call) =>
      describe(openRule(model, call, 'DescribeRule', input), rules),
    ),
    ListTargetsByRule: operation(v.object({ Rule: v.string(), EventBusName }), (input, call) => {
      const rule = openRule(model, call, 'ListTargetsByRule', { ...input, Name: input.Rule })
      return {
        Targets: rule.targets.map(({ id, arn, input: constant }) => ({
          Id: id,
          Arn: arn,
          ...(constant === undefined ? {} : { Input: constant }),
        })),
      }
    }),
    EnableRule: switchTo(true, 'EnableRule'),
    DisableRule: switchTo(false, 'DisableRule'),
  }
}

function openRule(
  model: StackModel,
  call: Call,
  action: string,
  { Name, EventBusName: bus }: v.InferOutput<typeof RuleInput>,
): RuleModel {
  const rule = model.rules.find(({ name, busName }) => name === Name && busName === bareName(bus))
  const resource = bareName(bus) === 'default' ? Name : `${bareName(bus)}/${Name}`
  call.authorize({
    action: `events:${action}`,
    resource: `arn:aws:events:${model.region}:${model.accountId}:rule/${resource}`,
  })
  if (rule !== undefined) return rule
  throw new AwsError('ResourceNotFoundException', `Rule ${Name} does not exist on EventBus ${bareName(bus)}.`)
}

const describe = (rule: RuleModel, rules: Rules) => ({
  Name: rule.name,
  Arn: rule.arn,
  EventBusName: rule.busName,
  State: rules.isEnabled(rule) ? 'ENABLED' : 'DISABLED',
  ...(rule.schedule === undefined ? {} : { ScheduleExpression: rule.schedule }),
  ...(rule.pattern === undefined ? {} : { EventPattern: JSON.stringify(rule.pattern) }),
})

const bareName = (bus: string): string => bus.slice(bus.lastIndexOf('/') + 1)
