import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const root = join(import.meta.dirname, '../../..')

it('every AWS client of the functions is made by awsClient, which gives its calls a deadline', () => {
  const clients = globSync('{functions,shared}/**/*.ts', { cwd: root }).flatMap((file) => {
    const source = readFileSync(join(root, file), 'utf8')
    const made = source.match(/[\w.(\s]*new \w+Client\(/g) ?? []
    return made.map((text) => `${file}: ${text.replaceAll(/\s+/g, '')}`)
  })
  expect(clients.length).toBeGreaterThan(5)
  expect(clients.filter((text) => !text.includes('awsClient('))).toEqual([])
})
