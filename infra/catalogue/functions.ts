import { defaultMemoryMegabytes, defaultTimeoutSeconds, type Permissions } from '../permissions.ts'
import { events } from '../events.ts'
import { routes } from '../routes.ts'
import { schedules, workers } from '../workers-and-schedules.ts'
import { markdownTable } from './markdown.ts'

/** Markdown table of every Lambda function: what calls it, the file of its handler, and its permissions. */
export function describeFunctions(): string {
  const rows = [
    ...routes.map(({ method, path, entry, public: open, permissions }) => [
      `\`${method} ${path}\`${open ? ' (open to everyone)' : ''}`,
      file(entry),
      ...cells(permissions, defaultTimeoutSeconds.endpoint),
    ]),
    ...events.map(({ detailType, permissions }) => [
      `event \`${detailType}\``,
      file(`intake/${detailType}`),
      ...cells(permissions, defaultTimeoutSeconds.event),
    ]),
    ...workers.map(({ name, permissions }) => [
      `queue \`${name}\``,
      file(`worker/${name}`),
      ...cells(permissions, defaultTimeoutSeconds.worker),
    ]),
    ...schedules.map(({ name, rate, permissions }) => [
      `\`${rate}\``,
      file(`schedule/${name}`),
      ...cells(permissions, defaultTimeoutSeconds.schedule),
    ]),
  ]
  return markdownTable(['called by', 'file', 'may', 'MB', 'seconds'], rows)
}

const file = (entry: string): string => `[\`${entry}.ts\`](${entry}.ts)`

function cells(permissions: Permissions, defaultTimeout: number): string[] {
  const { memory = defaultMemoryMegabytes, timeout = defaultTimeout } = permissions
  return [describePermissions(permissions), String(memory), String(timeout)]
}

const quote = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(' ')

/** Writes permissions as text, in the order of infra/permissions.ts. */
function describePermissions(permissions: Permissions): string {
  const {
    table = {},
    index = [],
    macKey = [],
    totpKey = [],
    signingKeys,
    publish = [],
    mail,
    queues = [],
  } = permissions
  const words = [
    ...Object.entries(table).map(([action, keys]) => `${action} ${quote(keys)}`),
    ...(index.length > 0 ? [`Query ${quote(index)} in the index`] : []),
    ...macKey.map((action) => `MAC key: ${action}`),
    ...totpKey.map((action) => `TOTP key: ${action}`),
    ...(signingKeys === undefined ? [] : [`signing keys: ${signingKeys}`]),
    ...publish.map((detailType) => `put events ${detailType}`),
    ...(mail ? ['send mail'] : []),
    ...queues.map((queue) => `send to queue ${queue}`),
  ]
  return words.join('; ') || 'nothing'
}
