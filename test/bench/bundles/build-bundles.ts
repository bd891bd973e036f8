import { build, type Metafile } from 'esbuild'
import { join } from 'node:path'
import { bundleOptions, functionEntries } from '../../../infra/bundle/functions.ts'

const root = join(import.meta.dirname, '../../..')

/** What a function is deployed as. */
export interface Bundle {
  bytes: number
  /** Number of source files in it. */
  modules: number
  /** The inputs with the most bytes in it, largest first. */
  largest: { input: string; bytes: number }[]
}

/** Bundles every function as it is deployed, and describes the bundles, by entry. */
export async function describeBundles(): Promise<Map<string, Bundle>> {
  const entries = functionEntries()
  const { metafile } = await build({ ...bundleOptions(entries), metafile: true, write: false })
  return new Map(entries.map((entry) => [entry, describe(metafile, `dist/functions/${entry}/index.mjs`)]))
}

/**
 * Bundles files as esbuild does by default for Node.js, minified, into one CommonJS file each, and
 * describes the bundles: the outputs are paths without an ending. Packages that this project lacks are
 * found in `packages`.
 */
export async function bundleByDefault(
  sources: Record<string, string>,
  directory: string,
  packages?: string,
): Promise<Map<string, Bundle>> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: sources,
    outdir: directory,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    minify: true,
    platform: 'node',
    // Leaves the rehearsal in a function's init out: CommonJS has no await for it.
    define: { 'process.env.AWS_LAMBDA_INITIALIZATION_TYPE': 'undefined' },
    metafile: true,
    logLevel: 'error',
    ...(packages !== undefined && { nodePaths: [packages] }),
  })
  const outputs = Object.keys(metafile.outputs)
  return new Map(
    Object.keys(sources).map((name) => {
      const output = outputs.find((path) => path.endsWith(`/${name}.cjs`)) ?? ''
      return [name, describe(metafile, output)]
    }),
  )
}

function describe({ outputs }: Metafile, output: string): Bundle {
  const { bytes, inputs } = outputs[output] ?? { bytes: 0, inputs: {} }
  const largest = Object.entries(inputs)
    .filter(([input]) => !input.startsWith('builtin:'))
    .map(([input, { bytesInOutput }]) => ({ input, bytes: bytesInOutput }))
    .sort((a, b) => b.bytes - a.bytes)
  return { bytes, modules: largest.length, largest: largest.slice(0, 10) }
}
