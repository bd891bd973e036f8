import { build } from 'esbuild'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { writeChanged } from '../../write-changed.ts'

const source = import.meta.dirname
const root = join(source, '..', '..', '..')

/** Directory of the local stack's own page, ready to be served. */
export const localPageDirectory = join(root, 'dist', 'local-page')

/** Bundles the page below `/_local/`, the reference client in it, into one script and one stylesheet. */
export async function bundleLocalPage(): Promise<void> {
  const { outputFiles } = await build({
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
    write: false,
  })
  const copy = async (directory: string, name: string) => ({
    path: join(localPageDirectory, name),
    contents: await readFile(join(directory, name)),
  })
  await writeChanged([
    ...outputFiles,
    await copy(source, 'index.html'),
    await copy(join(root, 'infra', 'authorization-page'), 'icon.svg'),
  ])
}
