import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Options } from '../part.ts'
import { interleave, median } from '../report/statistics.ts'
import { round, type Row, type Table } from '../report/table.ts'
import { FunctionProcess } from '../stack/function-process.ts'
import { recordEvent } from '../stack/record-event.ts'
import type { BenchStack } from '../stack/start-bench-stack.ts'
import { writeAnswers } from '../stack/write-answers.ts'
import { installPackages } from './install-packages.ts'
import { loadPackage } from './load-package.ts'

/** What is measured: its storage calls, and one run with its processor time in milliseconds. */
interface SignIn {
  name: string
  storageCalls: () => number
  run: () => Promise<number>
}

/** The parts of better-auth that the comparison uses. */
interface BetterAuth {
  betterAuth: (options: object) => {
    api: Record<
      'signUpEmail' | 'signInEmail',
      (request: { body: object }) => Promise<{ token?: string | null }>
    >
  }
}
type Adapter = Record<string, unknown>
interface MemoryAdapter {
  memoryAdapter: (tables: Record<string, unknown[]>) => (options: unknown) => Adapter
}

/** The event on which a function of sign-in digests a random password and verifies it. */
const selfCheck = JSON.stringify({ action: 'self-check' })
const title = 'POST /user/login-with-password, authenticator'

/** Measures the check of a password, of this service and of better-auth. */
export async function measurePasswordSignIn({ samples, say }: Options, stack: BenchStack): Promise<Table> {
  const directory = mkdtempSync(join(tmpdir(), 'bench-password-'))
  const own = await startOwn(stack, directory)
  try {
    const modules = await installPackages(['better-auth'], say)
    const signIns = [
      own.signIn,
      own.check,
      ...(modules === undefined ? [] : [await startBetterAuth(modules)]),
    ]
    for (const { run } of signIns) for (let i = 0; i < 3; i += 1) await run()
    const measured = await interleave(signIns, samples, ({ run }) => run())
    const first = median(measured[0] ?? [])
    const rows: Row[] = signIns.map(({ name, storageCalls }, i) => ({
      'password check': name,
      'storage calls': storageCalls(),
      'CPU ms': round(median(measured[i] ?? []), 3),
      '× ours': round(median(measured[i] ?? []) / first, 3),
    }))
    if (modules === undefined) rows.push({ 'password check': 'better-auth: absent' })
    return {
      name: 'password-sign-in',
      title: 'The check of a password',
      notes: [
        `Medians of ${samples}, interleaved, without the network. Ours: argon2id of 19 MiB over a MAC by KMS, and in a`,
        'sign-in five counted guesses, then a second factor. better-auth: scrypt and a session, its storage in memory.',
      ],
      rows,
    }
  } finally {
    await own.end()
    rmSync(directory, { recursive: true })
  }
}

async function startOwn(stack: BenchStack, directory: string) {
  const { operations } = await import('../operations/operations.ts')
  const operation = operations.find((one) => one.title === title)
  if (operation === undefined) throw new Error(`there is no operation ${title}`)
  const recorded = await recordEvent(stack, operation.of, operation.scenario, operation.call)
  const answers = writeAnswers(recorded.answers, directory)
  const process = new FunctionProcess({ ...stack.describe(recorded.model), answers })
  const signIn: SignIn = {
    name: 'this service',
    storageCalls: () => recorded.answers.filter(({ target }) => target.startsWith('DynamoDB')).length,
    async run() {
      const { payload, cpu } = await process.run(recorded.event)
      if (!payload.includes('"statusCode":200')) throw new Error(`the sign-in answered ${payload}`)
      return cpu
    },
  }
  const check: SignIn = {
    name: 'this service, the password alone',
    storageCalls: () => 0,
    async run() {
      const { payload, cpu } = await process.run(selfCheck)
      if (!payload.includes('argon2id')) throw new Error(`the self-check answered ${payload}`)
      // One password is digested, and then verified, which is the same work.
      return cpu / 2
    },
  }
  return { signIn, check, end: () => process.end() }
}

async function startBetterAuth(modules: string): Promise<SignIn> {
  const { betterAuth } = await loadPackage<BetterAuth>(modules, 'better-auth')
  const { memoryAdapter } = await loadPackage<MemoryAdapter>(modules, 'better-auth/adapters/memory')
  const tables = { user: [], session: [], account: [], verification: [] }
  let calls = 0
  const { api } = betterAuth({
    baseURL: 'http://127.0.0.1:1',
    secret: 'a secret of the benchmark, of 40 characters',
    emailAndPassword: { enabled: true },
    logger: { disabled: true },
    telemetry: { enabled: false },
    database: (options: unknown) => countCalls(memoryAdapter(tables)(options), () => (calls += 1)),
  })
  const body = { email: 'somebody@example.com', password: 'correct horse battery', name: 'Somebody' }
  await api.signUpEmail({ body })
  let callsOfOne = 0
  return {
    name: 'better-auth',
    storageCalls: () => callsOfOne,
    async run() {
      calls = 0
      const before = process.cpuUsage()
      const { token } = await api.signInEmail({ body })
      const { user, system } = process.cpuUsage(before)
      if (!token) throw new Error('better-auth refused the password')
      callsOfOne = calls
      return (user + system) / 1000
    },
  }
}

/** Counts the calls of the functions of an adapter. */
const countCalls = (adapter: Adapter, count: () => void): Adapter =>
  Object.fromEntries(
    Object.entries(adapter).map(([name, value]) => [
      name,
      typeof value === 'function'
        ? (...args: unknown[]): unknown => {
            count()
            return (value as (...all: unknown[]) => unknown)(...args)
          }
        : value,
    ]),
  )
