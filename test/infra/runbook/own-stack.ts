import { type LocalStack, startLocalStack } from '../../../infra/local/local-stack.ts'
import { ephemeral } from '../../support/ephemeral.ts'
import { synthesizeFromBundles } from '../../support/synthesize-from-bundles.ts'

/**
 * Starts a local stack for tests that revoke keys and replace tables. Functions cache keys only briefly, and
 * mails are not delayed, because these tests wait for new keys and for empty queues. Sets the environment of
 * this process, so that commands and shared code that are imported later use this stack.
 */
export async function startOwnStack(): Promise<LocalStack> {
  const stack = await startLocalStack({
    ...ephemeral,
    demo: false,
    settings: { signingKeyPublishSeconds: '2', mailDelaySeconds: '0' },
    showLine: () => undefined,
    synthesize: synthesizeFromBundles,
  })
  for (const { environment } of stack.model.functions) Object.assign(process.env, environment)
  Object.assign(process.env, { AWS_ENDPOINT_URL: stack.awsUrl, AWS_REGION: stack.model.region })
  return stack
}
