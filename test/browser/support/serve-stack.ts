import type { TestProject } from 'vitest/node'
import { startLocalStack } from '../../../infra/local/local-stack.ts'
import { ephemeral } from '../../support/ephemeral.ts'

/** Where the stack of this run answers. */
export interface StackAddresses {
  baseUrl: string
  pageUrl: string
  awsUrl: string
  eventBus: string
  table: string
}

declare module 'vitest' {
  interface ProvidedContext {
    stack: StackAddresses
  }
}

/** Starts the one local stack of the run, with the demo data, on free ports; stops it at the end. */
export default async function serveStack(project: TestProject): Promise<() => Promise<void>> {
  const stack = await startLocalStack({
    ...ephemeral,
    demo: true,
    settings: {},
    showLine: (line) => console.error(line),
  })
  project.provide('stack', {
    baseUrl: stack.baseUrl,
    pageUrl: stack.pageUrl,
    awsUrl: stack.awsUrl,
    eventBus: stack.model.outputs.EventBusName ?? '',
    table: stack.model.outputs.TableName ?? '',
  })
  return stack.stop
}
