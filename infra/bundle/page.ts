import { build, type Metafile } from 'esbuild'
import { readdir, readFile, rm } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'
import { writeChanged } from './write-changed.ts'

const root = join(import.meta.dirname, '../..')
const source = join(root, 'infra', 'authorization-page')

/** Directory of the bundled page. Its index.html lacks the API's address, which `renderIndex` inserts. */
export const pageDirectory = join(root, 'dist', 'authorization-page')

/**
 * Bundles the authorization page into one script, one stylesheet, one icon and an index.html. The assets'
 * names contain hashes, so that browsers can cache the assets for ever.
 */
export async function bundleAuthorizationPage(outputDirectory = pageDirectory): Promise<void> {
  const { metafile, outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: ['main.ts', 'page.css', 'icon.svg'].map((file) => join(source, file)),
    outdir: join(outputDirectory, 'assets'),
    entryNames: '[name]-[hash]',
    loader: { '.svg': 'copy' },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: ['chrome111', 'firefox115', 'safari16.4'],
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
    write: false,
  })
  const template = await readFile(join(source, 'index.html'), 'utf8')
  const index = template
    .replace('%SCRIPT%', assetOf(metafile, 'main.ts'))
    .replace('%STYLE%', assetOf(metafile, 'page.css'))
    .replace('%ICON%', assetOf(metafile, 'icon.svg'))
  await writeChanged([
    ...outputFiles,
    { path: join(outputDirectory, 'index.html'), contents: Buffer.from(index) },
  ])
  await removeStaleAssets(join(outputDirectory, 'assets'), metafile)
}

/** Deletes assets of earlier runs. Otherwise, every deployment would upload them again. */
async function removeStaleAssets(directory: string, { outputs }: Metafile): Promise<void> {
  const written = Object.keys(outputs).map((path) => basename(path))
  const stale = (await readdir(directory)).filter((name) => !written.includes(name))
  await Promise.all(stale.map((name) => rm(join(directory, name), { force: true })))
}

function assetOf(metafile: Metafile, file: string): string {
  const wanted = relative(root, join(source, file))
  const output = Object.entries(metafile.outputs).find(
    ([, { entryPoint, inputs }]) => entryPoint === wanted || wanted in inputs,
  )
  if (output === undefined) throw new Error(`esbuild wrote nothing for ${file}`)
  return `assets/${basename(output[0])}`
}

/** Inserts the API's address into index.html, for the page's script and for its Content-Security-Policy. */
export const renderIndex = (index: string, baseUrl: string): string => index.replaceAll('%BASE_URL%', baseUrl)
