import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { openApiDocument } from '../../../infra/openapi/document.ts'
import type { JsonSchema } from '../../../infra/openapi/schemas.ts'
import { closeSchema } from '../../support/described-answer.ts'

interface Media {
  schema: JsonSchema
  example?: unknown
}

interface Operation {
  requestBody?: { content: Record<string, Media> }
  responses: Record<string, { content?: Record<string, Media> }>
}

const { paths } = (await openApiDocument()) as { paths: Record<string, Record<string, Operation>> }

/** Every example of a request or of a successful answer in the API reference, with its schema. */
const examples = Object.entries(paths).flatMap(([path, operations]) =>
  Object.entries(operations).flatMap(([method, { requestBody, responses }]) => {
    const name = `${method.toUpperCase()} ${path}`
    const request = requestBody?.content['application/json']
    const answer = responses['200']?.content?.['application/json']
    return [
      ...(request?.example === undefined ? [] : [{ name: `the request of ${name}`, ...request }]),
      ...(answer === undefined ? [] : [{ name: `the answer of ${name}`, ...answer }]),
    ]
  }),
)

describe('examples in the API reference', () => {
  it.each(examples)(
    'the example in the API reference is valid by its schema: $name',
    ({ schema, example }) => {
      const ajv = new Ajv2020({ strict: false, allErrors: true })
      ajv.validate(closeSchema(schema) as object, example)
      expect(ajv.errors).toBeNull()
    },
  )
})
