import { writeFileSync } from 'node:fs'
import { catalogueDocuments } from './documents.ts'

// Sets a region, because catalogueDocuments loads modules that create AWS clients, which need a region.
process.env['AWS_REGION'] ??= 'us-east-1'

/** Rewrites the generated sections of every document. */
for (const { file, text } of await catalogueDocuments()) writeFileSync(file, text)
