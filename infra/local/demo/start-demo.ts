import type { AwsEndpoint } from '../aws/server.ts'
import type { FunctionModel, StackModel } from '../model.ts'
import { claimAddresses } from './claim-addresses.ts'
import { openDemoMemory } from './demo-record.ts'
import { demoUsers } from './demo-users.ts'
import { sendDemo } from './send-demo.ts'

interface DemoStart {
  model: StackModel
  aws: AwsEndpoint
  environmentOf: (model: FunctionModel) => Record<string, string>
  /** Where it is remembered what has been sent; undefined for this run only. */
  file: string | undefined
  showLine: (line: string) => void
}

/**
 * Sends the demo data. Resolves when Alice can sign in, with how to stop: the rest follows while the stack already
 * serves, and what goes wrong with it is shown, not thrown.
 */
export async function startDemo({
  model,
  aws,
  environmentOf,
  file,
  showLine,
}: DemoStart): Promise<() => Promise<void>> {
  const stopped = new AbortController()
  const { rest } = await sendDemo({
    model,
    aws,
    memory: openDemoMemory(file, Date.now()),
    signal: stopped.signal,
    claimAddresses: async (pools) => {
      const route = model.routes.find(({ routeKey }) => routeKey === 'GET /address/info')
      const owner = model.functions.find(({ logicalId }) => logicalId === route?.functionLogicalId)
      const [alice] = demoUsers
      if (owner === undefined || alice === undefined) throw new Error('no function hands out addresses')
      return claimAddresses(environmentOf(owner), alice.user_id, pools)
    },
  })
  const reported = rest.catch((error: unknown) => {
    if (!stopped.signal.aborted) showLine(`demo data: ${String(error)}`)
  })
  return () => {
    stopped.abort()
    return reported
  }
}
