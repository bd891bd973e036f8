import type { IncomingMessage, ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { describe, expect, it, vi } from 'vitest'
import { searchStageLogs } from '../../../../infra/ops/trace/query-logs.ts'
import { serveHttp } from '../../../support/serve-http.ts'

vi.mock('node:timers/promises', () => ({ setTimeout: async () => undefined }))

interface Call {
  operation: string
  input: Record<string, unknown>
}

const row = (at: string, group: string, message: object) => [
  { field: '@timestamp', value: at },
  { field: '@log', value: `123456789012:${group}` },
  { field: '@message', value: `${JSON.stringify(message)}\n` },
]

/**
 * Searches the logs of the stage dev by a service that answers as CloudWatch Logs does: there are `groups`
 * log groups in each stack, and a query is running once before it ends with `status`.
 */
async function search(groups: number, status = 'Complete') {
  const calls: Call[] = []
  const answer = ({ operation, input }: Call): object => {
    const prefix = String(input['logGroupNamePrefix'])
    if (operation === 'DescribeLogGroups')
      return {
        logGroups: Array.from({ length: groups }, (_, i) => ({ logGroupName: `${prefix}function-${i}` })),
      }
    if (operation === 'StartQuery') return { queryId: `query-${calls.length}` }
    const asked = calls.filter(
      (call) => call.operation === operation && call.input['queryId'] === input['queryId'],
    )
    if (asked.length === 1) return { status: 'Running', results: [] }
    const results = [
      row('2026-11-22 01:02:03.004', '/account-service-dev-api/account-service-dev-user-logout', {
        message: 'request',
        timestamp: '2026-11-22T01:02:03.001Z',
        status: 200,
      }),
    ]
    return { status, results }
  }
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const operation = String(request.headers['x-amz-target']).split('.')[1] ?? ''
    const call = { operation, input: (await json(request)) as Call['input'] }
    calls.push(call)
    response.setHeader('content-type', 'application/x-amz-json-1.1').end(JSON.stringify(answer(call)))
  }
  let found: Awaited<ReturnType<ReturnType<typeof searchStageLogs>>> = []
  await serveHttp(
    (request, response) => void respond(request, response),
    async (url) => {
      vi.stubEnv('AWS_ENDPOINT_URL', url)
      const find = searchStageLogs('dev', Date.parse('2026-11-22T00:00:00Z'))
      try {
        found = await find(['JKJaXmPLvHcESHA=', 'event-one'])
      } finally {
        vi.unstubAllEnvs()
      }
    },
  )
  return { found, queries: calls.filter(({ operation }) => operation === 'StartQuery') }
}

describe('searchStageLogs', () => {
  it('asks for both ids in the log groups of the stage’s functions, and reads lines', async () => {
    const { found, queries } = await search(2)
    expect(queries.map(({ input }) => input)).toEqual([
      expect.objectContaining({
        logGroupNames: ['api', 'intake'].flatMap((stack) =>
          [0, 1].map((i) => `/account-service-dev-${stack}/function-${i}`),
        ),
        startTime: Date.parse('2026-11-22T00:00:00Z') / 1_000,
        queryString: expect.stringContaining(
          'filter @message like "JKJaXmPLvHcESHA=" or @message like "event-one"',
        ) as string,
      }),
    ])
    expect(found).toEqual([
      {
        at: Date.parse('2026-11-22T01:02:03.001Z'),
        function: 'account-service-dev-user-logout',
        fields: { message: 'request', timestamp: '2026-11-22T01:02:03.001Z', status: 200 },
      },
    ])
  })

  it('asks for at most 50 log groups in a query', async () => {
    const { queries } = await search(30)
    expect(queries.map(({ input }) => (input['logGroupNames'] as string[]).length)).toEqual([50, 10])
  })
})
