import type { APIGatewayProxyEventV2, Context } from 'aws-lambda'
import { createHash } from 'node:crypto'
import { interleave, median } from '../report/statistics.ts'

/** Processor time of one piece of a request, in microseconds. */
interface Piece {
  piece: string
  cpu: number
}

const repeats = 200

/** Processor time in microseconds of one run, from many runs in a row. */
async function time(run: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  for (let i = 0; i < repeats; i += 1) await run()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / repeats
}

const document = JSON.stringify({
  list: Array.from({ length: 25 }, (_, i) => ({ id: i, text: 'x'.repeat(20) })),
})

/** A work that only the machine makes faster or slower, in microseconds. */
export const yardstick = (): Promise<number> =>
  time(() => {
    for (let i = 0; i < 10; i += 1)
      createHash('sha256')
        .update(JSON.stringify(JSON.parse(document)))
        .digest('hex')
  })

/**
 * Measures parsing, validation, envelope and frame of a request, each apart, with the service's own
 * modules.
 */
export async function measurePieces(samples: number): Promise<Piece[]> {
  const { publicEndpoint } = await import('../../../shared/http/public-endpoint.ts')
  const { readParameters } = await import('../../../shared/http/request.ts')
  const { successBody } = await import('../../../shared/http/reply.ts')
  const { parseInput } = await import('../../../shared/parse-input.ts')
  const { handler: bills } = await import('../../../functions/account/bills.ts')
  const { Big } = await import('../../../shared/money.ts')
  const v = await import('valibot')

  const query = 'currency=USDT&businessId=DEPOSIT&current=1&size=20&beginTime=2026-01-01'
  const body = JSON.stringify({ email: 'somebody@example.com', login_password: 'a'.repeat(32) })
  const bill = {
    id: 'a-bill-of-a-wallet',
    currency: 'USDT',
    amount: new Big('1.000000000000000001'),
    at: 1.7e12,
  }
  const page = { current: 1, size: 20, total: 20, pages: 1, records: Array.from({ length: 20 }, () => bill) }
  const empty = publicEndpoint({ input: v.object({}), output: v.null(), run: async () => null })
  const event = {
    rawQueryString: '',
    headers: {},
    requestContext: { requestId: 'bench', http: { method: 'GET', path: '/', sourceIp: '192.0.2.1' } },
  } as unknown as APIGatewayProxyEventV2
  const raw = { path: {}, query: readParameters(query), body: undefined }

  const pieces: Record<string, () => unknown> = {
    'parsing: a query of five parameters': () => readParameters(query),
    'parsing: a body of JSON': () => JSON.parse(body) as unknown,
    'validation: the query of bills': () => parseInput(bills.description.input, raw),
    'envelope: 20 bills': () => successBody(page, 'envelope'),
    'frame: an endpoint that does nothing': () => empty(event, {} as Context),
  }
  const runs = Object.values(pieces)
  for (const run of runs) for (let i = 0; i < 5; i += 1) await time(run)
  const measured = await interleave(runs, samples, time)
  return Object.keys(pieces).map((piece, i) => ({ piece, cpu: median(measured[i] ?? []) }))
}
