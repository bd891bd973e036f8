import { App } from 'aws-cdk-lib'
import { readConfig } from '../../infra/config.ts'
import type { Synthesize } from '../../infra/local/stage.ts'
import { readStackTemplates } from '../../infra/local/template/stack-templates.ts'
import { addStacks } from '../../infra/stacks/add-stacks.ts'

/** Synthesizes the stage `local` from the bundles that the shared stack of the run has made. */
export const synthesizeFromBundles: Synthesize = async (outdir, settings) => {
  const app = new App({ outdir, analyticsReporting: false, builtinCloudFormationValidation: false })
  await addStacks(app, readConfig({ ...settings, stage: 'local' }))
  return readStackTemplates(app.synth())
}
