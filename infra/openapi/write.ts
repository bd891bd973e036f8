import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

// The imported functions need these variables.
process.env['AWS_REGION'] ??= 'us-east-1'
process.env['BASE_URL'] ??= 'https://api.example.com'
const { openApiDocument } = await import('./document.ts')
const { asyncApiDocument } = await import('./asyncapi.ts')

/** Writes the API reference and the event reference to dist, and prints their paths. */
const directory = join(import.meta.dirname, '..', '..', 'dist')
await mkdir(directory, { recursive: true })
const documents = { 'openapi.json': await openApiDocument(), 'asyncapi.json': await asyncApiDocument() }
for (const [name, document] of Object.entries(documents)) {
  const file = join(directory, name)
  await writeFile(file, `${JSON.stringify(document, undefined, 2)}\n`)
  console.log(file)
}
