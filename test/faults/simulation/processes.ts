import { registerHooks } from 'node:module'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = pathToFileURL(join(import.meta.dirname, '../../..')).href

/** Whether a module belongs to the service. Each simulated process has its own copy of these modules. */
const isService = (url: string) => url.startsWith(`${root}/shared/`) || url.startsWith(`${root}/functions/`)

const processOf = (url = '') => /\?process=\d+$/.exec(url)?.[0] ?? ''

/** Creates simulated processes. Each loads all functions, from its own copies of the modules. */
export async function installProcesses(count: number): Promise<void> {
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const resolved = nextResolve(specifier, context)
      if (!isService(resolved.url) || processOf(resolved.url) !== '') return resolved
      return { ...resolved, url: resolved.url + processOf(context.parentURL) }
    },
  })
  const paths = globSync('functions/{*,*/*}.ts', { cwd: fileURLToPath(root) }).sort()
  for (let process = 0; process < count; process += 1)
    await Promise.all(paths.map((path) => loadInProcess(process, path)))
}

/** Loads a module of the service, given by its path from the root, in a simulated process. */
export const loadInProcess = (process: number, path: string): Promise<unknown> =>
  import(`${root}/${path}?process=${process}`)
