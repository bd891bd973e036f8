import { FunctionProcess } from '../cold-start/function-process.ts'
import type { BenchStack } from '../stack/start-bench-stack.ts'
import { interleave, median, type Options, type Row, round, type Table } from '../table.ts'
import { installPackages, loadPackage } from './frameworks.ts'

/** The parts of better-auth that the comparison uses. */
interface BetterAuth {
  betterAuth: (options: object) => {
    api: Record<'signUpEmail' | 'signInEmail', (request: { body: object }) => Promise<{ token?: unknown }>>
  }
}
interface MemoryAdapter {
  memoryAdapter: (tables: Record<string, unknown[]>) => unknown
}

/** The event on which a function of sign-in digests a random password and verifies it. */
const selfCheck = JSON.stringify({ action: 'self-check' })

/** Measures the processor time of a check of a password, of this service and of better-auth. */
export async function measurePasswords({ samples }: Options, stack: BenchStack): Promise<Table> {
  const { file, environment } = stack.describe('user-login-with-password', stack.awsUrl)
  const fn = new FunctionProcess(file, environment)
  const own = async () => {
    const { payload, cpu } = await fn.run(selfCheck)
    if (!payload.includes('argon2id')) throw new Error(`the self-check answered ${payload}`)
    // One password is digested, and then verified, which is the same work.
    return cpu / 2
  }
  try {
    const peer = await startBetterAuth()
    const runs = [own, ...(peer === undefined ? [] : [peer])]
    for (const run of runs) for (let i = 0; i < 3; i += 1) await run()
    const medians = (await interleave(runs, samples, (run) => run())).map(median)
    const rows: Row[] = ['this service', 'better-auth'].map((name, i) => {
      const cpu = medians[i]
      return cpu === undefined
        ? { password: `${name}: absent` }
        : { password: name, 'CPU ms': round(cpu, 3), '× ours': round(cpu / (medians[0] ?? cpu), 3) }
    })
    const notes = [
      'Ours: argon2id of 19 MiB over a MAC by KMS. better-auth: a sign-in by scrypt, its storage in memory.',
    ]
    return { name: 'passwords', title: 'The check of a password', notes, rows }
  } finally {
    await fn.end()
  }
}

async function startBetterAuth(): Promise<(() => Promise<number>) | undefined> {
  const modules = await installPackages('better-auth')
  if (modules === undefined) return undefined
  const { betterAuth } = await loadPackage<BetterAuth>(modules, 'better-auth')
  const { memoryAdapter } = await loadPackage<MemoryAdapter>(modules, 'better-auth/adapters/memory')
  const { api } = betterAuth({
    baseURL: 'http://127.0.0.1:1',
    secret: 'a secret of the benchmark, of 40 characters',
    emailAndPassword: { enabled: true },
    logger: { disabled: true },
    telemetry: { enabled: false },
    database: memoryAdapter({ user: [], session: [], account: [], verification: [] }),
  })
  const body = { email: 'somebody@example.com', password: 'correct horse battery', name: 'Somebody' }
  await api.signUpEmail({ body })
  return async () => {
    const before = process.cpuUsage()
    const { token } = await api.signInEmail({ body })
    const { user, system } = process.cpuUsage(before)
    if (!token) throw new Error('better-auth refused the password')
    return (user + system) / 1000
  }
}
