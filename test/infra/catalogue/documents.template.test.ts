import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { catalogueDocuments } from '../../../infra/catalogue/documents.ts'

const root = join(import.meta.dirname, '../../..')

it('the catalogues in the documents match the code (npm run catalogue updates them)', async () => {
  for (const { file, text } of await catalogueDocuments()) expect(readFileSync(file, 'utf8'), file).toBe(text)
})

it('every key of the table is declared with itemType, so that the generated list of items shows it', () => {
  const spelled: string[] = []
  for (const file of globSync('{shared,functions}/**/*.ts', { cwd: root })) {
    const lines = readFileSync(join(root, file), 'utf8').split('\n')
    lines.forEach((line, i) => {
      const declared = lines.slice(Math.max(0, i - 2), i).some((before) => before.includes('itemType({'))
      if (/\bpk: ['`]/.test(line) && !declared) spelled.push(`${file}:${i + 1}`)
    })
  }
  expect(spelled).toEqual([])
})
