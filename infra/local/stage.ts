import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleAuthorizationPage } from '../bundle/page.ts'
import { bundleFunctions } from '../bundle/functions.ts'
import { writeChanged } from '../bundle/write-changed.ts'
import { requireWritable } from './require-writable.ts'
import { StartupError } from './startup-error.ts'
import { readStackTemplates, type StackTemplate } from './template/stack-templates.ts'

/** Synthesizes the templates to serve. Copies the bundles to `outputDirectory`, where the functions run. */
export type Synthesize = (
  outputDirectory: string,
  settings: Record<string, string>,
) => Promise<StackTemplate[]>

/**
 * Bundles the functions and the authorization page, and synthesizes the stage `local`. Throws a
 * `StartupError` that names every invalid setting of infra/config.ts.
 */
export const synthesizeLocalStage: Synthesize = async (outputDirectory, settings) => {
  requireWritable(join(root, 'dist'), '')
  // Load CDK while the bundler runs in its own process.
  const bundling = Promise.all([bundleFunctions(), bundleAuthorizationPage()])
  const [templates] = await Promise.all([readTemplates(settings, bundling), bundling])
  return copyBundles(templates, outputDirectory)
}

const root = join(import.meta.dirname, '..', '..')

/** The templates of the last synthesis, and the hash of their sources. */
const templatesFile = join(root, 'dist', 'local-templates.json')

/** Origins of this machine, which stored templates replace by placeholders: their ports can change. */
const localOrigin = /http:\/\/127\.0\.0\.1:\d+/g
const placeholder = /https:\/\/local-(\d+)\.invalid/g

/**
 * Reads the templates that the last synthesis of the stage `local` wrote, which saves a second. If their
 * sources have changed, synthesizes them anew.
 */
async function readTemplates(
  settings: Record<string, string>,
  bundling: Promise<unknown>,
): Promise<StackTemplate[]> {
  const origins = [...new Set(Object.values(settings).join(' ').match(localOrigin))]
  const hide = (text: string) =>
    text.replaceAll(localOrigin, (origin) => `https://local-${origins.indexOf(origin)}.invalid`)
  const stage = Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, hide(value)]))
  const key = hashSources(stage)
  const kept = existsSync(templatesFile)
    ? (JSON.parse(readFileSync(templatesFile, 'utf8')) as { key: string; templates: StackTemplate[] })
    : undefined
  const templates = kept?.key === key ? kept.templates : await synthesize(stage, bundling)
  if (kept?.key !== key)
    await writeChanged([{ path: templatesFile, contents: Buffer.from(JSON.stringify({ key, templates })) }])
  const shown = JSON.stringify(templates).replaceAll(placeholder, (_, index) => origins[Number(index)] ?? '')
  return JSON.parse(shown) as StackTemplate[]
}

/** Hashes everything that the templates depend on, except the content of the bundles. */
function hashSources(settings: Record<string, string>): string {
  const sources = globSync('{infra,shared}/**/*.ts', { cwd: root }).sort()
  const entries = globSync('functions/**/*.ts', { cwd: root }).sort()
  const hash = createHash('sha256').update(JSON.stringify([root, settings, sources, entries]))
  for (const file of ['cdk.json', 'package-lock.json', ...sources])
    hash.update(readFileSync(join(root, file)))
  return hash.digest('hex')
}

async function synthesize(
  settings: Record<string, string>,
  bundling: Promise<unknown>,
): Promise<StackTemplate[]> {
  const [{ App }, { readConfig }, { addStacks }] = await Promise.all([
    import('aws-cdk-lib'),
    import('../config.ts'),
    import('../stacks/add-stacks.ts'),
  ])
  const config = refuseWrongSettings(() => readConfig({ ...settings, stage: 'local' }))
  const { context } = JSON.parse(readFileSync(join(root, 'cdk.json'), 'utf8')) as { context: object }
  await bundling
  const outdir = mkdtempSync(join(tmpdir(), 'assembly-'))
  try {
    const app = new App({
      outdir,
      analyticsReporting: false,
      // Skip the validation, which takes three quarters of the time. `cdk synth` and the tests still
      // validate.
      builtinCloudFormationValidation: false,
      // Switch off asset staging: templates then name the bundler's directories, whose paths never change.
      context: { ...context, 'aws:cdk:disable-asset-staging': true },
    })
    await addStacks(app, config)
    return readStackTemplates(app.synth())
  } finally {
    rmSync(outdir, { recursive: true, force: true })
  }
}

/** Copies the bundles of all functions to a directory, so that no later bundling changes a running stack. */
async function copyBundles(templates: StackTemplate[], directory: string): Promise<StackTemplate[]> {
  const bundles = join(root, 'dist', 'functions')
  rmSync(directory, { recursive: true, force: true })
  await cp(bundles, directory, { recursive: true })
  return templates.map((template) => {
    const paths = Object.entries(template.assetPaths)
      .filter(([, path]) => path.startsWith(bundles))
      .map(([key, path]) => [key, path.replace(bundles, directory)] as const)
    return { ...template, assetPaths: Object.fromEntries(paths) }
  })
}

function refuseWrongSettings<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new StartupError(error instanceof Error ? error.message.replaceAll(/\n\s*/g, ' ') : String(error))
  }
}
