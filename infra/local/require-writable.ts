import { accessSync, constants, existsSync, lstatSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { refuse } from './startup-error.ts'

/**
 * Creates a directory unless it exists. Throws a `StartupError` that names what cannot be written, if the
 * directory or something in it belongs to somebody else (as after `sudo npm start`), lies on a read-only file
 * system, or is a file. `mend` says what else can be done.
 */
export function requireWritable(directory: string, mend: string): void {
  let path = directory
  try {
    makeDirectory(directory)
    for (path of [directory, ...listEntries(directory)]) accessSync(path, constants.W_OK)
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException
    refuse(`cannot write ${path} (${code}): delete it or make it your own, for example with chown${mend}`)
  }
}

/** Creates a directory and its parents. Node's own `recursive` never ends below `/proc`. */
function makeDirectory(directory: string): void {
  const parent = dirname(directory)
  if (!existsSync(parent)) makeDirectory(parent)
  try {
    mkdirSync(directory)
  } catch (error) {
    if (!existsSync(directory) || !statSync(directory).isDirectory()) throw error
  }
}

/** Lists what is in a directory, at any depth, without what symbolic links point to. */
const listEntries = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => join(directory, name))
    .filter((path) => !lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())
