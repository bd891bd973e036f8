import { writeFileSync } from 'node:fs'
import { catalogueDocuments } from './documents.ts'

// The modules that declare items create AWS clients, which need a region.
process.env['AWS_REGION'] ??= 'us-east-1'

/** Rewrites the generated sections of every document. */
for (const { file, text } of await catalogueDocuments()) writeFileSync(file, text)
