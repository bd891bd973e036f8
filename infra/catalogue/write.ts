import { writeFileSync } from 'node:fs'

// The functions are imported for their schemas, and read these when they are loaded.
process.env['AWS_REGION'] ??= 'us-east-1'
process.env['BASE_URL'] ??= 'https://api.example.com'
const { catalogueDocuments } = await import('./documents.ts')

/** Writes the generated sections of every document. */
for (const { file, text } of await catalogueDocuments()) writeFileSync(file, text)
