import type { Intake } from '../../shared/events/intake.ts'
import { commonRejections, rejectionReasons } from '../../shared/events/rejected-event.ts'
import { inputSchema } from '../openapi/schemas.ts'
import { events } from '../events.ts'
import { markdownTable } from './markdown.ts'

/**
 * Markdown description of every event on the bus: its business key, its senders, the reasons for which it is
 * rejected, and the JSON Schema of its detail.
 */
export async function describeEvents(): Promise<string> {
  const handlers = await loadIntakes()
  const table = markdownTable(
    ['detail-type', 'business key', 'sent by', 'refused for'],
    handlers.map((handler) => [
      `[\`${handler.detailType}\`](${handler.detailType}.ts)`,
      `\`${describeKey(handler)}\``,
      sendersOf(handler).join(', '),
      handler.rejections.map((reason) => `\`${reason}\``).join(', ') || '–',
    ]),
  )
  const schemas = handlers.map(({ detailType, detail }) =>
    [`### ${detailType}`, '```json', JSON.stringify(inputSchema(detail), undefined, 2), '```'].join('\n\n'),
  )
  return [table, ...schemas].join('\n\n')
}

/**
 * Markdown table of the reasons for which events are rejected; reasons that apply to every event are marked.
 */
export const describeRejections = (): string =>
  markdownTable(
    ['reason', 'meaning', 'of'],
    Object.entries(rejectionReasons).map(([code, meaning]) => [
      `\`${code}\``,
      meaning,
      (commonRejections as readonly string[]).includes(code) ? 'any event' : 'the events that name it',
    ]),
  )

/** Loads the intake handlers of all events, in the order of infra/events.ts. */
export const loadIntakes = (): Promise<Intake[]> =>
  Promise.all(events.map(({ detailType }) => loadIntake(detailType)))

async function loadIntake(detailType: string): Promise<Intake> {
  const file = new URL(`../../functions/intake/${detailType}.ts`, import.meta.url).href
  return ((await import(file)) as { handler: Intake }).handler
}

const sendersOf = ({ detailType }: Intake): readonly string[] =>
  events.find((event) => event.detailType === detailType)?.senders ?? []

/**
 * Writes a business key as a template, by computing it for a detail in which each member has its own name as
 * value.
 */
function describeKey(handler: Intake): string {
  const names = new Proxy({}, { get: (_, name) => `{${String(name)}}` })
  return handler.key(names as never)
}
