import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

const dist = join(import.meta.dirname, '../../dist')

/** A build output: a file and its content. */
export interface Output {
  path: string
  contents: Uint8Array
}

/**
 * Writes build outputs that are new or have changed. Writes each to a temporary file, and renames the
 * finished file. So other processes of this checkout never read half a file.
 */
export async function writeChanged(outputs: readonly Output[]): Promise<void> {
  // Temporary files have their own directory: everything in the output directories is deployed.
  await mkdir(dist, { recursive: true })
  const temporary = await mkdtemp(join(dist, 'unfinished-'))
  await Promise.all(
    outputs.map(async ({ path, contents }, i) => {
      if ((await readIfExists(path))?.equals(contents)) return
      await mkdir(dirname(path), { recursive: true })
      const file = join(temporary, String(i))
      await writeFile(file, contents)
      await rename(file, path)
    }),
  )
  await rm(temporary, { recursive: true })
}

async function readIfExists(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
