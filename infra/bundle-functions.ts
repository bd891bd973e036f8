import { build, type BuildOptions } from 'esbuild'
import { createHash } from 'node:crypto'
import { globSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { plugins } from './bundle-plugins.ts'
import { writeChanged } from './write-changed.ts'

const root = join(import.meta.dirname, '..')

/**
 * Directory of a Lambda function's bundle; `entry` is the path of its source under functions/, without `.ts`.
 */
export const bundleDirectory = (entry: string): string => join(root, 'dist', 'functions', entry)
const bundleFile = (entry: string): string => join(bundleDirectory(entry), 'index.mjs')

/** The sources and hashes of a bundle, from which a later run sees whether the bundle is up to date. */
interface BundleRecord {
  /** Paths of the source files in the bundle, relative to the project directory. */
  inputs: string[]
  /** Hash of the source files and of the build tools. */
  key: string
  /** Hash of the bundled output. */
  output: string
}

/** File with the record of each bundle in dist/functions, by entry. */
const recordsFile = join(root, 'dist', 'functions.json')

/** Files that affect every bundle besides its sources: the bundler's configuration and the packages. */
const tools = [
  'infra/bundle-functions.ts',
  'infra/bundle-plugins.ts',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
]

/** Lists the entries of all functions: the paths of their sources under functions/, without `.ts`. */
export const functionEntries = (): string[] =>
  globSync('**/*.ts', { cwd: join(root, 'functions') }).map((file) => file.replace(/\.ts$/, ''))

/**
 * Bundles every function whose sources have changed since its last bundle, and returns the hash of each
 * bundle by entry. Throws esbuild's `BuildFailure` for a source with errors, after esbuild has printed them.
 */
export async function bundleFunctions(): Promise<Map<string, string>> {
  const entries = functionEntries()
  const hashOf = createFileHasher()
  const keyOf = (inputs: string[]) => hash([...tools, ...inputs].map((file) => file + hashOf(file)).join())
  const kept = readRecords()
  const isFresh = ({ inputs, key, output }: BundleRecord, entry: string) =>
    output === hashOf(bundleFile(entry)) && key === keyOf(inputs)
  const fresh = entries.flatMap((entry) => {
    const record = kept[entry]
    return record !== undefined && isFresh(record, entry) ? [[entry, record] as const] : []
  })
  const records = new Map<string, BundleRecord>(fresh)
  const stale = entries.filter((entry) => !records.has(entry))
  if (stale.length > 0) {
    const startedAt = Date.now()
    const { outputFiles, metafile } = await build({ ...bundleOptions(stale), metafile: true, write: false })
    for (const entry of stale) {
      const sources = metafile.outputs[`dist/functions/${entry}/index.mjs`]?.inputs ?? {}
      const inputs = Object.keys(sources).filter((file) => !file.startsWith('builtin:'))
      // A source that was saved during bundling may be missing from the bundle, so an empty key marks the
      // bundle as outdated.
      const key = inputs.some((file) => isSavedSince(file, startedAt)) ? '' : keyOf(inputs)
      const contents = outputFiles.find(({ path }) => path === bundleFile(entry))?.contents ?? ''
      records.set(entry, { inputs, key, output: hash(contents) })
    }
    const contents = Buffer.from(JSON.stringify(Object.fromEntries(records)))
    await writeChanged([...outputFiles, { path: recordsFile, contents }])
  }
  return new Map([...records].map(([entry, { output }]) => [entry, output]))
}

/**
 * How esbuild bundles functions, each into one ES module with all its dependencies. One call bundles them
 * all, which saves a process start per function. The AWS SDK is bundled, because the runtime's own copy is
 * larger and loads more slowly.
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
    // esbuild tree-shakes ES modules, but not the CommonJS files that the SDK names as `main`.
    mainFields: ['module', 'main'],
    // Replaces SDK parts that no function uses and that made up a third of a bundle: credential providers
    // other than the environment, endpoint discovery, event streams and signatures for several regions.
    alias: {
      '@aws-sdk/credential-provider-node': './shared/aws/no-credential-chain.ts',
      '@aws-sdk/endpoint-cache': './shared/aws/no-endpoint-cache.ts',
      '@aws-sdk/signature-v4-multi-region': './shared/aws/no-multi-region-signing.ts',
      '@smithy/core/event-streams': './shared/aws/no-event-streams.ts',
    },
    // A body is never a web stream here, and asking whether it is one loads Node's web streams.
    define: { ReadableStream: 'undefined', Blob: 'undefined' },
    legalComments: 'none',
    plugins: plugins(),
    logLevel: 'warning',
  }) satisfies BuildOptions

function readRecords(): Record<string, BundleRecord> {
  try {
    return JSON.parse(readFileSync(recordsFile, 'utf8')) as Record<string, BundleRecord>
  } catch {
    // If the file with the records is missing or damaged, every function is bundled again.
    return {}
  }
}

const hash = (contents: string | Uint8Array): string => createHash('sha256').update(contents).digest('hex')

/**
 * Returns a function that hashes files, each only once. A missing file has an empty hash. Paths are absolute
 * or relative to the project directory.
 */
function createFileHasher(): (path: string) => string {
  const known = new Map<string, string>()
  const read = (path: string): string => {
    try {
      return hash(readFileSync(resolve(root, path)))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
      throw error
    }
  }
  return (path) => {
    const found = known.get(path) ?? read(path)
    known.set(path, found)
    return found
  }
}

// Whether a file was saved after an instant, with a tolerance for file systems whose timestamps are coarse.
const isSavedSince = (path: string, instant: number): boolean =>
  (statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? instant) > instant - 20
