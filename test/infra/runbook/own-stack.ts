import { type LocalStack, startLocalStack } from '../../../infra/local/local-stack.ts'
import { synthesizeFromBundles } from '../../support/synthesize-from-bundles.ts'
import { ephemeral } from '../../support/ephemeral.ts'

/**
 * Starts a local stack for rehearsals, which disable keys and delete tables. Sets the environment of this
 * process, so that commands and shared code that are imported afterwards use the stack. Its key caches expire
 * quickly.
 */
export async function startOwnStack(): Promise<LocalStack> {
  const stack = await startLocalStack({
    ...ephemeral,
    demo: false,
    // Multi-Region keys, because a rehearsal moves to another region; no mail waits, as rehearsals wait for
    // empty queues.
    settings: { signingKeyPublishSeconds: '2', multiRegionKeys: 'true', mailDelaySeconds: '0' },
    showLine: () => undefined,
    synthesize: synthesizeFromBundles,
  })
  enterStack(stack)
  return stack
}

/** Sets the environment of this process, for commands and shared code that are imported afterwards. */
export function enterStack({ model, awsUrl }: LocalStack): void {
  for (const { environment } of model.functions) Object.assign(process.env, environment)
  Object.assign(process.env, { AWS_ENDPOINT_URL: awsUrl, AWS_REGION: model.region })
}
