import { requireEnv } from '../../../shared/env.ts'
import { listWrongDecisions } from './check-refusals.ts'
import { differ, type Get } from './check-context.ts'
import { checkReads } from './check-reads.ts'
import { checkSignIns } from './check-sign-ins.ts'
import { type Draws, openDraws } from './draws.ts'
import { beginDatabase, endDatabase } from '../../support/dynamodb-in-memory/play-database.ts'
import type { History, Operation } from './history.ts'
import { disableActiveKey, forgetKeySets, issueTokens } from './read-tokens.ts'
import { acceptedOf, type SimulationRecord } from './record.ts'
import { newSignInRecord, signIn, type SignInRecord } from './sign-in.ts'
import { useOwnTable } from '../../support/own-table.ts'
import { currentTask, VirtualTime } from './virtual-time.ts'
import { World, type WorldAnswer } from './world.ts'

/** The outcome of a simulation. */
export interface Outcome {
  /** Everything that went wrong; empty if all is well. */
  problems: string[]
  events: number
  refused: number
  /** Number of clock steps. Every run of a seed has the same number of steps. */
  steps: number
  /** Digest of all AWS calls. All runs with the same seed have the same digest. */
  trace: string
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer E)[] ? E[] : T[K] }

/**
 * Runs a history against a new table, in memory or in DynamoDB Local. The operation `quiet` waits until no
 * work is left, and then compares the service's answers with the expected ones.
 */
export async function runHistory(history: History, { dynamodbLocal = false } = {}): Promise<Outcome> {
  const { seed, begin, weather, userIds, operations } = history
  const time = new VirtualTime(begin)
  const draws = openDraws(seed)
  if (dynamodbLocal) endDatabase()
  else beginDatabase(() => time.now, drawStaleness(draws, weather))
  const removeTable = await useOwnTable()
  const world = new World(time, draws, weather)
  try {
    const run: Run = {
      world,
      record: { events: world.events, patience: weather.clockOff > 0 ? 0 : 60_000, notes: [], addresses: [] },
      signIns: newSignInRecord(),
      tokens: new Map(),
    }
    process.env['SIGNING_KEY_TAG'] = requireEnv('TABLE_NAME')
    await forgetKeySets()
    run.tokens = await issueTokens(userIds, begin)
    const problems = await runOperations(run, operations, draws).catch((error: unknown) => [
      `${String(error)}: ${world.underWay}`,
    ])
    return {
      problems: [...new Set(problems)],
      events: world.events.length,
      refused: world.events.filter(({ refusal }) => refusal !== undefined).length,
      steps: time.step,
      trace: world.trace,
    }
  } finally {
    world.close()
    await removeTable()
  }
}

/** Lets some reads return items in a state that is up to a second old. */
const drawStaleness =
  (draws: Draws, { staleReads }: History['weather']) =>
  (operation: string) => {
    const task = currentTask.getStore()
    const stream = `${task?.name ?? ''} ${operation} stale`
    if (task === undefined || !draws.happens(stream, staleReads)) return undefined
    // The key of an item has no effect here: tokens have random keys, and two runs with one seed must agree.
    return () => draws.number(stream) * 1_000
  }

interface Run {
  world: World
  record: Mutable<SimulationRecord>
  signIns: SignInRecord
  tokens: Map<number, string>
}

async function runOperations(run: Run, operations: readonly Operation[], draws: Draws): Promise<string[]> {
  const { world } = run
  let [delay, running] = [0, 0]
  for (const operation of operations) {
    delay += operation.after
    if (operation.kind !== 'quiet') {
      running += 1
      const begin = async () => {
        await perform(run, operation).catch((error: unknown) => world.violations.push(String(error)))
        running -= 1
      }
      world.time.after(delay, () => void begin())
      continue
    }
    const isQuiet = () => running === 0 && world.isQuiet
    await world.time.runUntil(isQuiet)
    redrive(run)
    await world.time.runUntil(isQuiet)
    // Waits until eventually consistent reads show all writes: at most a second (DynamoDB: read consistency).
    const caughtUp = world.time.now + 1_500
    world.time.after(1_500, () => undefined)
    await world.time.runUntil(() => world.time.now >= caughtUp)
    delay = 0
    if (operation.userIds.length === 0) continue
    const problems = [
      ...world.violations,
      ...listWrongDecisions(run.record),
      ...(await check(run, operation.userIds, draws)),
    ]
    if (problems.length > 0) return problems
  }
  return []
}

/** Redrives events that were refused because the service did not know their user, referrer or address. */
function redrive({ world, record }: Run): void {
  for (const { id, type, source, detail, refusal = '' } of [...record.events]) {
    const isFirst = record.events.filter((event) => event.id === id).length === 1
    if (refusal.startsWith('unknown_') && isFirst) world.put(type, detail, { id, source })
  }
}

