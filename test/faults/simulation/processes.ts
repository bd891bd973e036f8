import { registerHooks } from 'node:module'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = pathToFileURL(join(import.meta.dirname, '../../..')).href

/** The service's code, which each simulated process has a copy of, with its own caches and locks. */
const isService = (url: string) => url.startsWith(`${root}/shared/`) || url.startsWith(`${root}/functions/`)

const processOf = (url = '') => /\?process=\d+$/.exec(url)?.[0] ?? ''

/** Lets `loadInProcess` load modules once for each of some simulated processes, and loads all functions. */
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
