import * as v from 'valibot'
import type { RuleModel, RuleTarget, StackModel } from '../../model.ts'
import type { Queues } from '../sqs/queues.ts'
import { AwsError } from '../wire/http-messages.ts'
import { defineOperation, type Operation } from '../wire/operation.ts'
import { EventBusName, findRule } from './event-operations.ts'
import type { Rules } from './rules.ts'

const Name = v.pipe(v.string(), v.regex(/^[.\-_A-Za-z0-9]{1,64}$/))
const PutRuleInput = v.object({
  Name,
  EventBusName,
  EventPattern: v.optional(v.string()),
  ScheduleExpression: v.optional(v.string()),
  State: v.optional(v.picklist(['ENABLED', 'DISABLED']), 'ENABLED'),
})

/** Parameters of a target that are not emulated: a target gets the whole event, or the constant `Input`. */
const notEmulated = ['InputPath', 'InputTransformer', 'SqsParameters', 'RoleArn'] as const
const Target = v.looseObject({
  Id: Name,
  Arn: v.string(),
  Input: v.optional(v.string()),
  DeadLetterConfig: v.optional(v.object({ Arn: v.optional(v.string()) })),
})
const TargetsOf = { Rule: Name, EventBusName }
const PutTargetsInput = v.object({ ...TargetsOf, Targets: v.pipe(v.array(Target), v.minLength(1)) })
const RemoveTargetsInput = v.object({ ...TargetsOf, Ids: v.pipe(v.array(Name), v.minLength(1)) })
const DeleteRuleInput = v.object({ Name, EventBusName })

/** Maximum number of targets of a rule (EventBridge quota). */
const maxTargets = 5
/** Maximum length of an event pattern (EventBridge quota). */
const maxPatternLength = 2_048

/**
 * EventBridge's operations with which a program makes rules of its own, for example to listen to outcomes of
 * events. The rules of the stack cannot be changed.
 */
export function ownRuleOperations(
  model: StackModel,
  rules: Rules,
  queues: Queues,
): Record<string, Operation> {
  const arnOf = (busName: string, name: string) =>
    `arn:aws:events:${model.region}:${model.accountId}:rule/${busName === 'default' ? '' : `${busName}/`}${name}`
  const onRule =
    (action: string) => (input: { EventBusName: string } & ({ Name: string } | { Rule: string })) => ({
      action: `events:${action}`,
      resource: arnOf(input.EventBusName, 'Name' in input ? input.Name : input.Rule),
    })
  return {
    PutRule: defineOperation(PutRuleInput, onRule('PutRule'), (input) => {
      const { Name: name, EventBusName: busName } = input
      if (busName !== 'default' && !model.buses.some((bus) => bus.name === busName))
        throw new AwsError('ResourceNotFoundException', `Event bus ${busName} does not exist.`)
      const known = rules.find(busName, name)
      if (known !== undefined) refuseStackRule(rules, known)
      const arn = arnOf(busName, name)
      put(rules, {
        name,
        arn,
        busName,
        enabled: input.State === 'ENABLED',
        pattern: readPattern(input),
        schedule: undefined,
        targets: known?.targets ?? [],
      })
      return { RuleArn: arn }
    }),
    PutTargets: defineOperation(PutTargetsInput, onRule('PutTargets'), (input) => {
      const rule = findRule(rules, { Name: input.Rule, EventBusName: input.EventBusName })
      refuseStackRule(rules, rule)
      const targets = input.Targets.map((target) => readTarget(target, queues))
      const ids = new Set(targets.map(({ id }) => id))
      const all = [...rule.targets.filter(({ id }) => !ids.has(id)), ...targets]
      if (all.length > maxTargets)
        throw new AwsError('LimitExceededException', `A rule has at most ${maxTargets} targets.`)
      put(rules, { ...rule, targets: all })
      return { FailedEntryCount: 0, FailedEntries: [] }
    }),
    RemoveTargets: defineOperation(RemoveTargetsInput, onRule('RemoveTargets'), (input) => {
      const rule = findRule(rules, { Name: input.Rule, EventBusName: input.EventBusName })
      refuseStackRule(rules, rule)
      put(rules, { ...rule, targets: rule.targets.filter(({ id }) => !input.Ids.includes(id)) })
      return { FailedEntryCount: 0, FailedEntries: [] }
    }),
    DeleteRule: defineOperation(
      DeleteRuleInput,
      onRule('DeleteRule'),
      ({ Name: name, EventBusName: bus }) => {
        const rule = rules.find(bus, name)
        // As on AWS, deleting a rule that does not exist is no error.
        if (rule === undefined) return {}
        refuseStackRule(rules, rule)
        if (rule.targets.length > 0)
          throw new AwsError('ValidationException', "Rule can't be deleted since it has targets.")
        rules.remove(rule)
        return {}
      },
    ),
  }
}

function put(rules: Rules, rule: RuleModel): void {
  try {
    rules.put(rule)
  } catch (error) {
    throw new AwsError(
      'InvalidEventPatternException',
      `Event pattern is not valid. ${(error as Error).message}`,
    )
  }
}

function readPattern({
  EventPattern: text,
  ScheduleExpression: schedule,
}: v.InferOutput<typeof PutRuleInput>) {
  if (schedule !== undefined || text === undefined)
    throw new AwsError('ValidationException', 'Here, a rule needs an EventPattern, and no schedule.')
  const refuse = (reason: string) => new AwsError('InvalidEventPatternException', reason)
  if (text.length > maxPatternLength) throw refuse(`Event pattern is over ${maxPatternLength} characters.`)
  const parsed = v.safeParse(
    v.pipe(v.string(), v.parseJson(), v.record(v.string(), v.unknown()), v.minEntries(1)),
    text,
  )
  if (!parsed.success) throw refuse('Event pattern is not valid.')
  return parsed.output
}

function readTarget(target: v.InferOutput<typeof Target>, queues: Queues): RuleTarget {
  const { Id: id, Arn: arn, Input: input, DeadLetterConfig: deadLetters } = target
  const refuse = (reason: string) => new AwsError('ValidationException', `Target ${id}: ${reason}`)
  const unknown = notEmulated.filter((name) => target[name] !== undefined)
  if (unknown.length > 0) throw refuse(`${unknown.join(', ')} is not emulated here.`)
  const queue = queues.byArn(arn)
  if (queue === undefined) throw refuse('only a queue that exists can be a target here.')
  if (queue.model.fifo) throw refuse('a FIFO queue needs a message group, which is not emulated here.')
  return { id, arn, input, deadLetterArn: deadLetters?.Arn }
}

function refuseStackRule(rules: Rules, rule: RuleModel): void {
  if (rules.isOfStack(rule))
    throw new AwsError('ManagedRuleException', 'The rules of the stack cannot be changed here.')
}
