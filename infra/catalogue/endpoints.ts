import { openApiDocument } from '../openapi/document.ts'
import type { JsonSchema } from '../openapi/schemas.ts'
import { markdownTable } from './markdown.ts'

interface Operation {
  summary: string
  security: { accessToken?: string[]; clientSecret?: string[] }[]
}

/** Markdown table of every endpoint: what it is for, and which token or credentials it takes. */
export async function describeEndpoints(): Promise<string> {
  const { paths } = (await openApiDocument()) as { paths: Record<string, Record<string, JsonSchema>> }
  const rows = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => {
      const { summary, security } = operation as unknown as Operation
      return [method.toUpperCase(), `\`${path}\``, summary, describeCredentials(security)]
    }),
  )
  return markdownTable(['method', 'path', 'what for', 'scope'], rows)
}

function describeCredentials(security: Operation['security']): string {
  const [scope] = security.flatMap(({ accessToken = [] }) => accessToken)
  if (scope !== undefined) return scope === 'first-party' ? 'first-party' : `\`${scope}\``
  return security.some(({ clientSecret }) => clientSecret) ? 'none, or the client’s secret' : 'none'
}
