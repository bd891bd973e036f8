import type { AccessRequest } from '../../../infra/local/aws/iam/authorize.ts'
import { Runtime } from '../../../infra/local/runtime/runtime.ts'
import { startAws } from '../../support/start-aws.ts'
import { synthesizeFromBundles } from '../../support/synthesize-from-bundles.ts'

/**
 * Starts a local stack from existing bundles, without an HTTP gateway and without delivery of events. Tests
 * invoke its functions directly. The stack records what the functions access and log.
 */
export async function startOwnStack() {
  const lines = new Map<string, string>()
  const calls = new Map<string, AccessRequest[][]>()
  const aws = await startAws(synthesizeFromBundles, {
    onAccess({ arn }, accesses) {
      const name = arn.slice(arn.lastIndexOf('/') + 1)
      calls.set(name, [...(calls.get(name) ?? []), accesses])
    },
  })
  const runtime = new Runtime({
    functions: aws.functions,
    environmentOf: aws.environmentOf,
    log: { write: (name, line) => void lines.set(name, `${lines.get(name) ?? ''}${line}\n`) },
    limits: { maxWorkers: 6 },
  })
  return {
    awsUrl: aws.awsUrl,
    functions: aws.functions,
    invoke: runtime.invoke,
    /** For each AWS call by the function, lists the accesses that IAM checked. */
    callsOf: (name: string) => calls.get(name) ?? [],
    logOf: (name: string) => lines.get(name) ?? '',
    async stop() {
      await runtime.close()
      await aws.close()
    },
  }
}
