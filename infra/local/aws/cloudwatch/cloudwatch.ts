import type { AlarmModel, CompositeAlarmModel, StackModel } from '../../model.ts'
import { compileAlarm, type IsRaised, readRule, windowMinutes } from './alarm-states.ts'
import { openClock } from './clock.ts'
import { Metrics, minuteMilliseconds } from './metrics.ts'

/** An alarm with its state. */
export interface AlarmView {
  alarm: AlarmModel | CompositeAlarmModel
  raised: boolean
  /** Since when it has this state, epoch milliseconds. */
  since: number
}

/** An alarm that told its topic. */
export interface Notification {
  alarm: string
  at: number
}

/** Measures something once a minute, for the minute that ends at `at` of the clock. */
export type Sampler = (at: number) => void

/** How often the time is looked at; CloudWatch evaluates alarms once a minute. */
const tickMilliseconds = 5_000

/** Metrics and alarms of the local stack. */
export type CloudWatch = ReturnType<typeof openCloudWatch>

/** Opens metrics without values, and the templates' alarms. Throws for an alarm that is not emulated. */
export function openCloudWatch({ alarms, compositeAlarms }: Pick<StackModel, 'alarms' | 'compositeAlarms'>) {
  const clock = openClock()
  const metrics = new Metrics(clock)
  const samplers: Sampler[] = []
  let keptMinutes = 1
  const views = new Map<string, AlarmView>()
  const isRaised = (arn: string) => views.get(arn)?.raised ?? false
  const set = (arn: string, raised: boolean, at: number) => {
    const view = views.get(arn)
    if (view !== undefined && view.raised !== raised) Object.assign(view, { raised, since: at })
  }
  const actions = new Map<string, TakesActions>()
  const add = (alarm: AlarmView['alarm']) => {
    const { raised, since } = views.get(alarm.arn) ?? { raised: false, since: clock.read() }
    views.set(alarm.arn, { alarm, raised, since })
    if (!actions.has(alarm.arn)) actions.set(alarm.arn, openActions(alarm))
  }
  const tests = new Map<string, IsRaised>()
  /** Creates or changes an alarm; the state of one that exists stays until it is evaluated. */
  const put = (alarm: AlarmModel) => {
    add(alarm)
    tests.set(alarm.arn, compileAlarm(alarm, metrics))
    keptMinutes = Math.max(keptMinutes, windowMinutes(alarm))
  }
  alarms.forEach(put)
  compositeAlarms.forEach(add)
  const composites = inOrder(compositeAlarms).map((alarm) => ({ arn: alarm.arn, members: readRule(alarm) }))
  const notifications: Notification[] = []

  const evaluate = (at: number) => {
    for (const sample of samplers) sample(at)
    const minute = at / minuteMilliseconds
    for (const [arn, test] of tests) set(arn, test(minute), at)
    for (const { arn, members } of composites) set(arn, members.some(isRaised), at)
    for (const [arn, takesActions] of actions)
      if (takesActions(isRaised, at)) notifications.push({ alarm: views.get(arn)?.alarm.name ?? '', at })
    metrics.forget(minute - keptMinutes)
  }
  const lastMinute = () => Math.floor(clock.read() / minuteMilliseconds) * minuteMilliseconds
  let evaluated = lastMinute()
  /** Evaluates every minute that has ended, but none that no alarm looks back to. */
  const catchUp = () => {
    const end = lastMinute()
    const start = Math.max(evaluated, end - keptMinutes * minuteMilliseconds)
    for (let at = start + minuteMilliseconds; at <= end; at += minuteMilliseconds) evaluate(at)
    evaluated = end
  }
  let timer: NodeJS.Timeout | undefined
  return {
    clock,
    metrics,
    record: metrics.record,
    /** Every alarm with its state, those of metrics first. */
    alarms: () => [...views.values()],
    /** What the alarms have told their topics, oldest first. */
    notifications,
    put,
    addSampler: (sampler: Sampler) => void samplers.push(sampler),
    /** Lets so many minutes end at once, one by one: all that was recorded until now counts. */
    advance(minutes: number): void {
      clock.advance(minutes * minuteMilliseconds - (clock.read() % minuteMilliseconds))
      catchUp()
    },
    start: () => void (timer = setInterval(catchUp, tickMilliseconds).unref()),
    close: () => clearInterval(timer),
  }
}

/** Sorts composite alarms so that each comes after those that its rule names. */
function inOrder(alarms: readonly CompositeAlarmModel[]): CompositeAlarmModel[] {
  const sorted = new Set<CompositeAlarmModel>()
  const add = (alarm: CompositeAlarmModel) => {
    for (const arn of readRule(alarm)) {
      const member = alarms.find((one) => one.arn === arn)
      if (member !== undefined && !sorted.has(member)) add(member)
    }
    sorted.add(alarm)
  }
  alarms.forEach(add)
  return [...sorted]
}

/** Tells at each minute whether an alarm takes its actions now, by the alarms that are raised. */
type TakesActions = (isRaised: (arn: string) => boolean, at: number) => boolean

/**
 * An alarm takes its actions when it is raised; a composite alarm with a suppressor after the wait period
 * without one that is raised, and the extension period after one that was (CloudWatch User Guide: suppressing
 * composite alarm actions).
 */
function openActions(alarm: AlarmModel | CompositeAlarmModel): TakesActions {
  const { arn, notifies } = alarm
  const { suppressor } = 'rule' in alarm ? alarm : { suppressor: undefined }
  let dueAt: number | undefined
  let taken = false
  return (isRaised, at) => {
    const suppressed = suppressor !== undefined && isRaised(suppressor.arn)
    if (!isRaised(arn)) {
      dueAt = undefined
      taken = false
      return false
    }
    dueAt ??= at + (suppressor?.waitSeconds ?? 0) * 1_000
    if (suppressed) dueAt = Math.max(dueAt, at + suppressor.extensionSeconds * 1_000)
    if (taken || !notifies || suppressed || at < dueAt) return false
    return (taken = true)
  }
}
