// Imports a bundle as Lambda's runtime client does, and runs its handler for each event from the parent
// process. Plain JavaScript, so that the measured process loads no type stripper.
import { performance } from 'node:perf_hooks'
import { pathToFileURL } from 'node:url'

const [cpuBefore, startedAt] = [process.cpuUsage(), performance.now()]
const { handler } = await import(pathToFileURL(process.argv[2]).href)
process.send({ cpu: process.cpuUsage(cpuBefore), wall: performance.now() - startedAt })

process.on('message', async (event) => {
  const end = Date.now() + 10_000
  const context = { awsRequestId: 'bench', getRemainingTimeInMillis: () => Math.max(0, end - Date.now()) }
  const before = process.cpuUsage()
  const payload = JSON.stringify(await handler(JSON.parse(event), context)) ?? 'null'
  process.send({ payload, cpu: process.cpuUsage(before) })
})
