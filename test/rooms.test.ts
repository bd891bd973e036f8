import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const root = join(import.meta.dirname, '..')
const read = (file: string): string => readFileSync(join(root, file), 'utf8')

it('shared/README.md lists the rooms in the order that eslint.config.js enforces', () => {
  const linted = /const sharedRooms = \[([^\]]+)\]/.exec(read('eslint.config.js'))?.[1] ?? ''
  const described = read('shared/README.md').split('## The table')[0] ?? ''
  expect([...described.matchAll(/^\| `([\w-]+)` \|/gm)].map(([, room]) => room)).toEqual(
    [...linted.matchAll(/'([\w-]+)'/g)].map(([, room]) => room),
  )
})
