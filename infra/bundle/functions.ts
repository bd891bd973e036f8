import { build, type BuildOptions } from 'esbuild'
import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import * as v from 'valibot'
import { plugIns, stubs } from './plug-ins.ts'
import { writeChanged } from './write-changed.ts'

const root = join(import.meta.dirname, '../..')

/** Directory of a function's bundle. `entry` is the source's path under functions/, without `.ts`. */
export const bundleDirectory = (entry: string): string => join(root, 'dist', 'functions', entry)
const bundleFile = (entry: string): string => join(bundleDirectory(entry), 'index.mjs')

/** The sources and hashes of the bundles, so that a later run can tell whether the bundles are up to date. */
const BundleRecord = v.object({
  /** Paths of all source files that are in some bundle, relative to the project directory. */
  inputs: v.array(v.string()),
  /** Hash of the source files and of the build tools. */
  key: v.string(),
  /** Hash of each bundle, keyed by entry. */
  outputs: v.record(v.string(), v.string()),
})
type BundleRecord = v.InferOutput<typeof BundleRecord>

const recordFile = join(root, 'dist', 'functions.json')

/** Files that affect every bundle, besides the sources: the bundler's configuration and the packages. */
const tools = [
  'infra/bundle/functions.ts',
  'infra/bundle/plug-ins.ts',
  'infra/bundle/single-region-signing.ts',
  'infra/bundle/stubs.ts',
  'package.json',
  'package-lock.json',
]

/** Lists the entries of all functions: the paths of their sources under functions/, without `.ts`. */
export const functionEntries = (): string[] =>
  globSync('**/*.ts', { cwd: join(root, 'functions') }).map((file) => file.replace(/\.ts$/, ''))

/**
 * Creates the directories of all bundles. CDK's synthesis needs only the directories, so a command that only
 * reads templates need not wait for the bundler.
 */
export function makeBundleDirectories(): void {
  for (const entry of functionEntries()) mkdirSync(bundleDirectory(entry), { recursive: true })
}

/**
 * Bundles all functions, unless nothing has changed since the last build. Returns the hash of each bundle,
 * keyed by entry. Throws esbuild's `BuildFailure` for a source with errors, which esbuild prints first.
 */
export async function bundleFunctions(): Promise<Map<string, string>> {
  const entries = functionEntries()
  const kept = readRecord()
  const isFresh =
    kept.key === keyOf(kept.inputs) &&
    entries.every((entry) => kept.outputs[entry] === hashFile(bundleFile(entry)))
  return new Map(Object.entries(isFresh ? kept.outputs : await bundleAll(entries)))
}

async function bundleAll(entries: readonly string[]): Promise<BundleRecord['outputs']> {
  const startedAt = Date.now()
  const { outputFiles, metafile } = await build({ ...bundleOptions(entries), metafile: true, write: false })
  const inputs = Object.keys(metafile.inputs).filter((file) => !file.startsWith('builtin:'))
  // A source file may have been saved during the build. An empty key makes the next run bundle again.
  const key = inputs.some((file) => isSavedSince(file, startedAt)) ? '' : keyOf(inputs)
  const outputs = Object.fromEntries(
    entries.map((entry) => [
      entry,
      hash(outputFiles.find(({ path }) => path === bundleFile(entry))?.contents ?? ''),
    ]),
  )
  const contents = Buffer.from(JSON.stringify({ inputs, key, outputs } satisfies BundleRecord))
  await writeChanged([...outputFiles, { path: recordFile, contents }])
  return outputs
}

/**
 * esbuild's options. Each function becomes one ES module with all its dependencies. One call for all
 * functions saves process starts. Bundles the AWS SDK, because the runtime's own copy is larger and loads
 * more slowly.
 */
export const bundleOptions = (entries: readonly string[]) =>
  ({
    absWorkingDir: root,
    entryPoints: Object.fromEntries(entries.map((entry) => [`${entry}/index`, `functions/${entry}.ts`])),
    outdir: join(root, 'dist', 'functions'),
    outExtension: { '.js': '.mjs' },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    // `module` comes first, because esbuild cannot tree-shake the SDK's CommonJS files (`main`).
    mainFields: ['module', 'main'],
    // Replaces SDK parts that no function uses and that made up a third of a bundle: the default chain of
    // credential providers, endpoint discovery, event streams, and multi-region signing.
    alias: {
      '@aws-sdk/credential-provider-node': stubs,
      '@aws-sdk/endpoint-cache': stubs,
      '@aws-sdk/signature-v4-multi-region': './infra/bundle/single-region-signing.ts',
      '@smithy/core/event-streams': stubs,
    },
    // Hides web streams from the SDK, so that it does not load Node's web streams. Functions never use them.
    define: { ReadableStream: 'undefined', Blob: 'undefined' },
    // Ignores tsconfig.json: esbuild would apply it to some files only, and not always to the same ones.
    tsconfigRaw: {},
    legalComments: 'none',
    plugins: plugIns,
    logLevel: 'warning',
  }) satisfies BuildOptions

function readRecord(): BundleRecord {
  try {
    return v.parse(BundleRecord, JSON.parse(readFileSync(recordFile, 'utf8')))
  } catch {
    // Without a valid record of the last build, every function is bundled again.
    return { inputs: [], key: '', outputs: {} }
  }
}

const hash = (contents: string | Uint8Array): string => createHash('sha256').update(contents).digest('hex')

/** Hashes a file by its path, absolute or relative to the project directory. A missing file has no hash. */
const hashFile = (path: string): string =>
  existsSync(resolve(root, path)) ? hash(readFileSync(resolve(root, path))) : ''

const keyOf = (inputs: readonly string[]): string =>
  hash([...tools, ...inputs].map((file) => file + hashFile(file)).join())

// Whether a file was saved later than an instant, with a tolerance for file systems with coarse timestamps.
const isSavedSince = (path: string, instant: number): boolean =>
  (statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? instant) > instant - 20
