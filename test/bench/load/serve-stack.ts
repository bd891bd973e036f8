// Runs the local stack for load in a process of its own, with throttles that no load here reaches.
import { startLocalStack } from '../../../infra/local/local-stack.ts'
import { commonEnvironment } from '../../support/common-environment.ts'
import { ephemeral } from '../../support/ephemeral.ts'
import { serveForParent } from '../../support/serve-for-parent.ts'

await serveForParent(async () => {
  const settings = { throttleRate: '100000', throttleBurst: '100000' }
  const stack = await startLocalStack({ ...ephemeral, demo: false, settings, showLine: () => undefined })
  const { functions, region } = stack.model
  return {
    description: { baseUrl: stack.baseUrl, environment: commonEnvironment(functions, region, stack.awsUrl) },
    stop: stack.stop,
  }
})
