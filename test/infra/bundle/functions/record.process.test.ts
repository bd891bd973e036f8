import { readFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { bundleFunctions } from '../../../../infra/bundle/functions.ts'

it('if no source has changed, functions are bundled again only if dist/functions.json is invalid', async () => {
  await bundleFunctions()
  const record = JSON.parse(readFileSync('dist/functions.json', 'utf8')) as { outputs: object }
  const marked = { ...record.outputs, 'not/bundled': 'a' }
  writeFileSync('dist/functions.json', JSON.stringify({ ...record, outputs: marked }))
  // The entry `not/bundled` is only in the record, so a result with this entry was read from the record.
  expect(Object.fromEntries(await bundleFunctions())).toEqual(marked)
  writeFileSync('dist/functions.json', '{"key":""}')
  expect(Object.fromEntries(await bundleFunctions())).toEqual(record.outputs)
  expect(JSON.parse(readFileSync('dist/functions.json', 'utf8'))).toEqual(record)
})
