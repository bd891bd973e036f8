import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { routes } from '../../../infra/routes.ts'
import { openApiDocument } from '../../../infra/openapi/document.ts'

const root = join(import.meta.dirname, '../../..')

it('the OpenAPI document describes every route but HEAD, and no other', async () => {
  const { paths } = (await openApiDocument()) as { paths: Record<string, object> }
  const described = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  const keys = routes.map(({ method, path }) => `${method} ${path}`)
  expect(described.sort()).toEqual(keys.filter((key) => !key.startsWith('HEAD ')).sort())
})

interface Described {
  headers?: Record<string, unknown>
  content?: Record<string, { schema: object; examples?: Record<string, { value: object }> }>
}

it('the OpenAPI document gives every operation API Gateway’s own answers, which have no envelope', async () => {
  const { paths } = (await openApiDocument()) as {
    paths: Record<string, Record<string, { responses: Record<string, Described> }>>
  }
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
  for (const { responses } of operations) {
    const messages = Object.entries(responses).flatMap(([status, { content }]) => {
      const json = content?.['application/json']
      const example = json?.examples?.['api_gateway']?.value
      return example === undefined ? [] : [[status, example, JSON.stringify(json?.schema)]]
    })
    const schema = expect.stringContaining('#/components/schemas/GatewayFailure') as string
    expect(messages).toEqual([
      ['413', { message: 'Request Entity Too Large' }, schema],
      ['429', { message: 'Too Many Requests' }, schema],
      ['500', { message: 'Internal Server Error' }, schema],
      ['503', { message: 'Service Unavailable' }, schema],
    ])
    for (const status of ['429', '503']) expect(responses[status]?.headers).toHaveProperty('retry-after')
  }
  expect(operations).not.toEqual([])
})

it('the OpenAPI document passes Redocly’s linter without errors or warnings', async () => {
  await promisify(execFile)(process.execPath, ['infra/openapi/write.ts'], { cwd: root })
  const lint = [
    'node_modules/.bin/redocly',
    'lint',
    '--config',
    'infra/openapi/redocly.yaml',
    '--format',
    'json',
  ]
  const { stdout } = await promisify(execFile)(process.execPath, [...lint, 'dist/openapi.json'], {
    cwd: root,
  })
  expect((JSON.parse(stdout) as { problems: unknown[] }).problems).toEqual([])
})
