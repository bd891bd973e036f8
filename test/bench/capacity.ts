// Updates the tables in infra/CAPACITY.md from the figures in test/infra/capacity:
//   node test/bench/capacity.ts
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { format, resolveConfig } from 'prettier'
import { fillTables } from '../infra/capacity/tables.ts'

const file = join(import.meta.dirname, '../../infra/CAPACITY.md')
const filled = fillTables(readFileSync(file, 'utf8'))
writeFileSync(file, await format(filled, { ...(await resolveConfig(file)), filepath: file }))
