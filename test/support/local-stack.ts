import { inject } from 'vitest'
import type { StackDescription } from '../../infra/local/console/describe-stack.ts'

/** The local stack that all tests of a project share; nothing is kept after the run. */
export interface TestStack extends StackDescription {
  page_url: string
  /** File with the functions' newest log lines. A line can be written shortly after the answer is sent. */
  logFile: string
  /** Environment, with AWS credentials, for tests that call functions in their own process. */
  environment: Record<string, string>
}

let shared: Promise<TestStack> | undefined

/**
 * Returns the shared local stack once it has started. Tests must use users and clients of their own, because
 * they share the stack.
 */
export function useLocalStack(): Promise<TestStack> {
  return (shared ??= askBroker())
}

/** A mail in the local stack's outbox. */
export interface Mail {
  to: string
  subject: string
  text: string
  sent_at: number
}

/** Reads the mails in the outbox that were sent to one address, newest first. */
export async function readOutbox(to: string): Promise<Mail[]> {
  const { base_url: baseUrl } = await useLocalStack()
  const response = await fetch(`${baseUrl}/_local/outbox?${new URLSearchParams({ to }).toString()}`)
  const { messages } = (await response.json()) as { messages: Mail[] }
  return messages
}

async function askBroker(): Promise<TestStack> {
  const response = await fetch(inject('broker'))
  if (!response.ok) throw new Error(await response.text())
  const { baseUrl, pageUrl, logFile, environment } = (await response.json()) as {
    baseUrl: string
    pageUrl: string
    logFile: string
    environment: Record<string, string>
  }
  const described = await fetch(`${baseUrl}/_local/stack`)
  return { ...((await described.json()) as StackDescription), page_url: pageUrl, logFile, environment }
}
