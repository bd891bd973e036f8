import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

// Importing the functions for their schemas creates AWS clients, which need these variables.
process.env['AWS_REGION'] ??= 'us-east-1'
process.env['BASE_URL'] ??= 'https://api.example.com'
const { openApiDocument } = await import('./document.ts')

/** Writes the OpenAPI document to dist/openapi.json and prints its path. */
const directory = join(import.meta.dirname, '..', '..', 'dist')
await mkdir(directory, { recursive: true })
const file = join(directory, 'openapi.json')
await writeFile(file, `${JSON.stringify(await openApiDocument(), undefined, 2)}\n`)
console.log(file)
