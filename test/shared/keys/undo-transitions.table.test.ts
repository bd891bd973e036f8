import { expect, it } from 'vitest'
import { queryFirst } from '../../../shared/db/read.ts'
import { writeChange } from '../../../shared/db/write.ts'
import { type Evidence, putEvidence } from '../../../shared/keys/evidence.ts'
import {
  emptyKeySet,
  putArchived,
  type SigningKey,
  signingKeySetKey,
  writeKeySet,
} from '../../../shared/keys/set.ts'
import { undoTransitions } from '../../../shared/keys/undo-transitions.ts'
import { useOwnTable } from '../../support/own-table.ts'
import { recordStates, restoreStates, writeAll } from '../../support/torn-table.ts'

const retired: SigningKey = {
  kid: 'retired',
  arn: 'arn',
  n: 'n',
  e: 'AQAB',
  state: 'retired',
  published_at: 1,
  active_at: 1,
  retiring_at: 1,
  retired_at: 1,
  remove_after: 1,
  drain_ms: 1,
}

it('after a restore that tore a key transition, the transition can be made again', async () => {
  const dropTable = await useOwnTable()
  try {
    const first = { ...emptyKeySet, sequence: 1, keys: [retired] }
    const evidenceOf = (sequence: number) => ({ sequence }) as Evidence
    await writeKeySet(emptyKeySet, first, [putEvidence(evidenceOf(1))])
    const archive = () =>
      writeKeySet({ ...first, version: 1 }, { ...first, sequence: 2, keys: [] }, [
        putEvidence(evidenceOf(2)),
        putArchived(retired),
      ])
    const recorded = await recordStates(archive)
    await restoreStates(recorded, ([before, after], i) => (recorded[i]?.key.sk === 'RING' ? before : after))
    expect(await archive()).toBe(false)

    const query = {
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': signingKeySetKey.pk },
      ConsistentRead: true,
    }
    const changes = undoTransitions(await queryFirst(query, 10))
    expect(changes.map(({ before }) => before?.['sk'])).toEqual(['EVIDENCE#000000000002', 'RETIRED#retired'])
    await writeAll(changes.map(writeChange))
    expect(await archive()).toBe(true)
    expect(undoTransitions(await queryFirst(query, 10))).toEqual([])
  } finally {
    await dropTable()
  }
})
