import type { CloudAssembly } from 'aws-cdk-lib/cx-api'
import { readFileSync, rmSync } from 'node:fs'
import { bundleAuthorizationPage } from '../bundle-authorization-page.ts'
import { bundleFunctions } from '../bundle-functions.ts'
import { bundleConsole } from './console/bundle-console.ts'
import { StartupError } from './startup-error.ts'

/**
 * Makes the CDK cloud assembly to serve. With `watch`, functions run from the bundler's output directory,
 * which changes while the stack runs; otherwise from copies.
 */
export type Synthesize = (
  outputDirectory: string,
  settings: Record<string, string>,
  watch?: boolean,
) => Promise<CloudAssembly>

/**
 * Bundles the functions and the pages, and synthesizes the stage `local`. Throws a `StartupError` that names
 * every invalid setting of infra/config.ts.
 */
export const synthesizeLocalStage: Synthesize = async (outputDirectory, settings, watch = false) => {
  // Bundling and loading CDK run in parallel, because the bundler is a separate process.
  const [{ App }, { readConfig }, { addStacks }] = await Promise.all([
    import('aws-cdk-lib'),
    import('../config.ts'),
    import('../stacks/add-stacks.ts'),
    bundleFunctions(),
    bundleAuthorizationPage(),
    bundleConsole(),
  ])
  const config = refuseWrongSettings(() => readConfig({ ...settings, stage: 'local' }))
  // Delete the old assembly: assets are named by content, so the directory would grow with every change.
  rmSync(outputDirectory, { recursive: true, force: true })
  const cdkJson = readFileSync(new URL('../../cdk.json', import.meta.url), 'utf8')
  const { context } = JSON.parse(cdkJson) as { context: Record<string, unknown> }
  const app = new App({
    outdir: outputDirectory,
    analyticsReporting: false,
    // Skip the validation: three of four seconds of a synthesis. `cdk synth` and the tests run it.
    builtinCloudFormationValidation: false,
    context: { ...context, ...(watch ? { 'aws:cdk:disable-asset-staging': true } : {}) },
  })
  await addStacks(app, config)
  return app.synth()
}

function refuseWrongSettings<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new StartupError(error instanceof Error ? error.message.replaceAll(/\n\s*/g, ' ') : String(error))
  }
}
