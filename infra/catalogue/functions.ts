import { defaultMemoryMegabytes, defaultTimeoutSeconds, type Permissions } from '../permissions.ts'
import { events } from '../events.ts'
import { routes } from '../routes.ts'
import { schedules, workers } from '../workers-and-schedules.ts'
import { markdownTable } from './markdown.ts'

/** Markdown table of every Lambda function: what calls it, its file, its memory and its time limit. */
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
  return markdownTable(['called by', 'file', 'MB', 'seconds'], rows)
}

const file = (entry: string): string => `[\`${entry}.ts\`](${entry}.ts)`

function cells(permissions: Permissions, defaultTimeout: number): string[] {
  const { memory = defaultMemoryMegabytes, timeout = defaultTimeout } = permissions
  return [String(memory), String(timeout)]
}
