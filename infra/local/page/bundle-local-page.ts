import { build } from 'esbuild'
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'

const source = import.meta.dirname
const root = join(source, '..', '..', '..')

/** Directory of the local stack's own page, ready to be served. */
export const localPageDirectory = join(root, 'dist', 'local-page')

/** Bundles the page below `/_local/`, the reference client in it, into one script and one stylesheet. */
export async function bundleLocalPage(): Promise<void> {
  await build({
    absWorkingDir: root,
    entryPoints: [
      { in: join(source, 'client', 'main.ts'), out: 'main' },
      { in: join(source, 'page.css'), out: 'page' },
    ],
    outdir: localPageDirectory,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: ['chrome111', 'firefox115', 'safari16.4'],
    legalComments: 'none',
    logLevel: 'warning',
  })
  await copyFile(join(source, 'index.html'), join(localPageDirectory, 'index.html'))
  await copyFile(join(root, 'infra', 'authorization-page', 'icon.svg'), join(localPageDirectory, 'icon.svg'))
}
