import { build } from 'esbuild'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..', '..')
const source = join(root, 'infra', 'samples', 'wallet')

/** The files of the sample app by their path, such as `/main.js`. Only the local stack serves them. */
export type SampleApp = ReadonlyMap<string, Uint8Array>

/** Bundles the sample app: one script, one stylesheet, fonts. Its index.html lacks the API's address. */
export async function bundleSampleApp({ minify = false } = {}): Promise<SampleApp> {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: ['main.tsx', 'app.css'].map((file) => join(source, file)),
    outdir: '/',
    assetNames: 'fonts/[name]',
    loader: { '.woff2': 'file' },
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2024',
    // Lets a person read and debug the sources in the browser.
    sourcemap: minify ? false : 'inline',
    minify,
    logLevel: 'warning',
    write: false,
  })
  return new Map([
    ['/index.html', await readFile(join(source, 'index.html'))],
    ['/icon.svg', await readFile(join(root, 'infra', 'authorization-page', 'icon.svg'))],
    ...outputFiles.map(({ path, contents }) => [path, contents] as const),
  ])
}
