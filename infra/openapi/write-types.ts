import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import openapiTypescript, { astToString, NULL, NUMBER, STRING, tsUnion } from 'openapi-typescript'
import { writeChanged } from '../bundle/write-changed.ts'
// Writes the document that is read below.
import './write.ts'

/**
 * Writes the TypeScript types of the API reference to dist. Amounts become `number | string`, because a
 * client that keeps all digits keeps some of them as text. openapi-typescript's command cannot do this.
 */
const directory = join(import.meta.dirname, '..', '..', 'dist')
const types = await openapiTypescript(await readFile(join(directory, 'openapi.json'), 'utf8'), {
  transform: ({ format, type }) =>
    format === 'decimal'
      ? tsUnion([NUMBER, STRING, ...(Array.isArray(type) && type.includes('null') ? [NULL] : [])])
      : undefined,
})
const path = join(directory, 'openapi.d.ts')
await writeChanged([{ path, contents: Buffer.from(astToString(types)) }])
console.log(path)
