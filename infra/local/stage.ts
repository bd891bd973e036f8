import { createHash } from 'node:crypto'
import { globSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { bundleAuthorizationPage } from '../bundle/page.ts'
import { bundleFunctions } from '../bundle/functions.ts'
import { writeChanged } from '../bundle/write-changed.ts'
import { StartupError } from './startup-error.ts'
import { readStackTemplates, type StackTemplate } from './template/stack-templates.ts'

/**
 * Synthesizes the templates to serve, into a directory of the stack's own. With `watch`, functions run from
 * the bundler's output directory, which changes while the stack runs; otherwise from copies.
 */
export type Synthesize = (
  outputDirectory: string,
  settings: Record<string, string>,
  watch?: boolean,
) => Promise<StackTemplate[]>

/**
 * Bundles the functions and the pages, and synthesizes the stage `local`. Throws a `StartupError` that names
 * every invalid setting of infra/config.ts.
 */
export const synthesizeLocalStage: Synthesize = async (outputDirectory, settings, watch = false) => {
  // Bundling and loading CDK run in parallel, because the bundler is a separate process.
  const bundling = Promise.all([bundleFunctions(), bundleAuthorizationPage()])
  const [templates] = await Promise.all([readTemplates(settings, bundling), bundling])
  return watch ? templates : copyBundles(templates, outputDirectory)
}

const root = join(import.meta.dirname, '..', '..')

/** Directory with the templates of the latest syntheses, in files named by what they were made from. */
const templatesDirectory = join(root, 'dist', 'local-templates')
const maxKept = 8

/** Stands for the origin of the authorization page, whose port may differ from start to start. */
const anyOrigin = 'http://authorization-page.invalid'

/**
 * Reads the templates of the stage `local` from the last synthesis, if nothing has changed that they are made
 * from: loading CDK and synthesizing takes as long as everything else of a start.
 */
async function readTemplates(
  { authUrl = '', ...others }: Record<string, string>,
  bundling: Promise<unknown>,
): Promise<StackTemplate[]> {
  const origin = URL.parse(authUrl)?.origin ?? anyOrigin
  const settings = { ...others, authUrl: authUrl.replace(origin, anyOrigin) }
  const path = join(templatesDirectory, `${hashSources(JSON.stringify(settings))}.json`)
  const text = readKept(path) ?? (await keep(path, await synthesize(settings, bundling)))
  return JSON.parse(text.replaceAll(anyOrigin, origin), readMap) as StackTemplate[]
}

/** Hashes everything that the templates depend on, but for the content of the bundles. */
function hashSources(settings: string): string {
  const sources = globSync('{infra,shared}/**/*.ts', { cwd: root }).sort()
  const entries = globSync('functions/**/*.ts', { cwd: root }).sort()
  const hash = createHash('sha256').update(JSON.stringify([root, settings, sources, entries]))
  for (const file of ['cdk.json', 'package-lock.json', ...sources])
    hash.update(readFileSync(join(root, file)))
  return hash.digest('hex')
}

function readKept(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

async function keep(path: string, templates: StackTemplate[]): Promise<string> {
  const text = JSON.stringify(templates, writeMap)
  await writeChanged([{ path, contents: Buffer.from(text) }])
  const writtenAt = (file: string) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
  const files = globSync('*.json', { cwd: templatesDirectory }).map((name) => join(templatesDirectory, name))
  const oldest = files.sort((one, other) => writtenAt(other) - writtenAt(one)).slice(maxKept)
  for (const file of oldest) rmSync(file, { force: true })
  return text
}

const writeMap = (_name: string, value: unknown): unknown =>
  value instanceof Map ? { entries: [...value] } : value
const readMap = (name: string, value: unknown): unknown =>
  name === 'assetPaths' ? new Map((value as { entries: [string, string][] }).entries) : value

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
      // Skip the validation: three of four seconds of a synthesis. `cdk synth` and the tests run it.
      builtinCloudFormationValidation: false,
      // The templates name the bundler's output directories, which stay the same when a bundle changes.
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
  rmSync(directory, { recursive: true, force: true })
  const copied = new Map<string, Promise<string>>()
  const copy = async (from: string, to: string) => {
    await cp(from, to, { recursive: true })
    return to
  }
  return Promise.all(
    templates.map(async (template) => {
      const bundles = [...template.assetPaths].filter(([, path]) => path.startsWith(join(root, 'dist')))
      const paths = bundles.map(async ([key, path]) => {
        const copying = copied.get(path) ?? copy(path, join(directory, `${copied.size} ${basename(path)}`))
        copied.set(path, copying)
        return [key, await copying] as const
      })
      return { ...template, assetPaths: new Map(await Promise.all(paths)) }
    }),
  )
}

function refuseWrongSettings<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new StartupError(error instanceof Error ? error.message.replaceAll(/\n\s*/g, ' ') : String(error))
  }
}
