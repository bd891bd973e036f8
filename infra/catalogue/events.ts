import { asyncApiDocument } from '../openapi/asyncapi.ts'
import { ownSource } from '../../shared/env.ts'
import { markdownTable } from './markdown.ts'

interface Message {
  name: string
  description: string
  'x-senders': string[]
  'x-business-key': string
}

/** Markdown table of the events that senders put on the bus: what each does, who sends it, and its key. */
export async function describeEvents(): Promise<string> {
  const { components } = (await asyncApiDocument()) as { components: { messages: Record<string, Message> } }
  const rows = Object.values(components.messages)
    .filter((message) => message['x-senders'].some((sender) => sender !== ownSource))
    .map((message) => [
      `\`${message.name}\``,
      firstSentence(message.description),
      message['x-senders'].join(', '),
      `\`${message['x-business-key']}\``,
    ])
  return markdownTable(['detail-type', 'what it does', 'senders', 'business key'], rows)
}

const firstSentence = (text: string): string => /^.*?\.(?= |$)/.exec(text)?.[0] ?? text
