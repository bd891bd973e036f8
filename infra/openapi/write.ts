import { join } from 'node:path'
import { writeChanged } from '../bundle/write-changed.ts'

// The imported functions need these variables.
process.env['AWS_REGION'] ??= 'us-east-1'
process.env['BASE_URL'] ??= 'https://api.example.com'
const { openApiDocument } = await import('./document.ts')
const { asyncApiDocument } = await import('./asyncapi.ts')

/** Writes the API reference and the event reference to dist, and prints their paths. */
const directory = join(import.meta.dirname, '..', '..', 'dist')
const documents = { 'openapi.json': await openApiDocument(), 'asyncapi.json': await asyncApiDocument() }
for (const [name, document] of Object.entries(documents)) {
  const path = join(directory, name)
  await writeChanged([{ path, contents: Buffer.from(`${JSON.stringify(document, undefined, 2)}\n`) }])
  console.log(path)
}
