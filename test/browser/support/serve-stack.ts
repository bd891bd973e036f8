import type { TestProject } from 'vitest/node'
import { startLocalStack } from '../../../infra/local/local-stack.ts'
import { ephemeral } from '../../support/ephemeral.ts'

/** Addresses and resource names of the local stack that the browser tests share. */
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

/** Starts one local stack with demo data for the whole test run, on free ports, and stops it at the end. */
export default async function serveStack(project: TestProject): Promise<() => Promise<void>> {
  const stack = await startLocalStack({
    ...ephemeral,
    demo: true,
    settings: { mailDelaySeconds: '1' },
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
