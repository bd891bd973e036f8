import { type LocalStack, startLocalStack } from '../../../infra/local/local-stack.ts'
import { synthesizeFromBundles } from '../../support/synthesize-from-bundles.ts'
import { ephemeral } from '../../support/ephemeral.ts'

/**
 * A whole stack for rehearsals, which disable keys and throw tables away. This process becomes its owner, so that commands and
 * whatever functions share, loaded afterwards, work on it. Its caches of keys are short, so that nobody has to wait for them.
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
