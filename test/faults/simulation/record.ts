import { type Details, type EventType, keyOf } from './events.ts'
import type { SentEvent, Span } from './world.ts'

/** An event that took effect, and the time span within which this must have happened. */
export interface Accepted<Type extends EventType> {
  type: Type
  detail: Details[Type]
  span: Span
}

/** A request that changed something, and its answer. */
export interface DoneRequest<Request, Answer> {
  request: Request
  answer: Answer
  span: Span
}

/** What was sent to the service, and what came of it. The expected answers follow from this alone. */
export interface SimulationRecord {
  events: readonly SentEvent[]
  /** How long an event waits for what it needs, in milliseconds: a minute, if no clock is ahead. */
  patience: number
  notes: readonly DoneRequest<{ userId: number; target: number; note: string }, { status: number }>[]
  addresses: readonly DoneRequest<
    { userId: number; currency: string; network: string },
    { status: number; address: string | undefined }
  >[]
}

/** Whether one time span ended before another began. */
export const isBefore = (one: Span, other: Span): boolean => one.to.step < other.from.step

/** Whether an event waited so long that it surely met what ended within `effect`, if it needed that. */
export const meets = (event: Span, effect: Span, { patience }: SimulationRecord): boolean =>
  isBefore(effect, event) || effect.to.at < event.from.at + patience

const first = (spans: readonly Span[], end: 'from' | 'to') =>
  spans.map((span) => span[end]).reduce((one, other) => (one.step < other.step ? one : other))

/** The shortest time span that contains two others. */
export const unite = (one: Span, other: Span): Span => ({
  from: one.from.step < other.from.step ? one.from : other.from,
  to: one.to.step > other.to.step ? one.to : other.to,
})

/** Selects the items that may be the last. An item is not the last if it ended before another one began. */
export const mayBeLast = <T extends { span: Span }>(all: readonly T[]): T[] =>
  all.filter(({ span }) => !all.some((other) => isBefore(span, other.span)))

/** Selects the items that may be the first. An item is not the first if it began after another one ended. */
export const mayBeFirst = <T extends { span: Span }>(all: readonly T[]): T[] =>
  all.filter(({ span }) => !all.some((other) => isBefore(other.span, span)))

/** A value, the time `at` that its sender stated, and the time span in which the service received it. */
export interface Setting<T> {
  at: number
  value: T
  span: Span
}

/** Maximum age, in milliseconds, of an eventually consistent read: AWS's one second, plus a margin. */
const staleMilliseconds = 1_500

/** Values that may have been in effect during a time span. A later `at` wins over an earlier one. */
export function possibleValues<T>(settings: readonly Setting<T>[], during: Span): T[] {
  const isSurelyThere = ({ span }: Setting<T>) => span.to.at + staleMilliseconds < during.from.at
  const lowest = Math.max(-2, ...settings.filter(isSurelyThere).map(({ at }) => at))
  const standing = settings.filter(({ at, span }) => at >= lowest && span.from.step <= during.to.step)
  return [...new Set(standing.map(({ value }) => value))]
}

/** The content of an event as text that does not depend on the order of its members. */
export const contentOf = (value: unknown): string =>
  JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )

/** The events that took effect. Events with the same business key are copies, and count as one event. */
export function acceptedOf<Type extends EventType>(
  { events }: SimulationRecord,
  ...types: Type[]
): Accepted<Type>[] {
  const byKey = new Map<string, Accepted<Type>>()
  for (const { type, detail, refusal, span } of events) {
    if (span === undefined || refusal !== undefined || !types.includes(type as Type)) continue
    const accepted = { type: type as Type, detail: detail as Details[Type], span }
    const key = `${type} ${keyOf[accepted.type](accepted.detail)}`
    const earlier = byKey.get(key)
    // Copies of an event count as one event. It takes effect when the first copy is done.
    const both = [span, ...(earlier === undefined ? [] : [earlier.span])]
    byKey.set(key, { ...accepted, span: { from: first(both, 'from'), to: first(both, 'to') } })
  }
  return [...byKey.values()]
}
