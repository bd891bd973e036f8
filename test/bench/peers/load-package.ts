import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** Imports a package, or a part of it, from a directory of modules outside this project. */
export async function loadPackage<T>(modules: string, name: string): Promise<T> {
  const file = createRequire(join(modules, 'bench.mjs')).resolve(name)
  return (await import(pathToFileURL(file).href)) as T
}
