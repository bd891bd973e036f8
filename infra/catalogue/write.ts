import { writeFileSync } from 'node:fs'

// The imported functions need these variables.
process.env['AWS_REGION'] ??= 'us-east-1'
process.env['BASE_URL'] ??= 'https://api.example.com'
const { catalogueDocuments } = await import('./documents.ts')

/** Rewrites the generated sections of every document. */
for (const { file, text } of await catalogueDocuments()) writeFileSync(file, text)
