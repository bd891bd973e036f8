// Sends load to a local stack of its own, and sends the parent how long each endpoint took:
//   run-load.ts MODULES   the directory with autocannon
import { startUnthrottledStack } from '../../support/start-unthrottled-stack.ts'
import { loadPackage } from '../peers/load-package.ts'
import { interleave, median } from '../report/statistics.ts'

/** What the load of one endpoint showed: medians over the samples. */
export interface LoadResult {
  name: string
  milliseconds: number
  perSecond: number
}

/** The part of autocannon that the benchmark uses. */
interface Autocannon {
  default: (options: object) => Promise<{
    latency: { p50: number }
    requests: { average: number }
    non2xx: number
    errors: number
  }>
}

const [, , modules = '', samplesText = '20'] = process.argv
const { default: autocannon } = await loadPackage<Autocannon>(modules, 'autocannon')
{
  await using stack = await startUnthrottledStack()
  const endpoints = await listEndpoints()
  const measured = await interleave(endpoints, Number(samplesText), async ({ path, headers }) => {
    const answer = await autocannon({ url: stack.baseUrl + path, headers, connections: 4, duration: 1 })
    const { latency, requests, non2xx, errors } = answer
    if (non2xx + errors > 0) throw new Error(`${path}: ${non2xx} answers were no success, ${errors} failed`)
    return { milliseconds: latency.p50, perSecond: requests.average }
  })
  const results = endpoints.map(({ name }, i): LoadResult => {
    const own = measured[i] ?? []
    return {
      name,
      milliseconds: median(own.map(({ milliseconds }) => milliseconds)),
      perSecond: median(own.map(({ perSecond }) => perSecond)),
    }
  })
  process.send?.(results)
}
process.disconnect()

async function listEndpoints() {
  const { bearer, createSession } = await import('../../support/oauth-clients.ts')
  const { addBills } = await import('../support/add-bills.ts')
  const { accessToken, userId } = await createSession()
  await addBills(userId, 20)
  const headers = bearer(accessToken)
  return [
    { path: '/.well-known/openid-configuration', headers: {} },
    { path: '/.well-known/jwks.json', headers: {} },
    { path: '/account/info', headers },
    { path: '/account/bills?current=1&size=20', headers },
    { path: '/dashboard/overview', headers },
  ].map((endpoint) => ({ name: `GET ${endpoint.path}`, ...endpoint }))
}
