import { StartupError } from '../startup-error.ts'
import type { RuleModel, RuleTarget, StackModel } from '../model.ts'
import type { ResolvedResource, TemplateReader } from './template-reader.ts'
import { asList, asProperties, asText, type Properties } from './values.ts'

/** The event buses that the templates create, and the account's default one. */
export function readBuses(reader: TemplateReader): StackModel['buses'] {
  const { region, accountId } = reader.addresses
  const own = reader
    .ofType('AWS::Events::EventBus')
    .map((bus) => ({ name: bus.ref, arn: bus.attribute('Arn') }))
  return [{ name: 'default', arn: `arn:aws:events:${region}:${accountId}:event-bus/default` }, ...own]
}

/** Rules by pattern, rules by the clock, and the schedules of EventBridge Scheduler, which are rules by the clock here. */
export function readRules(reader: TemplateReader): RuleModel[] {
  return [
    ...reader.ofType('AWS::Events::Rule').map(readRule),
    ...reader.ofType('AWS::Scheduler::Schedule').map(readSchedule),
  ]
}

function readRule(rule: ResolvedResource): RuleModel {
  const { properties, where } = rule
  const { EventBusName: bus, EventPattern: pattern, ScheduleExpression: schedule, State: state } = properties
  return {
    name: rule.ref,
    arn: rule.attribute('Arn'),
    busName:
      bus === undefined ? 'default' : asText(bus, where('EventBusName')).replace(/^arn:.*event-bus\//, ''),
    enabled: state !== 'DISABLED',
    ...(pattern === undefined ? {} : { pattern: asProperties(pattern, where('EventPattern')) }),
    ...(schedule === undefined ? {} : { schedule: asText(schedule, where('ScheduleExpression')) }),
    targets: asList(properties.Targets, where('Targets')).map((target) =>
      readTarget(asProperties(target, where('Targets')), where('Targets')),
    ),
  }
}

function readSchedule(schedule: ResolvedResource): RuleModel {
  const { properties, where } = schedule
  const target = asProperties(properties.Target, where('Target'))
  const { ScheduleExpressionTimezone: zone } = properties
  if (zone !== undefined && !['UTC', 'Etc/UTC'].includes(asText(zone, where('Timezone'))))
    throw new StartupError(
      `${schedule.id} runs by another clock than UTC, which the local stack does not know`,
    )
  return {
    name: schedule.ref,
    arn: schedule.attribute('Arn'),
    busName: 'default',
    enabled: properties.State !== 'DISABLED',
    schedule: asText(properties.ScheduleExpression, where('ScheduleExpression')),
    targets: [readTarget({ Id: schedule.ref, ...target }, where('Target'))],
  }
}

function readTarget(target: Properties, where: string): RuleTarget {
  if (target.InputTransformer !== undefined || target.InputPath !== undefined)
    throw new StartupError(`${where} transforms its input, which the local stack does not know`)
  const { Input: input } = target
  const deadLetterArn = asProperties(target.DeadLetterConfig, where).Arn
  const fifo = asProperties(target.SqsParameters, where).MessageGroupId
  return {
    id: asText(target.Id, where),
    arn: asText(target.Arn, where),
    ...(input === undefined ? {} : { input: asText(input, where) }),
    ...(deadLetterArn === undefined ? {} : { deadLetterArn: asText(deadLetterArn, where) }),
    ...(fifo === undefined ? {} : { messageGroupId: asText(fifo, where) }),
  }
}
