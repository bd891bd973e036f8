import { expect, it } from 'vitest'
import { fillTables } from './write-documents.ts'

const tables = [
  { name: 'costs', title: '', notes: [], rows: [{ what: 'a bill', units: 16, chain: undefined }] },
]
const fill = (document: string) => fillTables(document, tables, 'today')

it('a table of the run replaces the one of an earlier run in a document', () => {
  expect(fill('a\n<!-- bench costs -->\n\nold\n\n<!-- end -->\nz')).toBe(
    'a\n<!-- bench costs -->\n\n| what   | units | chain |\n| ------ | ----: | ----- |\n| a bill |    16 | –     |\n\nMeasured today.\n\n<!-- end -->\nz',
  )
})

it('a document may show some columns only', () => {
  expect(fill('<!-- bench costs: what, units -->\n<!-- end -->')).toContain('| what   | units |\n')
})

it('a table that the run did not measure stays in the document', () => {
  const document = '<!-- bench others -->\n\nold\n\n<!-- end -->'
  expect(fill(document)).toBe(document)
})
