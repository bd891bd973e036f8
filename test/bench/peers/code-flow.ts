import type { BenchStack } from '../stack/start-bench-stack.ts'
import { interleave, median, type Options, type Row, round, type Table } from '../table.ts'
import { installPackage } from './install-package.ts'
import { type FlowCost, startOwnFlow } from './own-code-flow.ts'
import { startProviderFlow } from './provider-code-flow.ts'

/** Runs that let Node.js compile the code before it is measured. */
const warmUps = 50

/** Measures a sign-in by the code flow with PKCE, of this service and of oidc-provider. */
export async function measureCodeFlow({ samples }: Options, stack: BenchStack): Promise<Table> {
  const { directory, absent } = await installPackage('oidc-provider')
  const own = await startOwnFlow(stack)
  const other = directory === undefined ? undefined : startProviderFlow(directory)
  const flows = [
    { name: 'this service', ...own },
    ...(other === undefined ? [] : [{ name: 'oidc-provider', ...other }]),
  ]
  try {
    await interleave(flows, warmUps, ({ signIn }) => signIn())
    const measured = await interleave(flows, samples, ({ signIn }) => signIn())
    const rows = flows.map(({ name }, i): Row => {
      const middle = (read: (cost: FlowCost) => number) => median((measured[i] ?? []).map(read))
      const cpu = middle((cost) => cost.cpu)
      const otherCpu = middle((cost) => cost.cpu - cost.passwordCpu)
      return {
        'code flow': name,
        requests: middle(({ requests }) => requests),
        'storage calls': middle(({ storageCalls }) => storageCalls),
        KMS: middle(({ kms }) => kms),
        'CPU ms': round(cpu, 3),
        'without the password': round(otherCpu, 3),
      }
    })
    const notes = [
      'From the first request to the tokens, with consent. Ours checks a password and a second factor, signs',
      'two tokens by KMS, and calls storage and KMS over HTTP; they are in other processes, as is the gateway.',
      'oidc-provider checks no password, signs one token by a key in memory, and stores in memory; it answers',
      'HTTP itself.',
    ]
    const missing = absent === undefined ? [] : [{ 'code flow': `oidc-provider: absent, ${absent}` }]
    const title = 'A sign-in by the code flow'
    return { name: 'peer-code-flow', title, notes, rows: [...rows, ...missing] }
  } finally {
    await own.end()
    await other?.end()
  }
}
