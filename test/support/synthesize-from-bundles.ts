import { App } from 'aws-cdk-lib'
import cdkJson from '../../cdk.json' with { type: 'json' }
import { makeBundleDirectories } from '../../infra/bundle/functions.ts'
import { type Config, readConfig } from '../../infra/config.ts'
import type { Synthesize } from '../../infra/local/stage.ts'
import { readStackTemplates, type StackTemplate } from '../../infra/local/template/stack-templates.ts'
import { addStacks } from '../../infra/stacks/add-stacks.ts'
import { withTester } from './tester.ts'

async function synthesize(outdir: string, config: Config, context = {}): Promise<StackTemplate[]> {
  const app = new App({ outdir, context, analyticsReporting: false, builtinCloudFormationValidation: false })
  await addStacks(app, config)
  return readStackTemplates(app.synth())
}

/** Synthesizes the stage `local` from the bundles that the run's shared stack has made. */
export const synthesizeFromBundles: Synthesize = withTester((outdir, settings) =>
  synthesize(outdir, readConfig({ ...settings, stage: 'local' })),
)

/** Synthesizes a stage as it would be deployed, but with bundles that may be missing or old. */
export function synthesizeWithoutBundles(outdir: string, config: Config): Promise<StackTemplate[]> {
  makeBundleDirectories()
  return synthesize(outdir, config, { ...cdkJson.context, 'aws:cdk:disable-asset-staging': true })
}
