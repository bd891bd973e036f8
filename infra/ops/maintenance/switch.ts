import { setTimeout as wait } from 'node:timers/promises'
import type { CommandContext } from '../command.ts'
import { OperationError, UsageError } from '../errors.ts'
import type { Target } from '../target.ts'
import { events } from './events.ts'
import { drainMilliseconds, maxSwitchMilliseconds, probing } from './limits.ts'
import { type Part, type PartName, partNames, type PartState } from './parts.ts'
import { probeRequests, requests } from './requests.ts'
import { schedules } from './schedules.ts'

const parts: Record<PartName, Part> = { requests, events, schedules }

/** The state of each part of the service. */
export type Maintenance = Record<PartName, PartState>

/** Reads which parts of the service an operator has stopped. */
export async function readMaintenance(target: Target): Promise<Maintenance> {
  const states = await Promise.all(partNames.map(async (name) => [name, await parts[name].read(target)]))
  return Object.fromEntries(states) as Maintenance
}

/** Describes the states in one line. */
export const formatMaintenance = (states: Maintenance): string =>
  partNames.map((name) => `${name}: ${states[name]}`).join(', ')

/**
 * Stops parts of the service or lets them run, and waits until that is so: when it resolves after a stop, no
 * call that had begun is still at work.
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
  for (const name of chosen) await parts[name].set(target, stopped)
  terminal.err(`Waiting until AWS shows everywhere that ${chosen.join(', ')} are ${wanted}.`)
  await Promise.all(chosen.map((name) => awaitState(target, name, wanted)))
  if (chosen.includes('requests')) await awaitAnswers(baseUrl, wanted)
  if (stopped) {
    const rest = Math.max(...chosen.map((name) => drainMilliseconds(name)))
    terminal.err(`Waiting ${Math.ceil(rest / 1_000)} s until what had begun before has ended.`)
    await wait(rest)
  }
  const states = await readMaintenance(target)
  show(states, () => formatMaintenance(states))
  return chosen.every((name) => states[name] === wanted)
}

async function awaitState(target: Target, name: PartName, wanted: PartState): Promise<void> {
  await awaitUntil(async () => (await parts[name].read(target)) === wanted, `${name} are not ${wanted}`)
}

/** Waits for as many answers of the API in a row as show that no server of API Gateway answers otherwise. */
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
