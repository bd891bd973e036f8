import { App } from 'aws-cdk-lib'
import { type Config, readConfig } from '../../infra/config.ts'
import type { Synthesize } from '../../infra/local/stage.ts'
import { readStackTemplates, type StackTemplate } from '../../infra/local/template/stack-templates.ts'
import { addStacks } from '../../infra/stacks/add-stacks.ts'

/** Synthesizes a stage from the bundles that the shared stack of the run has made. */
export async function synthesizeStage(outdir: string, config: Config): Promise<StackTemplate[]> {
  const app = new App({ outdir, analyticsReporting: false, builtinCloudFormationValidation: false })
  await addStacks(app, config)
  return readStackTemplates(app.synth())
}

/** Synthesizes the stage `local`. */
export const synthesizeFromBundles: Synthesize = (outdir, settings) =>
  synthesizeStage(outdir, readConfig({ ...settings, stage: 'local' }))
