import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

// The functions are imported for their schemas, and what they read when they are loaded must be there.
process.env['AWS_REGION'] ??= 'us-east-1'
process.env['BASE_URL'] ??= 'https://api.example.com'
const { openApiDocument } = await import('./document.ts')

/** Writes dist/openapi.json. */
const directory = join(import.meta.dirname, '..', '..', 'dist')
await mkdir(directory, { recursive: true })
const file = join(directory, 'openapi.json')
await writeFile(file, `${JSON.stringify(await openApiDocument(), undefined, 2)}\n`)
console.log(file)
