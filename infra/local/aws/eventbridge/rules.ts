import { randomUUID } from 'node:crypto'
import type { RuleModel, RuleTarget, StackModel } from '../../model.ts'
import { allowsService } from '../iam/authorize.ts'
import type { DeliveryOptions } from '../lambda/event-source.ts'
import { invokeLater } from '../lambda/function-operations.ts'
import type { Archives, SealedEvent } from './archives.ts'
import type { Queue } from '../sqs/queue.ts'
import { openDefinitions } from '../storage/definitions.ts'
import type { Store } from '../storage/store.ts'
import type { Outcomes } from './outcomes.ts'
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

/** The EventBridge rules of the stack, and those that programs have made here. */
export type Rules = ReturnType<typeof openRules>

/** A rule that can be matched. Rules with a schedule match no event. */
interface OpenRule {
  rule: RuleModel
  enabled: boolean
  matches: EventTest
}

/** Compiles the EventBridge rules. Throws on a pattern, schedule or target that is not emulated. */
export function openRules(
  options: DeliveryOptions,
  { archives, store, outcomes }: { archives: Archives; store: Store; outcomes: Outcomes },
) {
  const { model, queues, quirks } = options
  const rules = new Map<string, OpenRule>()
  const own = openDefinitions<RuleModel>(store, 'rules')
  const nameOf = ({ busName, name }: Pick<RuleModel, 'busName' | 'name'>) => `${busName}/${name}`
  const open = (rule: RuleModel) =>
    rules.set(nameOf(rule), {
      rule,
      enabled: rule.enabled,
      matches: rule.pattern === undefined ? () => false : compilePattern(rule.pattern),
    })
  const starters: (() => NodeJS.Timeout)[] = []
  const schedules: NodeJS.Timeout[] = []
  for (const rule of model.rules) {
    for (const { arn } of rule.targets)
      if (queues.byArn(arn) === undefined && !model.functions.some((item) => item.arn === arn))
        throw new Error(`rule ${rule.name} has a target that is neither a queue nor a function: ${arn}`)
    open(rule)
    if (rule.schedule === undefined) continue
    const milliseconds = readRate(rule.schedule)
    const tick = { source: 'aws.events', detailType: 'Scheduled Event', detail: '{}', resources: [rule.arn] }
    const run = () => {
      if (rules.get(nameOf(rule))?.enabled)
        deliverAll(rule, sealEvent({ ...tick, at: Date.now() }, model).text, options)
    }
    starters.push(() => setInterval(run, milliseconds).unref())
  }
  for (const rule of own.list()) open(rule)
  const deliverMatching = (busName: string, text: string, whole: unknown, ruleArns?: readonly string[]) => {
    for (const { rule, enabled, matches } of rules.values())
      if (rule.busName === busName && enabled && matches(whole)) {
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
      outcomes.keep(whole)
      deliverMatching(busName, sealed.text, whole)
      return sealed.head.id
    },
    /** Sends an archived event again to the matching rules of a bus, or only to those in `ruleArns`. */
    replay: (busName: string, archived: string, replayName: string, ruleArns?: readonly string[]) => {
      const text = `${archived.slice(0, -1)},"replay-name":${JSON.stringify(replayName)}}`
      deliverMatching(busName, text, JSON.parse(text), ruleArns)
    },
    /** Finds a rule, as it was defined, by its bus and its name. */
    find: (busName: string, name: string): RuleModel | undefined =>
      rules.get(nameOf({ busName, name }))?.rule,
    /** Whether the rule belongs to the stack, not to a program. */
    isOfStack: (rule: RuleModel) => model.rules.includes(rule),
    isEnabled: (rule: RuleModel) => rules.get(nameOf(rule))?.enabled ?? false,
    setEnabled(rule: RuleModel, enabled: boolean): void {
      const found = rules.get(nameOf(rule))
      if (found !== undefined) found.enabled = enabled
    },
    /** Makes a rule, or replaces one that a program has made. Throws on a pattern that is not emulated. */
    put(rule: RuleModel): void {
      open(rule)
      own.save(nameOf(rule), rule)
    },
    remove(rule: RuleModel): void {
      rules.delete(nameOf(rule))
      own.remove(nameOf(rule))
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

/** Queues without a policy, of which a line has told what AWS would do. */
const warned = new WeakSet<Queue>()

/** Sends a rule's event to a queue. Returns the problem if the queue is unknown or its policy forbids it. */
function sendToQueue(
  rule: RuleModel,
  queueArn: string,
  body: string,
  { model, queues, report }: DeliveryOptions,
): string | undefined {
  const queue = queues.byArn(queueArn)
  if (queue === undefined) return 'there is no such queue'
  const service = 'events.amazonaws.com'
  const request = { service, action: 'sqs:SendMessage', resource: queueArn, sourceArn: rule.arn }
  if (!allowsService(queue.policy, { ...request, accountId: model.accountId })) {
    const problem = `the queue's policy does not allow ${service} to send for this rule`
    // A program that only tries things out may leave the policy out, and is told what AWS would do.
    if (!queues.isOwn(queue) || queue.policy.length > 0) return problem
    if (!warned.has(queue))
      report(`rule ${rule.name} delivers to ${queueArn}, but on AWS would not: ${problem}`)
    warned.add(queue)
  }
  queue.send({ body, senderId: service })
  return undefined
}
