import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda'
import { clientOptions } from '../../../shared/aws/client-options.ts'
import type { Finding } from './finding.ts'

/**
 * Checks that the account's quota of concurrent executions is enough for the stage's configuration. The
 * default is 1,000, but a new account begins with less (AWS Lambda: Lambda quotas).
 */
export async function checkConcurrency(wanted: number): Promise<Finding> {
  const { AccountLimit } = await new LambdaClient(clientOptions()).send(new GetAccountSettingsCommand())
  const limit = AccountLimit?.ConcurrentExecutions ?? 0
  const words = `the account may run ${limit} functions at once`
  if (limit >= wanted) return { ok: true, words }
  const remedy = 'ask Service Quotas for more, or set the knob concurrentExecutions'
  return { ok: false, words: `${words}, and the stage counts on ${wanted}: ${remedy}` }
}