async function perform(run: Run, operation: Operation): Promise<void> {
  const { world, record, tokens } = run
  const from = world.instant
  const span = () => ({ from, to: world.instant })
  switch (operation.kind) {
    case 'event':
      return world.put(operation.type, operation.detail)
    case 'deposit': {
      const { userId, detail } = operation
      const { currency_network: network } = detail
      const known = record.addresses.find(
        ({ request }) => request.userId === userId && request.network === network,
      )
      return world.put('deposit.updated', { ...detail, address: known?.answer.address ?? 'nobody' })
    }
    case 'address': {
      const { userId, currency, network } = operation
      const { status, data } = await requestAddress(run, userId, currency, network)
      const { address } = (data ?? {}) as { address?: string }
      if (status === 200)
        record.addresses.push({
          request: { userId, currency, network },
          answer: { status, address },
          span: span(),
        })
      return
    }
    case 'note': {
      const { userId, target, note } = operation
      const body = { target_user_id: target, note }
      const headers = bearer(tokens, userId)
      const { status } = await world.request('note', 'functions/community/note.ts', { body, headers })
      record.notes.push({ request: { userId, target, note }, answer: { status }, span: span() })
      return
    }
    case 'read': {
      const { status } = await read(run, operation.userId)(operation.what)
      // Accepts 401: a token stops working if its user gets a new password or TOTP secret, or is disabled.
      if (status !== 200 && status !== 401) world.violations.push(`${operation.what} answered ${status}`)
      return
    }
    case 'signIn':
      return signIn(world, run.signIns, operation)
    case 'rotate':
      return rotateKeys(run, operation.input)
    case 'throttle':
      return world.throttle(operation.share, operation.milliseconds)
    case 'disableKey':
      await world.time.perform(disableActiveKey)
      await world.time.pass(20_000)
      return rotateKeys(run, { action: 'rotate', emergency: true })
    case 'mailDown':
      world.mailsFrom = world.time.now + operation.milliseconds
      return
    case 'quiet':
  }
}

const maxRotationRuns = 30

/** Runs the rotation, and then again every minute as its schedule does, until the rotation is complete. */
async function rotateKeys(run: Run, input: object): Promise<void> {
  const { world } = run
  let result = await world.rotateKeys(input)
  for (let runs = 0; result === undefined || result.waits_for_kms || result.signer === null; runs += 1) {
    if (runs === maxRotationRuns) return void world.violations.push('the rotation of the keys does not end')
    // A failed run is repeated after 5 s. A successful run is followed by the next one a minute later.
    await world.time.pass(result === undefined ? 5_000 : 60_000)
    result = await world.rotateKeys(result === undefined ? input : {})
  }
}

const bearer = (tokens: Map<number, string>, userId: number) => ({
  authorization: `Bearer ${tokens.get(userId) ?? ''}`,
})

const requestAddress = ({ world, tokens }: Run, userId: number, currency: string, network: string) =>
  world.request('address', 'functions/address/info.ts', {
    headers: bearer(tokens, userId),
    query: `currency=${currency}&currencyNetWork=${network}`,
  })

/** Returns a function that sends a GET request as a user. */
const read =
  ({ world, tokens }: Run, userId: number) =>
  (path: string, query = 'current=1&size=20', parameters?: Record<string, string>): Promise<WorldAnswer> =>
    world.request(path, `functions/${path}.ts`, {
      headers: bearer(tokens, userId),
      query,
      ...(parameters && { path: parameters }),
    })

/** Checks all addresses and sign-ins so far, and what the given users can read. Lists the problems. */
async function check(run: Run, userIds: readonly number[], draws: Draws): Promise<string[]> {
  const { world, record } = run
  const known = new Set(acceptedOf(record, 'user.registered').map(({ detail }) => detail.user_id))
  const registered = userIds.filter((userId) => known.has(userId))
  // Renews the tokens, because tokens end when their user gets a new password or TOTP secret.
  run.tokens = await issueTokens([...run.tokens.keys()], world.time.now)
  let done = false
  const checks = [
    checkAddresses(run),
    checkSignIns(record, run.signIns, {
      now: world.time.now,
      jwks: () => world.request('jwks', 'functions/well-known/jwks.ts', {}),
      use: (token) =>
        world.request('use', 'functions/account/info.ts', { headers: { authorization: `Bearer ${token}` } }),
    }),
    ...registered.map((userId) => {
      const get: Get = async (path, query = '', parameters) => {
        const { status, data } = await read(run, userId)(path, query, parameters)
        if (status !== 200) throw new Error(`${path}?${query} answered ${status}`)
        return data
      }
      return checkReads({ record, userId, get, draws, now: world.time.now })
    }),
  ].map((one) => one.catch((error: unknown) => [String(error)]))
  const all = Promise.all(checks).finally(() => (done = true))
  await world.time.runUntil(() => done)
  return (await all).flat()
}

/** Checks that a user's address never changes, and that no two users share an address. */
async function checkAddresses(run: Run): Promise<string[]> {
  const { addresses } = run.record
  const owners = Map.groupBy(addresses, ({ request, answer }) => `${request.network} ${answer.address ?? ''}`)
  const shared = [...owners]
    .filter(([, of]) => new Set(of.map(({ request }) => request.userId)).size > 1)
    .map(([name]) => `${name} is the address of two users`)
  const again = addresses.map(async ({ request: { userId, currency, network }, answer: { address } }) => {
    const { data } = await requestAddress(run, userId, currency, network)
    return differ(`the address of ${userId}`, (data as { address?: string } | null)?.address, address)
  })
  return [...shared, ...(await Promise.all(again)).flat()]
}
