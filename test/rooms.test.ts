import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, it } from 'vitest'

const shared = join(import.meta.dirname, '..', 'shared')

/** The rooms of shared/ from the top down, as shared/README.md lists them. */
const rooms = [
  ...(readFileSync(join(shared, 'README.md'), 'utf8').split('## The table')[0] ?? '').matchAll(
    /^\| `([\w-]+)` \|/gm,
  ),
].map(([, room = '']) => room)

/** The room of a file under shared/; files directly in it are below all rooms, except for the clients that they log with. */
const roomOf = (file: string): string => (file.includes('/') ? (file.split('/')[0] ?? '') : '')
const floorOf = (room: string): number => (room === '' ? rooms.length : rooms.indexOf(room))

it('shared/README.md does not list every room of shared/', () => {
  const folders = globSync('*/', { cwd: shared }).map((folder) => folder.replaceAll('/', ''))
  expect(rooms.toSorted()).toEqual(folders.toSorted())
})

it('a file imports a room that is above its own', () => {
  const upward: string[] = []
  for (const file of globSync('**/*.ts', { cwd: shared })) {
    const imports = readFileSync(join(shared, file), 'utf8').matchAll(/from '(\.[^']+)'/g)
    for (const [, path = ''] of imports) {
      const target = relative(shared, join(shared, dirname(file), path))
      if (floorOf(roomOf(target)) < floorOf(roomOf(file))) upward.push(`${file} imports ${target}`)
    }
  }
  expect(upward).toEqual([])
})
