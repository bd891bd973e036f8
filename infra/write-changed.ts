import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

const dist = join(import.meta.dirname, '..', 'dist')

/** A file that is to be as it is here. */
export interface Output {
  path: string
  contents: Uint8Array
}

/**
 * Writes what is not there yet or differs, each file whole or not at all: several stacks may start from one checkout at
 * the same moment, and none must find half a bundle of another.
 */
export async function writeChanged(outputs: readonly Output[]): Promise<void> {
  // Not beside the files: the folders they are in are copied as they stand.
  await mkdir(dist, { recursive: true })
  const unfinished = await mkdtemp(join(dist, 'unfinished-'))
  await Promise.all(
    outputs.map(async ({ path, contents }, i) => {
      if ((await readIfThere(path))?.equals(contents)) return
      await mkdir(dirname(path), { recursive: true })
      const file = join(unfinished, String(i))
      await writeFile(file, contents)
      await rename(file, path)
    }),
  )
  await rm(unfinished, { recursive: true })
}

async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
