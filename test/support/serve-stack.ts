// The one stack that a test run shares, in a process of its own: the tests and the stack each have a core, and the
// stack ends with the run, however that ends. Tells its parent where it answers, and stops on its word.
import { startLocalStack } from '../../infra/local/local-stack.ts'
import { ephemeral } from './ephemeral.ts'

process.env.TZ = 'UTC'
// The run decides when to stop, also after Ctrl-C: its last look at the logs comes first.
process.on('SIGINT', () => undefined)

const stack = await startLocalStack({
  ...ephemeral,
  demo: false,
  settings: {},
  logFile: process.env.STACK_LOG_FILE,
  // What needs attention is in the log file, too; tests provoke much of it on purpose.
  showLine: () => undefined,
})
const stop = () => void stack.stop().finally(() => process.exit(0))
process.once('disconnect', stop)
process.once('message', stop)
// What functions find in their environment; the credentials are the owner's, since tests look where no function may.
process.send?.({
  baseUrl: stack.baseUrl,
  pageUrl: stack.pageUrl,
  environment: {
    ...commonEnvironment(),
    AWS_REGION: 'us-east-1',
    AWS_ENDPOINT_URL: stack.awsUrl,
    AWS_ACCESS_KEY_ID: 'owner',
    AWS_SECRET_ACCESS_KEY: 'owner',
  },
})

/** What all functions find in their environment, where those that have it agree: not, for one, the queue that feeds each. */
function commonEnvironment(): Record<string, string> {
  const values = new Map<string, Set<string>>()
  for (const { environment } of stack.model.functions) {
    for (const [name, value] of Object.entries(environment)) {
      values.set(name, (values.get(name) ?? new Set<string>()).add(value))
    }
  }
  const common = [...values].filter(([, { size }]) => size === 1)
  return Object.fromEntries(common.map(([name, [value = '']]) => [name, value]))
}
