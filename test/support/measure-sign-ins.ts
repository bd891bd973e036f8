// Measures the processor time of sign-ins for timing.table.test.ts, in a process that does nothing else.
// Receives the attempts as a message, and answers with the cost of each attempt.
import { login } from './sign-in-calls.ts'
import { measureCalls } from './measure-calls.ts'

/** An attempt to sign in. `kind` tells the test which case it is, such as a wrong password. */
export interface SignInAttempt {
  kind: string
  email: string
  password: string
}

/** The result of an attempt: the code of its answer, its AWS calls, and its processor time. */
export interface SignInCost {
  kind: string
  code: number
  calls: string[]
  cpuMilliseconds: number
}

process.once('message', (attempts: SignInAttempt[]) => {
  void (async () => {
    const costs: SignInCost[] = []
    for (const { kind, ...attempt } of attempts) {
      let code = -1
      const before = process.cpuUsage()
      const { names } = await measureCalls(async () => {
        code = (await login(attempt)).code
      })
      const { user, system } = process.cpuUsage(before)
      costs.push({ kind, code, calls: names, cpuMilliseconds: (user + system) / 1_000 })
    }
    process.send?.(costs, () => process.disconnect())
  })()
})
