import type { RuleModel, RuleTarget, StackModel } from '../../model.ts'
import { serviceMay } from '../iam/authorize.ts'
import type { Invoke } from '../lambda/invoke.ts'
import type { Queues } from '../sqs/queues.ts'
import { sealEvent, type Envelope } from './envelope.ts'
import { compilePattern, type EventTest } from './pattern.ts'
import { compileSchedule, type Schedule } from './schedule.ts'

/** Where rules deliver to, besides queues. */
export interface RuleSurroundings {
  queues: Queues
  invoke: Invoke
  /** Told of a delivery that failed for good, in one line for a person. */
  report: (problem: string) => void
}

/** The stack's rules. */
export interface Rules {
  /** Delivers an event to every rule of its bus that it matches; queues have it durably when this returns. */
  route(busName: string, event: unknown, envelope: Envelope): void
  startSchedules(): void
  isEnabled(rule: RuleModel): boolean
  setEnabled(rule: RuleModel, enabled: boolean): void
  close(): void
}

/** Compiles the stack's rules; throws on a pattern or a target that it does not know. */
export function openRules(model: StackModel, surroundings: RuleSurroundings): Rules {
  const enabled = new Set(model.rules.filter((rule) => rule.enabled))
  const starters: (() => Schedule)[] = []
  const matching = new Map<string, { rule: RuleModel; matches: EventTest }[]>()
  const schedules: Schedule[] = []
  const deliverAll = (rule: RuleModel, envelope: Envelope) => {
    if (!enabled.has(rule)) return
    for (const target of rule.targets)
      deliver(model, surroundings, rule, target, target.input ?? envelope.text)
  }
  for (const rule of model.rules) {
    rule.targets.forEach((target) => checkTarget(model, rule, target, surroundings.queues))
    if (rule.schedule !== undefined) {
      const start = compileSchedule(rule.schedule)
      starters.push(() => start(() => deliverAll(rule, sealTick(model, rule))))
    }
    if (rule.pattern === undefined) continue
    const ofBus = matching.get(rule.busName) ?? []
    ofBus.push({ rule, matches: compilePattern(rule.pattern) })
    matching.set(rule.busName, ofBus)
  }
  return {
    route(busName, event, envelope) {
      for (const { rule, matches } of matching.get(busName) ?? [])
        if (matches(event)) deliverAll(rule, envelope)
    },
    isEnabled: (rule) => enabled.has(rule),
    setEnabled(rule, on) {
      if (on) enabled.add(rule)
      else enabled.delete(rule)
    },
    startSchedules: () => void schedules.push(...starters.map((start) => start())),
    close() {
      for (const schedule of schedules.splice(0)) schedule.stop()
    },
  }
}

function sealTick(model: StackModel, rule: RuleModel): Envelope {
  const tick = {
    source: 'aws.events',
    detailType: 'Scheduled Event',
    detail: '{}',
    resources: [rule.arn],
    at: Date.now(),
  }
  return sealEvent(tick, model)
}

function checkTarget(model: StackModel, rule: RuleModel, target: RuleTarget, queues: Queues): void {
  const known =
    queues.byArn(target.arn) !== undefined || model.functions.some(({ arn }) => arn === target.arn)
  if (!known)
    throw new Error(`rule ${rule.name} has a target that is neither a queue nor a function: ${target.arn}`)
}

function deliver(
  model: StackModel,
  surroundings: RuleSurroundings,
  rule: RuleModel,
  target: RuleTarget,
  body: string,
): void {
  const refuse = (reason: string) => {
    surroundings.report(`rule ${rule.name} could not deliver to ${target.arn}: ${reason}`)
    if (target.deadLetterArn === undefined) return
    const problem = sendToQueue(model, surroundings.queues, rule, target.deadLetterArn, body, undefined)
    if (problem !== undefined)
      surroundings.report(`rule ${rule.name} lost an event, its dead-letter queue: ${problem}`)
  }
  const targetFunction = model.functions.find(({ arn }) => arn === target.arn)
  if (targetFunction !== undefined) {
    surroundings
      .invoke(targetFunction.name, Buffer.from(body), 'Event')
      .catch((error: unknown) => refuse(error instanceof Error ? error.message : 'it could not be invoked'))
    return
  }
  const problem = sendToQueue(model, surroundings.queues, rule, target.arn, body, target.messageGroupId)
  if (problem !== undefined) refuse(problem)
}

/** Sends as EventBridge, if the queue's own policy lets this rule; answers what is wrong, or undefined. */
function sendToQueue(
  model: StackModel,
  queues: Queues,
  rule: RuleModel,
  queueArn: string,
  body: string,
  groupId: string | undefined,
): string | undefined {
  const queue = queues.byArn(queueArn)
  if (queue === undefined) return 'there is no such queue'
  const allowed = serviceMay(queue.policy, {
    service: 'events.amazonaws.com',
    action: 'sqs:SendMessage',
    resource: queueArn,
    sourceArn: rule.arn,
    accountId: model.accountId,
  })
  if (!allowed) return "the queue's policy does not allow events.amazonaws.com to send for this rule"
  if (queue.model.fifo && groupId === undefined) return 'a FIFO queue needs a MessageGroupId'
  queue.send({ body, senderId: 'events.amazonaws.com', groupId })
  return undefined
}
