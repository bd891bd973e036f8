import { build } from 'esbuild'
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { writeChanged } from '../../bundle/write-changed.ts'

const source = import.meta.dirname
const root = join(source, '..', '..', '..')

/** Directory of the bundled console. */
export const consoleDirectory = join(root, 'dist', 'local-console')

/** Bundles the console, including the reference client, into one script and one stylesheet. */
export async function bundleConsole(): Promise<void> {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [
      { in: join(source, 'client', 'main.ts'), out: 'main' },
      { in: join(source, 'console.css'), out: 'console' },
    ],
    outdir: consoleDirectory,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: ['chrome123', 'firefox120', 'safari17.5'],
    legalComments: 'none',
    logLevel: 'warning',
    write: false,
  })
  const copies = [join(source, 'index.html'), join(root, 'infra', 'authorization-page', 'icon.svg')].map(
    async (file) => ({ path: join(consoleDirectory, basename(file)), contents: await readFile(file) }),
  )
  await writeChanged([...outputFiles, ...(await Promise.all(copies))])
}
