import { type Details, type EventType, keyOf } from './events.ts'
import type { SentEvent, Span } from './world.ts'

/** An event that took effect, and from when to when it may have done so. */
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

/** What was sent to the service until a quiet point, and what became of it. The model knows nothing else. */
export interface SimulationRecord {
  events: readonly SentEvent[]
  notes: readonly DoneRequest<{ userId: number; target: number; note: string }, { status: number }>[]
  addresses: readonly DoneRequest<
    { userId: number; currency: string; network: string },
    { status: number; address: string | undefined }
  >[]
}

/** Whether one thing was over before another began. */
export const isBefore = (one: Span, other: Span): boolean => one.to.step < other.from.step

const first = (spans: readonly Span[], end: 'from' | 'to') =>
  spans.map((span) => span[end]).reduce((one, other) => (one.step < other.step ? one : other))

/** The time from the beginning of the first to the end of the last. */
export const unite = (one: Span, other: Span): Span => ({
  from: one.from.step < other.from.step ? one.from : other.from,
  to: one.to.step > other.to.step ? one.to : other.to,
})

/** Of things that happened, those that may have been the last one. */
export const mayBeLast = <T extends { span: Span }>(all: readonly T[]): T[] =>
  all.filter(({ span }) => !all.some((other) => isBefore(span, other.span)))

/** Of things that happened, those that may have been the first one. */
export const mayBeFirst = <T extends { span: Span }>(all: readonly T[]): T[] =>
  all.filter(({ span }) => !all.some((other) => isBefore(other.span, span)))

/** A value that was given at an instant of the sender's, and when it may have come. */
export interface Setting<T> {
  at: number
  value: T
  span: Span
}

/** How old an eventually consistent read may be, in milliseconds: more than the second that AWS speaks of. */
const staleMilliseconds = 1_500

/** The values that may have stood during a span, where of two settings the later `at` stands. */
export function possibleValues<T>(settings: readonly Setting<T>[], during: Span): T[] {
  const isSurelyThere = ({ span }: Setting<T>) => span.to.at + staleMilliseconds < during.from.at
  const lowest = Math.max(-2, ...settings.filter(isSurelyThere).map(({ at }) => at))
  const standing = settings.filter(({ at, span }) => at >= lowest && span.from.step <= during.to.step)
  return [...new Set(standing.map(({ value }) => value))]
}

/** The content of an event, whatever the order of its members. */
export const contentOf = (value: unknown): string =>
  JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )

/**
 * The events that took effect, each once: of those with the same business key and content, the first counts.
 */
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
    // When the first of them was acknowledged, the event had taken effect; any may have been the one.
    const both = [span, ...(earlier === undefined ? [] : [earlier.span])]
    byKey.set(key, { ...accepted, span: { from: first(both, 'from'), to: first(both, 'to') } })
  }
  return [...byKey.values()]
}
