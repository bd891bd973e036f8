import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge'
import { clientOptions } from '../aws/client-options.ts'
import { requireEnv } from '../env.ts'
import { retry } from '../retry.ts'

/** The `source` of events that this service sends. */
const source = 'account-service'

// This timeout is shorter than that of other clients, because a client waits for the answer meanwhile.
const bus = new EventBridgeClient({
  ...clientOptions(),
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 2_000, throwOnRequestTimeout: true },
  maxAttempts: 2,
})

/** Puts an event on the service's own bus. Throws when the bus does not accept it. */
export const publishEvent = (detailType: string, detail: object): Promise<void> =>
  retry(() => putEvent(detailType, detail), isPassingRefusal)

async function putEvent(detailType: string, detail: object): Promise<void> {
  const { Entries = [] } = await bus.send(
    new PutEventsCommand({
      Entries: [
        {
          EventBusName: requireEnv('EVENT_BUS_NAME'),
          Source: source,
          DetailType: detailType,
          Detail: JSON.stringify(detail),
        },
      ],
    }),
  )
  const code = Entries[0]?.ErrorCode
  if (code !== undefined) throw new RefusedEntry(code)
}

/** The bus accepted a request but not its entry; the name is the entry's error code. */
class RefusedEntry extends Error {
  constructor(code: string) {
    super('the bus refused an event')
    this.name = code
  }
}

/** Whether an entry may be sent again (EventBridge: PutEvents); the SDK repeats only whole requests. */
const isPassingRefusal = (error: unknown): boolean =>
  error instanceof RefusedEntry && ['ThrottlingException', 'InternalFailure'].includes(error.name)
