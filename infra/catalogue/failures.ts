import { type FailureName, failures, statusOf } from '../../shared/errors.ts'
import { whatToDo } from '../openapi/failures.ts'
import { markdownTable } from './markdown.ts'

/** Markdown table of every failure that a client can see, with what the client should do. */
export const describeFailures = (): string =>
  markdownTable(
    ['code', 'status', 'name', 'message', 'what to do'],
    (Object.keys(failures) as FailureName[]).map((name) => [
      String(failures[name].code),
      String(statusOf(name)),
      `\`${name}\``,
      failures[name].msg,
      whatToDo[name],
    ]),
  )
