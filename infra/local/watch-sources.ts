import { build } from 'esbuild'
import { watch } from 'node:fs'
import { join } from 'node:path'
import { bundleDirectory, bundleFunctions } from '../bundle/functions.ts'
import type { StackModel } from './model.ts'
import type { Runtime } from './runtime/runtime.ts'

interface WatchOptions {
  /** The stack to watch. Its functions must run from the bundler's output directory (`Synthesize`). */
  model: StackModel
  runtime: Pick<Runtime, 'reload'>
  showLine: (line: string) => void
}

const root = join(import.meta.dirname, '..', '..')
/** Wait for further file changes: one save often causes several events, a branch switch many. */
const settleMilliseconds = 50

/**
 * Watches functions/ and shared/, and bundles and reloads the functions that a saved change affects. After an
 * error in a source, the functions keep running their old code. Reports a change that needs a restart.
 * Returns a function that stops watching.
 */
export async function watchSources({ model, runtime, showLine }: WatchOptions): Promise<() => Promise<void>> {
  const needsRestart = await findRestartSources()
  let served = await bundleFunctions()
  const changed = new Set<string>()
  let updating = Promise.resolve()
  let timer: NodeJS.Timeout | undefined

  const update = async (): Promise<void> => {
    const startedAt = performance.now()
    const files = [...changed]
    changed.clear()
    for (const file of files.filter(needsRestart)) showLine(`${file} changed: restart to apply it`)
    const bundled = await bundleFunctions().catch(() => undefined)
    if (bundled === undefined) return showLine('the functions keep the code that they have')
    const entries = [...bundled].filter(([entry, hash]) => served.get(entry) !== hash).map(([entry]) => entry)
    served = bundled
    const directories = new Set(entries.map(bundleDirectory))
    const reloaded = model.functions.filter(({ codeDirectory }) => directories.has(codeDirectory))
    for (const { logicalId } of reloaded) runtime.reload(logicalId)
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(2)
    if (reloaded.length > 0)
      showLine(`reloaded in ${seconds} s: ${reloaded.map(({ name }) => name).join(', ')}`)
  }

  const watchers = ['functions', 'shared', 'infra'].map((folder) =>
    watch(join(root, folder), { recursive: true }, (_event, name) => {
      if (name === null) return
      changed.add(join(folder, name))
      clearTimeout(timer)
      timer = setTimeout(() => void (updating = updating.then(update)), settleMilliseconds)
    }),
  )
  return async () => {
    for (const watcher of watchers) watcher.close()
    clearTimeout(timer)
    await updating
  }
}

/** Finds the files whose change needs a restart: infra/, and imports of the stacks and the local stack. */
async function findRestartSources(): Promise<(file: string) => boolean> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ['infra/local/local-stack.ts'],
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    metafile: true,
    write: false,
  })
  return (file) => file.startsWith('infra') || file.replaceAll('\\', '/') in metafile.inputs
}
