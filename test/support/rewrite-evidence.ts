// Forges evidence, as an attacker with the permissions of the key rotation could. Replaces the `run_id` of
// the first record with the command-line argument, then hashes and signs all records again.
import { PutCommand } from '@aws-sdk/lib-dynamodb'
import { db, tableName } from '../../shared/db/table.ts'
import { evidenceHash, evidenceKey, readEvidence } from '../../shared/keys/evidence.ts'
import { signEvidence } from '../../shared/keys/kms.ts'
import { readKeySet, writeKeySet } from '../../shared/keys/set.ts'

let previous: string | null = null
for (const record of await readEvidence()) {
  const run_id = record.sequence === 1 ? String(process.argv[2]) : record.run_id
  const content = { ...record, run_id, previous_hash: previous }
  const signed = await signEvidence({ ...content, hash: evidenceHash(content) })
  previous = signed.hash
  const Item = { ...signed, ...evidenceKey(record.sequence) }
  await db.send(new PutCommand({ TableName: tableName(), Item }))
}
const keySet = await readKeySet()
await writeKeySet(keySet, { ...keySet, evidence_hash: previous })
