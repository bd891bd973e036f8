import type { Intake } from '../../shared/events/intake.ts'
import { commonRejections, rejectionReasons } from '../../shared/events/rejected-event.ts'
import { eventSchemas, loadIntakes } from '../openapi/event-schemas.ts'
import { type JsonSchema, members } from '../openapi/schemas.ts'
import { events } from '../events.ts'
import { markdownTable } from './markdown.ts'

/** Markdown table of every event: its business key, members, senders, and reasons for rejection. */
export async function describeEvents(): Promise<string> {
  const schemas = await eventSchemas()
  return markdownTable(
    ['detail-type', 'business key', 'members of the detail', 'sent by', 'refused for'],
    (await loadIntakes()).map((handler) => [
      `[\`${handler.detailType}\`](${handler.detailType}.ts)`,
      `\`${describeKey(handler)}\``,
      describeMembers(schemas[handler.detailType]),
      sendersOf(handler).join(', '),
      handler.rejections.map((reason) => `\`${reason}\``).join(', ') || '–',
    ]),
  )
}

/** The names of an object's members; optional ones have a question mark. */
const describeMembers = (schema: JsonSchema = {}): string =>
  members({ properties: { detail: schema } }, 'detail')
    .map(({ name, required }) => (required ? name : `${name}?`))
    .join(', ')

/** Markdown table of the reasons for which events are rejected; it marks those that every event has. */
export const describeRejections = (): string =>
  markdownTable(
    ['reason', 'meaning', 'of any event'],
    Object.entries(rejectionReasons).map(([code, meaning]) => [
      `\`${code}\``,
      meaning,
      (commonRejections as readonly string[]).includes(code) ? 'yes' : '',
    ]),
  )

const sendersOf = ({ detailType }: Intake): readonly string[] =>
  events.find((event) => event.detailType === detailType)?.senders ?? []

/** Writes a business key as a template: computes it from a detail in which each value is its own name. */
function describeKey(handler: Intake): string {
  const names = new Proxy({}, { get: (_, name) => `{${String(name)}}` })
  return handler.key(names)
}
