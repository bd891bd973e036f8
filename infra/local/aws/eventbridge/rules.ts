import { randomUUID } from 'node:crypto'
import type { RuleModel, RuleTarget, StackModel } from '../../model.ts'
import { allowsService } from '../iam/authorize.ts'
import type { DeliveryOptions } from '../lambda/event-source.ts'
import { invokeLater } from '../lambda/function-operations.ts'
import type { Archives, SealedEvent } from './archives.ts'
import { compilePattern, type EventTest } from './pattern.ts'

/** An event as given to PutEvents. */
export interface NewEvent {
  source: string
  detailType: string
  /** Detail of the event as JSON text. Targets get it unchanged, so that no number is rounded. */
  detail: string
  resources: string[]
  /** Time of the event, epoch milliseconds. */
  at: number
}

/** Probability that an event is delivered twice: EventBridge promises at least one delivery. */
const duplicateProbability = 0.1

/** The EventBridge rules of the stack. */
export type Rules = ReturnType<typeof openRules>

/** Compiles the stack's EventBridge rules. Throws on a pattern, schedule or target that is not emulated. */
export function openRules(options: DeliveryOptions, archives: Archives) {
  const { model, queues, quirks } = options
  const enabled = new Set(model.rules.filter((rule) => rule.enabled))
  const patterns = new Map<RuleModel, EventTest>()
  const starters: (() => NodeJS.Timeout)[] = []
  const schedules: NodeJS.Timeout[] = []
  for (const rule of model.rules) {
    for (const { arn } of rule.targets)
      if (queues.byArn(arn) === undefined && !model.functions.some((item) => item.arn === arn))
        throw new Error(`rule ${rule.name} has a target that is neither a queue nor a function: ${arn}`)
    if (rule.pattern !== undefined) patterns.set(rule, compilePattern(rule.pattern))
    if (rule.schedule === undefined) continue
    const milliseconds = readRate(rule.schedule)
    const tick = { source: 'aws.events', detailType: 'Scheduled Event', detail: '{}', resources: [rule.arn] }
    const run = () => {
      if (enabled.has(rule)) deliverAll(rule, sealEvent({ ...tick, at: Date.now() }, model).text, options)
    }
    starters.push(() => setInterval(run, milliseconds).unref())
  }
  const deliverMatching = (busName: string, text: string, whole: unknown, ruleArns?: readonly string[]) => {
    for (const [rule, matches] of patterns)
      if (rule.busName === busName && enabled.has(rule) && matches(whole)) {
        if (ruleArns?.includes(rule.arn) === false) continue
        deliverAll(rule, text, options)
        if (quirks.happens('duplicate-events', rule.name, duplicateProbability))
          deliverAll(rule, text, options)
      }
  }
  return {
    /**
     * Sends an event to a bus's archives and matching rules. Returns the event's id after the archives and
     * target queues have stored the event.
     */
    route(busName: string, event: NewEvent): string {
      const sealed = sealEvent(event, model)
      const whole: unknown = JSON.parse(sealed.text)
      archives.keep(busName, sealed, whole)
      deliverMatching(busName, sealed.text, whole)
      return sealed.head.id
    },
    /** Sends an archived event again to the matching rules of a bus, or only to those in `ruleArns`. */
    replay: (busName: string, archived: string, replayName: string, ruleArns?: readonly string[]) => {
      const text = `${archived.slice(0, -1)},"replay-name":${JSON.stringify(replayName)}}`
      deliverMatching(busName, text, JSON.parse(text), ruleArns)
    },
    isEnabled: (rule: RuleModel) => enabled.has(rule),
    setEnabled(rule: RuleModel, on: boolean): void {
      if (on) enabled.add(rule)
      else enabled.delete(rule)
    },
    startSchedules: () => void schedules.push(...starters.map((start) => start())),
    close: () => schedules.splice(0).forEach(clearInterval),
  }
}

/** Converts a schedule of the form `rate(5 minutes)` to milliseconds. Throws on every other form. */
function readRate(schedule: string): number {
  const [, count, unit = ''] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(schedule) ?? []
  const milliseconds = Number(count) * ({ minute: 60_000, hour: 3_600_000, day: 86_400_000 }[unit] ?? NaN)
  if (milliseconds > 0) return milliseconds
  throw new Error(`the schedule ${schedule} is not known here`)
}

/** Wraps an event in EventBridge's envelope. `head` has all members of the envelope except the detail. */
function sealEvent(event: NewEvent, { accountId, region }: StackModel): SealedEvent {
  const head = {
    version: '0',
    id: randomUUID(),
    'detail-type': event.detailType,
    source: event.source,
    account: accountId,
    time: new Date(event.at).toISOString().replace(/\.\d+Z$/, 'Z'),
    region,
    resources: event.resources,
  }
  return { head, text: `${JSON.stringify(head).slice(0, -1)},"detail":${event.detail}}` }
}

function deliverAll(rule: RuleModel, text: string, options: DeliveryOptions): void {
  for (const target of rule.targets) deliver(rule, target, target.input ?? text, options)
}

function deliver(rule: RuleModel, target: RuleTarget, body: string, options: DeliveryOptions): void {
  const { model, invoke, report } = options
  const name = model.functions.find(({ arn }) => arn === target.arn)?.name
  if (name !== undefined) return void invokeLater(invoke, name, body, report)
  const reason = sendToQueue(rule, target.arn, body, options)
  if (reason === undefined) return
  report(`rule ${rule.name} could not deliver to ${target.arn}: ${reason}`)
  if (target.deadLetterArn === undefined) return
  const problem = sendToQueue(rule, target.deadLetterArn, body, options)
  if (problem !== undefined)
    report(`rule ${rule.name} lost an event, because of its dead-letter queue: ${problem}`)
}

/** Sends a rule's event to a queue. Returns the problem if the queue is unknown or its policy forbids it. */
function sendToQueue(
  rule: RuleModel,
  queueArn: string,
  body: string,
  { model, queues }: DeliveryOptions,
): string | undefined {
  const queue = queues.byArn(queueArn)
  if (queue === undefined) return 'there is no such queue'
  const service = 'events.amazonaws.com'
  const request = { service, action: 'sqs:SendMessage', resource: queueArn, sourceArn: rule.arn }
  if (!allowsService(queue.policy, { ...request, accountId: model.accountId }))
    return `the queue's policy does not allow ${service} to send for this rule`
  queue.send({ body, senderId: service })
  return undefined
}
