import { writeFileSync } from 'node:fs'
import { catalogueDocuments } from './documents.ts'

// Sets the environment variable that AWS clients need: modules that declare items create AWS clients.
process.env['AWS_REGION'] ??= 'us-east-1'

/** Rewrites the generated sections of every document. */
for (const { file, text } of await catalogueDocuments()) writeFileSync(file, text)
