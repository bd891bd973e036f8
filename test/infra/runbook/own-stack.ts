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
    settings: { signingKeyPublishSeconds: '2' },
    showLine: () => undefined,
    synthesize: synthesizeFromBundles,
  })
  for (const { environment } of stack.model.functions) Object.assign(process.env, environment)
  process.env['AWS_ENDPOINT_URL'] = stack.awsUrl
  return stack
}
