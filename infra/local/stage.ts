import type { CloudAssembly } from 'aws-cdk-lib/cx-api'
import { readFileSync, rmSync } from 'node:fs'
import { bundleAuthorizationPage } from '../bundle-authorization-page.ts'
import { bundleFunctions } from '../bundle-functions.ts'
import { bundleConsole } from './console/bundle-console.ts'
import { StartupError } from './startup-error.ts'

/**
 * Makes the cloud assembly to serve. With `watch` its functions point to the bundler's output, which changes
 * while the stack runs, and otherwise to copies.
 */
export type Synthesize = (
  outputDirectory: string,
  settings: Record<string, string>,
  watch?: boolean,
) => Promise<CloudAssembly>

/**
 * Bundles the functions and the pages, and synthesizes the stage `local`. Throws a `StartupError` that names
 * every setting of infra/config.ts that is wrong.
 */
export const synthesizeLocalStage: Synthesize = async (outputDirectory, settings, watch = false) => {
  // The bundler is a process of its own, and works while CDK loads.
  const [{ App }, { readConfig }, { addStacks }] = await Promise.all([
    import('aws-cdk-lib'),
    import('../config.ts'),
    import('../stacks/add-stacks.ts'),
    bundleFunctions(),
    bundleAuthorizationPage(),
    bundleConsole(),
  ])
  const config = refuseWrongSettings(() => readConfig({ ...settings, stage: 'local' }))
  // Assets are named by their contents: without this the directory would grow with every change.
  rmSync(outputDirectory, { recursive: true, force: true })
  const cdkJson = readFileSync(new URL('../../cdk.json', import.meta.url), 'utf8')
  const { context } = JSON.parse(cdkJson) as { context: Record<string, unknown> }
  const app = new App({
    outdir: outputDirectory,
    analyticsReporting: false,
    // Takes three of the four seconds of a synthesis; `cdk synth` and the tests validate.
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
