// Serves the DynamoDB table and the KMS keys that all files `x.table.test.ts` share. Starts no gateway and no
// functions, because these tests call the code in their own process.
import './quick-rsa-keys.ts'
import { readConfig } from '../../infra/config.ts'
import { serveForParent } from './serve-for-parent.ts'
import { startAws } from './start-aws.ts'
import { withTester } from './tester.ts'
import { synthesizeWithoutBundles } from './synthesize-from-bundles.ts'
import './silence-log.ts'

process.env.TZ = 'UTC'

await serveForParent(async () => {
  const config = readConfig({ stage: 'local', authUrl: 'https://auth.example.com/' })
  const { environment, dynamodbEndpoint, close } = await startAws(
    withTester((outdir) => synthesizeWithoutBundles(outdir, config)),
    { apiUrl: 'https://api.example.com', report: () => undefined },
  )
  await makeSigningKey(environment)
  return {
    description: { environment, dynamodbEndpoint: new URL(dynamodbEndpoint).origin },
    stop: close,
  }
})

/** Creates the first signing key by one run of the key rotation, as on a new deployment. */
async function makeSigningKey(environment: Record<string, string>): Promise<void> {
  Object.assign(process.env, environment)
  // Modules of shared/ are loaded only now, because they read the environment when they load.
  const { handler } = await import('../../functions/schedule/rotate-signing-keys.ts')
  await handler({}, { awsRequestId: 'table' })
}
