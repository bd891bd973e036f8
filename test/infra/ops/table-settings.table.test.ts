import {
  DynamoDBClient,
  ListTagsOfResourceCommand,
  TagResourceCommand,
  DescribeContinuousBackupsCommand,
  UpdateContinuousBackupsCommand,
  UpdateTableCommand,
} from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { runOps } from '../../../infra/ops/command-line.ts'
import { checkTable } from '../../../infra/ops/table-settings.ts'
import { clientOptions } from '../../../shared/aws/client-options.ts'
import { tableName } from '../../../shared/db/table.ts'
import { useOwnTable } from '../../support/own-table.ts'

interface Sender {
  send: (this: unknown, command: object, ...rest: unknown[]) => unknown
}

/** Answers in place of what DynamoDB Local does not have: tags, in pages, and point-in-time recovery. */
function simulateRecoveryAndTags(): void {
  const tags = new Map([['owner', 'accounts']])
  let days: number | undefined
  const { send } = DynamoDBClient.prototype as unknown as Sender
  const answer = function (this: unknown, command: object, ...rest: unknown[]): unknown {
    if (command instanceof TagResourceCommand) {
      for (const { Key = '', Value = '' } of command.input.Tags ?? []) tags.set(Key, Value)
      return {}
    }
    if (command instanceof ListTagsOfResourceCommand) {
      const start = Number(command.input.NextToken ?? 0)
      const [Key, Value] = [...tags][start] ?? []
      return { Tags: [{ Key, Value }], NextToken: start + 1 < tags.size ? String(start + 1) : undefined }
    }
    if (command instanceof UpdateContinuousBackupsCommand) {
      days = command.input.PointInTimeRecoverySpecification?.RecoveryPeriodInDays
      return {}
    }
    if (command instanceof DescribeContinuousBackupsCommand) {
      const PointInTimeRecoveryStatus = days === undefined ? 'DISABLED' : 'ENABLED'
      const PointInTimeRecoveryDescription = { PointInTimeRecoveryStatus, RecoveryPeriodInDays: days }
      return { ContinuousBackupsDescription: { PointInTimeRecoveryDescription } }
    }
    return send.call(this, command, ...rest)
  }
  vi.spyOn(DynamoDBClient.prototype, 'send').mockImplementation(answer as never)
}

describe('the settings of a restored table', () => {
  const wanted = { deletionProtection: true, tags: { service: 'account-service', stage: 'prod' } }
  const differing = async (apply: boolean) =>
    (await checkTable(table, wanted, apply))
      .filter((setting) => setting.wanted !== setting.actual)
      .map(({ setting }) => setting)
  let dropTable = async () => {}
  let table = ''

  beforeAll(async () => {
    dropTable = await useOwnTable()
    table = tableName()
    simulateRecoveryAndTags()
  })
  afterAll(async () => {
    const client = new DynamoDBClient(clientOptions())
    await client.send(new UpdateTableCommand({ TableName: table, DeletionProtectionEnabled: false }))
    client.destroy()
    await dropTable()
  })

  it('settings that a restored table lacks are found, and set with --apply', async () => {
    const all = ['time to live', 'point-in-time recovery', 'deletion protection', 'tags']
    expect(await differing(false)).toEqual(all)
    expect(await differing(false)).toEqual(all)
    expect(await differing(true)).toEqual(all)
    await expect.poll(() => differing(false), { timeout: 10_000 }).toEqual([])
  })

  it('a stage that does not protect its data has no deletion protection', async () => {
    const settings = await checkTable(table, { ...wanted, deletionProtection: false }, false)
    expect(settings.map(({ setting }) => setting)).not.toContain('deletion protection')
  })

  it('the command refuses a local stack, which has no such settings', async () => {
    const lines: string[] = []
    const terminal = {
      out: () => undefined,
      err: (line: string) => void lines.push(line),
      readInput: () => (async function* () {})(),
      interactive: false,
    }
    const line = ['--endpoint-url', process.env['AWS_ENDPOINT_URL'] ?? '', 'table', 'settings']
    expect(await runOps(line, terminal)).toBe(2)
    expect(lines.join()).toContain('name a --stage')
  })
})
