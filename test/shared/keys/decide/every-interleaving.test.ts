import { expect, it } from 'vitest'
import type { RotationRequest } from '../../../../shared/keys/decide.ts'
import { type KeyState, toJwks } from '../../../../shared/keys/set.ts'
import { type KeyTimes, nextDue } from '../../../../shared/keys/times.ts'
import {
  act,
  emptyWorld,
  enabledKeys,
  isOver,
  type ModelRun,
  passTime,
  readAndDecide,
  settle,
  type World,
} from '../../../support/signing-keys-model.ts'

/**
 * Length of a tick, the unit of time of this test. A rotation run waits less than a tick for another run. Two
 * ticks are longer than a Lambda function can run.
 */
const tick = 10 * 60_000
const tickSeconds = tick / 1000
const times: KeyTimes = {
  accessTokenTtlSeconds: tickSeconds,
  signingKeyRotationDays: (2 * tickSeconds) / 86_400,
  signingKeyPublishSeconds: tickSeconds,
  signingKeyRetireMarginSeconds: 0,
}

/**
 * A state of the simulation. At most `starts` further runs can start, and `ticks` further ticks can pass. A
 * run ends at the second tick after its start, as if Lambda stopped it.
 */
interface State {
  world: World
  runs: (ModelRun & { ticks: number })[]
  starts: number
  ticks: number
}

const bounds = { starts: 2, ticks: 1 }

/** The requests that a run can begin with. The second run has fewer, to limit the number of states. */
function requests({ keySet, lag, now }: World, isFirst: boolean): RotationRequest[] {
  if (lag > 0 && !isFirst) return [{ action: 'clock' }]
  const states: KeyState[] = isFirst ? ['active', 'published', 'retiring'] : ['active']
  const kids = states.flatMap((state) => keySet.keys.find((key) => key.state === state)?.kid ?? [])
  return [
    { action: 'clock' },
    { action: 'rotate', emergency: true, at: now },
    ...(isFirst ? [{ action: 'rotate', emergency: false, at: now } as const] : []),
    ...kids.map((kid) => ({ action: 'revoke', kid }) as const),
  ]
}

/** Yields every state that can come next: time passes, or a run starts, reads, acts or crashes. */
function* next(state: State): Generator<State> {
  const { world, runs, starts, ticks } = state
  if (ticks > 0)
    yield {
      ...state,
      ticks: ticks - 1,
      world: passTime(world, tick),
      runs: runs.filter((run) => run.ticks < 1).map((run) => ({ ...run, ticks: run.ticks + 1 })),
    }
  if (starts > 0)
    for (const request of requests(world, starts === bounds.starts))
      yield { ...state, starts: starts - 1, runs: [...runs, { request, knowledge: {}, ticks: 0 }] }
  for (const run of runs) {
    const others = runs.filter((other) => other !== run)
    if (run.pending === undefined) {
      const decided = readAndDecide(world, run)
      yield { ...state, runs: isOver(decided) ? others : [...others, { ...decided, ticks: run.ticks }] }
      continue
    }
    const acted = act(world, run)
    yield { ...state, world: acted.world, runs: [...others, { ...acted.run, ticks: run.ticks }] }
    // A crash after a KMS call and before the write has the same effect as a failed conditional write.
    const outdated = { ...run.pending, keySet: { ...run.pending.keySet, version: -1 } }
    yield { ...state, world: act(world, { ...run, pending: outdated }).world, runs: others }
  }
}

/** A text that identifies a state. States that differ only in names and in the time have the same text. */
function canonical({ world, runs, starts, ticks }: State): string {
  const { now, keySet, lag, kms, tokensUntil, recorded } = world
  const relative = (at: number | null) => (at === null ? null : at - now)
  const text = JSON.stringify([
    keySet.keys.map((key) => [
      ...[key.state, key.kid, key.arn, key.drain_ms],
      ...[key.published_at, key.active_at, key.retiring_at, key.retired_at, key.remove_after].map(relative),
    ]),
    keySet.attempt && { ...keySet.attempt, started_at: keySet.attempt.started_at - now },
    // Once KMS shows a change, the age of the change no longer matters.
    [...kms].flatMap(([arn, { createdAt, disabledAt }]) => {
      if (disabledAt !== null && disabledAt + lag <= now) return []
      return [[arn, recorded.has(arn), Math.max(createdAt - now, -lag), relative(disabledAt)]]
    }),
    [...tokensUntil].filter(([, until]) => until > now).map(([kid, until]) => [kid, until - now]),
    runs
      .map(({ request, knowledge, pending, ticks }) => {
        const at = 'at' in request ? request.at - now : 0
        const fresh = pending?.keySet.version === keySet.version
        return JSON.stringify([{ ...request, at }, knowledge, pending?.step, fresh, ticks])
      })
      .sort(),
    [starts, ticks],
  ])
  const names = new Map<string, string>()
  return text.replaceAll(/(?:arn|attempt)-\d+/g, (name) => {
    if (!names.has(name)) names.set(name, `name-${names.size}`)
    return names.get(name) ?? name
  })
}

