import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { routes } from '../../../infra/routes.ts'
import { openApiDocument } from '../../../infra/openapi/document.ts'

const root = join(import.meta.dirname, '../../..')

it('the OpenAPI document describes every route except HEAD routes, and nothing else', async () => {
  const { paths } = (await openApiDocument()) as { paths: Record<string, object> }
  const described = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  const keys = routes.map(({ method, path }) => `${method} ${path}`)
  expect(described.sort()).toEqual(keys.filter((key) => !key.startsWith('HEAD ')).sort())
})

it('the OpenAPI document passes Redocly’s linter without errors or warnings', async () => {
  await promisify(execFile)(process.execPath, ['infra/openapi/write.ts'], { cwd: root })
  const lint = 'node_modules/.bin/redocly lint --config infra/openapi/redocly.yaml --format json'.split(' ')
  const { stdout } = await promisify(execFile)(process.execPath, [...lint, 'dist/openapi.json'], {
    cwd: root,
  })
  expect((JSON.parse(stdout) as { problems: unknown[] }).problems).toEqual([])
})
