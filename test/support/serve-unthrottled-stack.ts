// Runs a local stack with demo data in a process of its own, with throttles that no load here reaches:
//   serve-unthrottled-stack.ts [DIRECTORY]   where its data is kept; by default in memory
import { startLocalStack } from '../../infra/local/local-stack.ts'
import { commonEnvironment } from './common-environment.ts'
import { ephemeral } from './ephemeral.ts'
import { serveForParent } from './serve-for-parent.ts'

await serveForParent(async () => {
  const settings = { throttleRate: '100000', mailDelaySeconds: '0' }
  const stack = await startLocalStack({
    ...ephemeral,
    dataDirectory: process.argv[2],
    demo: true,
    settings,
    showLine: () => undefined,
  })
  const { functions, region } = stack.model
  return {
    description: {
      baseUrl: stack.baseUrl,
      pageUrl: stack.pageUrl,
      logFile: stack.logFile,
      environment: commonEnvironment(functions, region, stack.awsUrl),
    },
    stop: stack.stop,
  }
})
