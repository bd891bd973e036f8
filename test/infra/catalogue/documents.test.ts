import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { catalogueDocuments } from '../../../infra/catalogue/documents.ts'

it('the catalogues in the documents are out of date: run `npm run catalogue`', async () => {
  for (const { file, text } of await catalogueDocuments()) expect(readFileSync(file, 'utf8'), file).toBe(text)
})
