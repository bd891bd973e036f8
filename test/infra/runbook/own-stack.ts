import { type LocalStack, startLocalStack } from '../../../infra/local/local-stack.ts'
import { ephemeral } from '../../support/ephemeral.ts'
import { synthesizeFromBundles } from '../../support/synthesize-from-bundles.ts'

/**
 * Starts a local stack for tests that revoke keys and replace tables. These tests wait for new keys and empty
 * queues, so functions cache keys only briefly, mails are not delayed, and events that lack something are
 * refused after three seconds. Sets this process's environment for commands and shared code that are imported
 * later.
 */
export async function startOwnStack(): Promise<LocalStack> {
  const stack = await startLocalStack({
    ...ephemeral,
    demo: false,
    settings: { signingKeyPublishSeconds: '2', mailDelaySeconds: '0', earlyEventSeconds: '3' },
    showLine: () => undefined,
    synthesize: synthesizeFromBundles,
  })
  for (const { environment } of stack.model.functions) Object.assign(process.env, environment)
  Object.assign(process.env, { AWS_ENDPOINT_URL: stack.awsUrl, AWS_REGION: stack.model.region })
  return stack
}
