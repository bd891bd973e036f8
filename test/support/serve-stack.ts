// Runs a local stack that tests share, in a separate process, so that tests and stack each have a core.
// STACK_UNTHROTTLED=true adds demo data, and sets API rate limits that no test reaches.
import { appendFileSync } from 'node:fs'
import { startLocalStack } from '../../infra/local/local-stack.ts'
import { parseQuirks } from '../../infra/local/quirks.ts'
import { synthesizeLocalStage } from '../../infra/local/stage.ts'
import { commonEnvironment } from './common-environment.ts'
import { answered500 } from './quirks.ts'
import { ephemeral } from './ephemeral.ts'
import { serveForParent } from './serve-for-parent.ts'
import { withTester } from './tester.ts'

process.env.TZ = 'UTC'

const logFile = process.env.STACK_LOG_FILE
const isUnthrottled = process.env.STACK_UNTHROTTLED === 'true'
const unthrottled = { throttleRate: '100000' }

await serveForParent(async () => {
  const stack = await startLocalStack({
    ...ephemeral,
    dataDirectory: process.env.STACK_DATA,
    demo: isUnthrottled || process.env.STACK_DEMO === 'true',
    // Mails every code without delay. By default, the mail to a user with an authenticator is delayed.
    settings: { mailDelaySeconds: '0', auditTrail: 'true', ...(isUnthrottled && unthrottled) },
    aws: process.env.STACK_QUIRKS === undefined ? undefined : parseQuirks(process.env.STACK_QUIRKS),
    logFile,
    synthesize: withTester(synthesizeLocalStage),
    // Shows no warnings, because tests provoke many of them. The log file has them.
    showLine: (line) =>
      logFile !== undefined && line.endsWith(answered500) && appendFileSync(logFile, `${line}\n`),
  })
  return {
    description: {
      baseUrl: stack.baseUrl,
      pageUrl: stack.pageUrl,
      logFile: stack.logFile,
      pid: process.pid,
      environment: commonEnvironment(stack.model.functions, stack.model.region, stack.awsUrl),
    },
    stop: stack.stop,
  }
})
