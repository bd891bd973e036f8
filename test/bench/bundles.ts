import { build, type Metafile, type Plugin } from 'esbuild'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleOptions, functionEntries } from '../../infra/bundle/functions.ts'
import { round, type Table } from './table.ts'

/** Leaves the functions' warm-up out, because it needs top-level `await`, which CommonJS does not have. */
const withoutWarmUp: Plugin = {
  name: 'without-warm-up',
  setup(builder) {
    builder.onLoad({ filter: /\/functions\/.*\.ts$/ }, ({ path }) => ({
      loader: 'ts',
      contents: readFileSync(path, 'utf8').replace('\nawait warmUp(handler)\n', ''),
    }))
  },
}

/**
 * Bundles each source into a minified CommonJS file, with esbuild's defaults for Node.js. The keys of
 * `sources` name the output files. `packages` is a folder of further packages.
 */
export async function bundleByDefault(
  sources: Record<string, string>,
  directory: string,
  packages?: string,
): Promise<Metafile> {
  const { metafile } = await build({
    absWorkingDir: join(import.meta.dirname, '../..'),
    entryPoints: sources,
    outdir: directory,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    minify: true,
    platform: 'node',
    plugins: [withoutWarmUp],
    metafile: true,
    logLevel: 'error',
    ...(packages !== undefined && { nodePaths: [packages] }),
  })
  return metafile
}

/** Measures the bundle of every function, beside a bundle of the same source with esbuild's defaults. */
export async function measureBundles(): Promise<Table[]> {
  const entries = functionEntries()
  const { metafile } = await build({ ...bundleOptions(entries), metafile: true, write: false })
  const directory = mkdtempSync(join(tmpdir(), 'bench-bundles-'))
  const sources = Object.fromEntries(entries.map((entry) => [entry, `functions/${entry}.ts`]))
  const byDefault = await bundleByDefault(sources, directory)
  rmSync(directory, { recursive: true })
  const describe = ({ outputs }: Metafile, name: string) => {
    const [, output] = Object.entries(outputs).find(([path]) => path.endsWith(name)) ?? []
    if (output === undefined) throw new Error(`${name} was not bundled`)
    return { bytes: output.bytes, modules: Object.keys(output.inputs).length }
  }
  const rows = entries.map((entry) => {
    const own = describe(metafile, `dist/functions/${entry}/index.mjs`)
    const other = describe(byDefault, `/${entry}.cjs`)
    return {
      function: entry,
      KB: round(own.bytes / 1000),
      modules: own.modules,
      'default KB': round(other.bytes / 1000),
      '× default': round(own.bytes / other.bytes, 3),
    }
  })
  const notes = ["Default: the same source by esbuild's defaults for Node.js, minified. KB are 1,000 bytes."]
  return [{ name: 'bundles', title: 'Bundles', notes, rows }]
}
