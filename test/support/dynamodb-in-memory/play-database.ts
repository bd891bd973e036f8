import { DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { clientOptions } from '../../../shared/aws/client-options.ts'
import { tableName } from '../../../shared/db/table.ts'
import { tamperCalls } from '../tamper-calls.ts'
import { Database, type DrawLag } from './database.ts'

type Next = (call: { input: object }) => Promise<unknown>
interface Signer {
  sign: (request: unknown, ...options: unknown[]) => Promise<unknown>
}
interface Client {
  config: {
    protocol: { deserializeResponse: (...of: unknown[]) => Promise<unknown> }
    signer: (...of: unknown[]) => Promise<Signer>
  }
  middlewareStack: { add: (middleware: object, options: object) => void }
}

class Answer {
  readonly output: object

  constructor(output: object) {
    this.output = output
  }
}

let current: Database | undefined
let sharedTable: object = {}
let isAnswering = false

/** Prepares the DynamoDB clients of this process for the in-memory databases that `beginDatabase` starts. */
export async function installDatabase(): Promise<void> {
  answerClients()
  const client = new DynamoDBClient(clientOptions())
  const { Table } = await client.send(new DescribeTableCommand({ TableName: tableName() }))
  client.destroy()
  sharedTable = Table ?? {}
}

/** Starts an in-memory database, which answers all DynamoDB calls. Its one table has no index. */
export function beginPlainDatabase(drawLag?: DrawLag): void {
  answerClients()
  const [pk, sk] = ['HASH', 'RANGE'].map((KeyType, i) => ({ AttributeName: ['pk', 'sk'][i], KeyType }))
  sharedTable = { TableName: tableName(), KeySchema: [pk, sk] }
  beginDatabase(() => Date.now(), drawLag)
}

/** Starts an in-memory database, which answers all DynamoDB calls. Call `installDatabase` first. */
export function beginDatabase(now: () => number, drawLag?: DrawLag): void {
  current = new Database(now, drawLag)
  current.run('CreateTable', sharedTable)
}

/** Stops the in-memory database, so that DynamoDB Local answers all DynamoDB calls again. */
export function endDatabase(): void {
  current = undefined
}

/** Lets the in-memory database answer DynamoDB calls, without signing and parsing. The SDK still retries. */
function answerClients(): void {
  if (isAnswering) return
  isAnswering = true
  const prepared = new WeakSet<object>()
  tamperCalls(({ client, perform }) => {
    const isDynamodb = client instanceof DynamoDBClient || client instanceof DynamoDBDocumentClient
    const { middlewareStack, config } = client as unknown as Client
    if (isDynamodb && !prepared.has(middlewareStack)) {
      prepared.add(middlewareStack)
      middlewareStack.add(
        (next: Next, { commandName = '' }: { commandName?: string }) =>
          async (call: { input: object }) => {
            if (current === undefined) return next(call)
            return { response: new Answer(current.run(commandName.replace(/Command$/, ''), call.input)) }
          },
        // Low priority makes this middleware the last one before the network.
        { step: 'deserialize', priority: 'low', name: 'database' },
      )
      answerConfig(config)
    }
    return perform()
  })
}

function answerConfig(config: Client['config']): void {
  const { signer: getSigner, protocol } = config
  config.signer = async (...of) => {
    const signer = await getSigner(...of)
    const sign: Signer['sign'] = (request, ...options) =>
      current === undefined ? signer.sign(request, ...options) : Promise.resolve(request)
    return { sign }
  }
  const read = protocol.deserializeResponse.bind(protocol)
  protocol.deserializeResponse = async (...of) => {
    const response = of.at(-1)
    return response instanceof Answer ? { ...response.output, $metadata: {} } : read(...of)
  }
}
