import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Config, readConfig } from '../../../infra/config.ts'
import { type LocalStack, startLocalStack } from '../../../infra/local/local-stack.ts'
import { buildStackModel } from '../../../infra/local/template/build-model.ts'
import type { StackTemplate } from '../../../infra/local/template/stack-templates.ts'
import { synthesizeFromBundles, synthesizeStage } from '../../support/synthesize-from-bundles.ts'
import { ephemeral } from '../../support/ephemeral.ts'

/**
 * Multi-Region keys, because a rehearsal moves to another region, and versions, because one moves back to an
 * earlier one; no mail waits, as rehearsals wait for empty queues.
 */
const settings = {
  signingKeyPublishSeconds: '2',
  multiRegionKeys: 'true',
  gradualDeployment: 'true',
  mailDelaySeconds: '0',
}

/**
 * Starts a local stack for rehearsals, which disable keys and delete tables. Sets the environment of this
 * process, so that commands and shared code that are imported afterwards use the stack. Its key caches expire
 * quickly.
 */
export async function startOwnStack(): Promise<LocalStack> {
  const stack = await startLocalStack({
    ...ephemeral,
    demo: false,
    settings,
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

/**
 * Deploys the functions of the stack with these changes of its configuration, and none of earlier ones, while
 * it runs. Their code stays. `prepare` changes what the local stack cannot read in the templates.
 */
export async function deployFunctions(
  { aws, model, baseUrl, awsUrl, pageUrl }: LocalStack,
  changes: Partial<Config>,
  prepare = (templates: StackTemplate[]) => templates,
): Promise<void> {
  const outdir = mkdtempSync(join(tmpdir(), 'deployment-'))
  try {
    // The versions are those of the running stack, and synthesizing them takes as long as all the rest.
    const knobs = { ...settings, gradualDeployment: 'false', authUrl: `${pageUrl}/`, stage: 'local' }
    const config = readConfig(knobs)
    const templates = prepare(await synthesizeStage(outdir, { ...config, ...changes }))
    const { region, accountId, functions } = model
    const deployed = buildStackModel(templates, { region, accountId, apiUrl: baseUrl, awsUrl })
    const codeOf = new Map(functions.map(({ name, codeDirectory }) => [name, codeDirectory]))
    aws.deploy(deployed.functions.map((one) => ({ ...one, codeDirectory: codeOf.get(one.name) ?? '' })))
  } finally {
    rmSync(outdir, { recursive: true, force: true })
  }
}
