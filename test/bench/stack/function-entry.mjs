// Runs a bundle as Lambda's runtime client does: imports it, then runs its handler for each event that comes
// from the parent process. Plain JavaScript, because stripping types would count as the function's start.
//   node function-entry.mjs BUNDLE [FILE with recorded answers, which replace the network]
import { performance } from 'node:perf_hooks'
import { pathToFileURL } from 'node:url'

const [, , bundle, answers] = process.argv
if (answers !== undefined)
  await import('./no-network.mjs').then(({ replaceNetwork }) => replaceNetwork(answers))
const [cpuBefore, startedAt] = [process.cpuUsage(), performance.now()]
const { handler } = await import(pathToFileURL(bundle).href)
process.send({ kind: 'evaluated', cpu: process.cpuUsage(cpuBefore), wall: performance.now() - startedAt })

process.on('message', async ({ event, milliseconds, repeat }) => {
  const end = Date.now() + milliseconds
  const context = { awsRequestId: 'bench', getRemainingTimeInMillis: () => Math.max(0, end - Date.now()) }
  let answer
  const before = process.cpuUsage()
  try {
    for (let i = 0; i < repeat; i += 1) {
      const payload = JSON.stringify(await handler(JSON.parse(event), context)) ?? 'null'
      answer = { kind: 'answered', payload }
    }
  } catch (error) {
    answer = { kind: 'failed', payload: JSON.stringify({ errorMessage: String(error?.stack ?? error) }) }
  }
  process.send({ ...answer, cpu: process.cpuUsage(before) })
})
