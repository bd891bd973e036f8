import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { TestProject } from 'vitest/node'
import { newDirectory } from './new-directory.ts'
import { answered500 } from './quirks.ts'
import { startSharedServer } from './start-shared-server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** URL to which tests report every value that no log line may contain. */
    secrets: string
  }
}

/**
 * Vitest setup that makes one local stack available to all tests of a project. At the end, the run fails if a
 * function logged a secret (see mark-secret.ts) or was denied an AWS call. If AWS's quirks are simulated,
 * such as late messages, the run also fails after a dead letter, a counted fault or an answer with status
 * 500.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const logFile = join(newDirectory(), 'functions.log')
  const secrets = new Set<string>()
  const quirks = project.config.env['STACK_QUIRKS']
  const server = await startSharedServer({
    script: join(import.meta.dirname, 'serve-stack.ts'),
    environment: {
      STACK_LOG_FILE: logFile,
      STACK_QUIRKS: quirks,
      STACK_DEMO: project.config.env['STACK_DEMO'],
    },
    answer({ pathname, searchParams }, response) {
      if (pathname !== '/secret') return false
      secrets.add(searchParams.get('value') ?? '')
      response.end()
      return true
    },
  })
  project.provide('broker', server.url)
  project.provide('secrets', `${server.url}/secret`)

  return async () => {
    const deadLetters = quirks === undefined ? [] : await waitForDeadLetters(await server.described)
    await server.stop()
    const logs = [`${logFile}.previous`, logFile].filter((file) => existsSync(file))
    const lines = logs.flatMap((file) => readFileSync(file, 'utf8').split('\n'))
    const problems = quirks === undefined ? [] : listProblems(quirks, lines, deadLetters)
    const leaked = lines.filter((line) =>
      [...secrets].some((secret) => secret !== '' && line.includes(secret)),
    )
    if (leaked.length > 0) throw new Error(`functions logged secrets:\n${leaked.join('\n')}`)
    // With `--aws late-keys`, the local KMS refuses to use a new signing key at first. That is no defect.
    const isAwaited = (line: string) =>
      quirks !== undefined && line.includes('KMS does not let a new signing key be used yet')
    const denied = lines.filter((line) => line.includes('AccessDenied') && !isAwaited(line))
    if (denied.length > 0) throw new Error(`functions lack grants:\n${denied.join('\n')}`)
    if (problems.length > 0) throw new Error(`with --aws ${quirks} there were\n${problems.join('\n')}`)
  }
}

interface Queues {
  queues: { isDeadLetterQueue: boolean; visible: number; inFlight: number; delayed: number }[]
  dead_letters: { queue: string; reason: string | null; body: string }[]
}

/** Waits until the queues are empty, half a minute at most, and lists the dead letters. */
async function waitForDeadLetters(described: unknown): Promise<Queues['dead_letters']> {
  const { baseUrl } = (described ?? {}) as { baseUrl?: string }
  if (baseUrl === undefined) return []
  for (let attempts = 0; ; attempts += 1) {
    const answer = await fetch(`${baseUrl}/_local/queues`)
    const { queues, dead_letters: deadLetters } = (await answer.json()) as Queues
    const waiting = queues.filter(
      (queue) => !queue.isDeadLetterQueue && queue.visible + queue.inFlight + queue.delayed > 0,
    )
    if (waiting.length === 0 || attempts === 60) return deadLetters
    await wait(500)
  }
}

/** Returns all faults, dead letters and answers of 500, and prints how many of each there are. */
function listProblems(quirks: string, lines: string[], deadLetters: Queues['dead_letters']): string[] {
  const found = {
    'answers of 500': lines.filter((line) => line.endsWith(answered500)),
    faults: lines.filter((line) => line.includes('"Faults":1')),
    'dead letters': deadLetters.map((letter) => JSON.stringify(letter)),
  }
  const counts = Object.entries(found).map(([what, { length }]) => `${length} ${what}`)
  console.log(`--aws ${quirks}: ${counts.join(', ')}`)
  return Object.values(found).flat()
}
