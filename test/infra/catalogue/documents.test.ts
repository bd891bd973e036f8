import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { catalogueDocuments } from '../../../infra/catalogue/documents.ts'

const root = join(import.meta.dirname, '../../..')

it('the catalogues in the documents are out of date: run `npm run catalogue`', async () => {
  for (const { file, text } of await catalogueDocuments()) expect(readFileSync(file, 'utf8'), file).toBe(text)
})

it('a key is spelled outside of itemType, so that the list of items does not show it', () => {
  const spelled: string[] = []
  for (const file of globSync('{shared,functions}/**/*.ts', { cwd: root })) {
    const lines = readFileSync(join(root, file), 'utf8').split('\n')
    lines.forEach((line, i) => {
      if (/\bpk: ['`]/.test(line) && !lines[i - 1]?.includes('itemType({')) spelled.push(`${file}:${i + 1}`)
    })
  }
  expect(spelled).toEqual([])
})
