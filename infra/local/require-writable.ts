import { accessSync, constants, lstatSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { refuse } from './startup-error.ts'

/**
 * Creates a directory unless it exists. Throws a `StartupError` that names what cannot be written, if the
 * directory or something in it belongs to somebody else (as after `sudo npm start`), lies on a read-only file
 * system, or is a file. `mend` says what else can be done.
 */
export function requireWritable(directory: string, mend: string): void {
  let path = directory
  try {
    mkdirSync(directory, { recursive: true })
    for (path of [directory, ...listEntries(directory)]) accessSync(path, constants.W_OK)
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException
    refuse(`cannot write ${path} (${code}): delete it or make it your own, for example with chown${mend}`)
  }
}

/** Lists what is in a directory, at any depth, without what symbolic links point to. */
const listEntries = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => join(directory, name))
    .filter((path) => !lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())
