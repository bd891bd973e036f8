import { get as getOverHttp } from 'node:http'
import { get as getOverTls } from 'node:https'
import { setTimeout as wait } from 'node:timers/promises'
import type { CommandContext } from '../command.ts'
import { OperationError, UsageError } from '../errors.ts'
import { waitVisibly } from '../progress.ts'
import type { Target } from '../target.ts'
import { drainMilliseconds, maxSwitchMilliseconds, probing } from './limits.ts'
import { type PartName, partNames, parts, type PartState } from './parts.ts'

/** The state of each part of the service. */
export type Maintenance = Record<PartName, PartState>

/** Reads which parts of the service an operator has stopped. */
export async function readMaintenance(target: Target): Promise<Maintenance> {
  const states = await Promise.all(partNames.map(async (name) => [name, await readState(target, name)]))
  return Object.fromEntries(states) as Maintenance
}

async function readState(target: Target, name: PartName): Promise<PartState> {
  const [first = 'changing', ...others] = new Set((await parts[name](target)).map(({ state }) => state))
  return others.length === 0 ? first : 'changing'
}

/** Describes the states of all parts of the service in one line. */
export const formatMaintenance = (states: Maintenance): string =>
  partNames.map((name) => `${name}: ${states[name]}`).join(', ')

/**
 * Stops or starts parts of the service, and waits until the change is in effect everywhere. After a stop,
 * also waits until every call that had begun has ended.
 */
export async function switchMaintenance(
  { target, terminal, show }: CommandContext,
  stopped: boolean,
  chosen: readonly PartName[],
): Promise<boolean> {
  const { baseUrl } = target
  if (baseUrl === undefined)
    throw new UsageError('the address of the API is not known: name it with --base-url')
  const wanted = stopped ? 'stopped' : 'running'
  for (const name of chosen) for (const one of await parts[name](target)) await one.set(stopped)
  terminal.err(`Waiting until AWS shows everywhere that ${chosen.join(', ')} are ${wanted}.`)
  for (const name of chosen)
    await awaitUntil(async () => (await readState(target, name)) === wanted, `${name} are not ${wanted}`)
  if (chosen.includes('requests')) await awaitAnswers(baseUrl, wanted)
  if (stopped) {
    const rest = Math.max(...chosen.map((name) => drainMilliseconds(name)))
    terminal.err(`Waiting ${Math.ceil(rest / 1_000)} s until what had begun before has ended.`)
    await waitVisibly(terminal, 'waiting', rest)
  }
  const states = await readMaintenance(target)
  return show(states, { ok: chosen.every((name) => states[name] === wanted) })
}

/** Waits until several answers in a row show the change, because some servers of API Gateway may lag. */
async function awaitAnswers(baseUrl: string, wanted: PartState): Promise<void> {
  let inARow = 0
  await awaitUntil(async () => {
    inARow = (await probeRequests(baseUrl)) === wanted ? inARow + 1 : 0
    return inARow === probing.answers
  }, `some requests are still answered as if they were not ${wanted}`)
}

async function awaitUntil(isSo: () => Promise<boolean>, problem: string): Promise<void> {
  const giveUpAt = Date.now() + maxSwitchMilliseconds
  while (!(await isSo())) {
    if (Date.now() > giveUpAt)
      throw new OperationError(`${problem} after five minutes: run the command again`)
    await wait(probing.pauseMilliseconds)
  }
}

/**
 * Finds out whether the API is stopped, by requesting a path that does not exist. Opens a new connection each
 * time, so that different servers of API Gateway answer.
 */
const probeRequests = (baseUrl: string): Promise<PartState> =>
  new Promise((resolve, reject) => {
    const get = baseUrl.startsWith('https:') ? getOverTls : getOverHttp
    const request = get(`${baseUrl}/`, { agent: false, timeout: 10_000 }, (response) => {
      response.resume()
      // API Gateway's own 503 has no Retry-After, unlike the service's 503.
      const stopped = response.statusCode === 503 && response.headers['retry-after'] !== undefined
      resolve(stopped ? 'stopped' : response.statusCode === 404 ? 'running' : 'changing')
    })
    request.on('timeout', () => request.destroy(new Error('no answer within 10 s')))
    request.on('error', (cause) => reject(new OperationError(`${baseUrl} does not answer`, { cause })))
  })
