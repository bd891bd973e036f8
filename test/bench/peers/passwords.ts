import { createUser, newSourceIp } from '../../support/sign-in.ts'
import { toEvent } from '../../support/call-endpoint.ts'
import { FunctionProcess } from '../cold-start/function-process.ts'
import type { BenchStack } from '../stack/start-bench-stack.ts'
import { interleave, median, type Options, type Row, round, type Table } from '../table.ts'
import { installPackage, placeProgram } from './install-package.ts'

/** Runs that let Node.js compile the code before it is measured. */
const warmUps = 10

/** Measures a sign-in by email address and password, of this service and of better-auth. */
export async function measurePasswords({ samples }: Options, stack: BenchStack): Promise<Table> {
  const { file, environment } = stack.describe('user-login-with-password', stack.awsUrl)
  const own = new FunctionProcess(file, environment)
  const { directory, absent } = await installPackage('better-auth')
  const other =
    directory === undefined ? undefined : new FunctionProcess(placeProgram(directory, 'better-auth.mjs'), {})
  const candidates = [
    {
      name: 'this service',
      run: async () => {
        // A new user and network each time, so that no limit is reached.
        const { email, password } = await createUser()
        const request = toEvent({ body: { email, login_password: password }, sourceIp: newSourceIp() })
        return expect('"code":0', await own.run(JSON.stringify(request)))
      },
    },
    ...(other === undefined
      ? []
      : [{ name: 'better-auth', run: async () => expect('true', await other.run('{}')) }]),
  ]
  try {
    await interleave(candidates, warmUps, ({ run }) => run())
    const measured = await interleave(candidates, samples, ({ run }) => run())
    const cpus = measured.map((runs) => median(runs.map(({ cpu }) => cpu)))
    const rows = candidates.map(({ name }, i): Row => {
      const cpu = cpus[i] ?? Number.NaN
      const wall = median((measured[i] ?? []).map((run) => run.wall))
      const times = round(cpu / (cpus[0] ?? Number.NaN), 3)
      return { password: name, 'CPU ms': round(cpu, 3), '× ours': times, ms: round(wall, 3) }
    })
    const notes = [
      'Ours: argon2id of 19 MiB over a MAC, its AWS calls to the local services of other processes.',
      'better-auth: scrypt of 32 MiB by its defaults, and its storage in memory.',
    ]
    const missing = absent === undefined ? [] : [{ password: `better-auth: absent, ${absent}` }]
    const title = 'A sign-in by password'
    return { name: 'peer-passwords', title, notes, rows: [...rows, ...missing] }
  } finally {
    await own.end()
    await other?.end()
  }
}

function expect<Answer extends { payload: string }>(text: string, answer: Answer): Answer {
  if (!answer.payload.replaceAll('\\', '').includes(text))
    throw new Error(`the sign-in answered ${answer.payload.slice(0, 500)}`)
  return answer
}
