import type { CloudAssembly } from 'aws-cdk-lib/cx-api'
import { readFileSync, rmSync } from 'node:fs'
import { bundleAuthorizationPage } from '../bundle-authorization-page.ts'
import { bundleFunctions } from '../bundle-functions.ts'
import { bundleLocalPage } from './page/bundle-local-page.ts'
import { StartupError } from './startup-error.ts'

/** Makes the cloud assembly to serve, in a directory of its own. */
export type Synthesize = (outputDirectory: string, settings: Record<string, string>) => Promise<CloudAssembly>

/**
 * Bundles the functions and the pages, and synthesizes the stage `local` with these settings of
 * infra/config.ts. Throws a `StartupError` that names every setting that is wrong.
 */
export const synthesizeLocalStage: Synthesize = async (outputDirectory, settings) => {
  // The bundler is a process of its own: the seconds that CDK takes to load pass meanwhile.
  const [{ App }, { readConfig }, { addStacks }] = await Promise.all([
    import('aws-cdk-lib'),
    import('../config.ts'),
    import('../add-stacks.ts'),
    bundleFunctions(),
    bundleAuthorizationPage(),
    bundleLocalPage(),
  ])
  const config = refuseWrongSettings(() => readConfig({ ...settings, stage: 'local' }))
  // Assets are kept by the hash of their contents: without this the directory would grow with every change.
  rmSync(outputDirectory, { recursive: true, force: true })
  const app = new App({
    outdir: outputDirectory,
    analyticsReporting: false,
    // Takes three of the four seconds of a synthesis: `cdk synth` and the tests validate.
    builtinCloudFormationValidation: false,
    context: readContext(),
  })
  await addStacks(app, config)
  return app.synth()
}

/** The context that `cdk deploy` would read. */
function readContext(): Record<string, unknown> {
  const { context } = JSON.parse(readFileSync(new URL('../../cdk.json', import.meta.url), 'utf8')) as {
    context: Record<string, unknown>
  }
  return context
}

function refuseWrongSettings<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new StartupError(error instanceof Error ? error.message.replaceAll(/\n\s*/g, ' ') : String(error))
  }
}