function* faults({ now, keySet, tokensUntil }: World): Generator<string> {
  const count = (state: KeyState) => keySet.keys.filter((key) => key.state === state).length
  if (count('active') !== Math.min(1, keySet.sequence)) yield 'not exactly one key is active'
  if (count('published') > 1) yield 'two keys are published'
  const published = toJwks(keySet.keys).keys.map(({ kid }) => kid)
  for (const [kid, until] of tokensUntil)
    if (until > now && !published.includes(kid)) yield `the JWKS lacks ${kid}, which has valid tokens`
}

/** Yields the faults that are left after a scheduled run, or after three runs if KMS shows changes late. */
function* faultsAfterNextRuns(world: World): Generator<string> {
  // Sets a longer signing period for the second and third run, so that they do not begin another rotation.
  const lasting = { ...world.times, signingKeyRotationDays: 1 }
  let settled = settle(passTime(world, tick)).at(-1) ?? world
  for (let runs = 1; world.lag > 0 && runs < 3; runs += 1)
    settled = settle(passTime({ ...settled, times: lasting }, tick)).at(-1) ?? settled
  const { keys, attempt } = settled.keySet
  if (attempt !== null) yield 'an attempt is left'
  if (world.lag === 0 && nextDue(settled.keySet, settled.times) <= settled.now)
    yield 'a step is due that no run takes'
  if (keys.filter(({ state }) => state === 'active').length !== 1) yield 'not exactly one key signs'
  const known = keys.filter(({ state }) => state !== 'retired').map(({ arn }) => arn)
  // If a run dies right after it has created a key, the key stays enabled, but the key set lacks it.
  const enabled = enabledKeys(settled).filter((arn) => settled.recorded.has(arn))
  if (JSON.stringify(enabled.sort()) !== JSON.stringify(known.sort()))
    yield 'other keys are enabled in KMS than the key set holds'
}

/** States of the simulation after 0, 1, 2 and more scheduled runs, one run per tick. */
function worldsByTheClock(lag: number): World[] {
  const worlds = [emptyWorld(times, 0, lag)]
  for (let ticks = 0; ticks < (lag === 0 ? 5 : 7); ticks += 1) {
    const world = worlds.at(-1) ?? expect.unreachable()
    worlds.push(settle(passTime(world, tick)).at(-1) ?? world)
  }
  return worlds
}

it.each([
  ['KMS shows changes at once', 0],
  ['KMS shows changes late', tick / 2],
])(
  'one key signs and the JWKS is complete, however two rotation runs interleave or crash: %s',
  { timeout: 120_000 },
  (_when, lag) => {
    const queue = worldsByTheClock(lag).map((world): State => ({ world, runs: [], ...bounds }))
    const seen = new Set<string>()
    const worlds = new Set<string>()
    const visited = new WeakSet<World>()
    const found = new Set<string>()
    for (let state = queue.pop(); state !== undefined; state = queue.pop()) {
      const text = canonical(state)
      if (seen.has(text)) continue
      seen.add(text)
      const { world } = state
      const isNew = !visited.has(world)
      visited.add(world)
      const worldText = isNew ? canonical({ world, runs: [], starts: 0, ticks: 0 }) : ''
      if (isNew && !worlds.has(worldText)) {
        worlds.add(worldText)
        for (const fault of [...faults(world), ...faultsAfterNextRuns(world)])
          if (found.size < 10) found.add(`${fault}: ${JSON.stringify(world)}`)
      }
      queue.push(...next(state))
    }
    expect([...found]).toEqual([])
    expect(worlds.size).toBeGreaterThan(lag === 0 ? 1_000 : 300)
  },
)
