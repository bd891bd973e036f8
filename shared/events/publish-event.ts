import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge'
import { awsClient } from '../aws/aws-client.ts'
import { clientOptions } from '../aws/client-options.ts'
import { requireEnv, ownSource } from '../env.ts'
import { isUnavailable } from '../faults.ts'
import { log } from '../log.ts'
import { retry } from '../retry.ts'

// A sign-in has to wait for this call, so the SDK makes only two attempts. If both fail, the mail is not
// requested, but a user with an authenticator can still sign in.
const bus = awsClient(new EventBridgeClient({ ...clientOptions(), maxAttempts: 2 }))

/** Puts an event on the service's own bus. Throws when the bus does not accept it. */
export const publishEvent = (detailType: string, detail: object): Promise<void> =>
  retry(() => putEvent(detailType, detail), isPassingRefusal)

async function putEvent(detailType: string, detail: object): Promise<void> {
  const { Entries = [] } = await bus.send(
    new PutEventsCommand({
      Entries: [
        {
          EventBusName: requireEnv('EVENT_BUS_NAME'),
          Source: ownSource,
          DetailType: detailType,
          Detail: JSON.stringify(detail),
        },
      ],
    }),
  )
  const [{ ErrorCode: code, EventId: eventId } = {}] = Entries
  if (code !== undefined) throw new RefusedEntry(code)
  // Leads from a request, by its request_id, to the event that it caused.
  log.info('event published', { event_id: eventId, detail_type: detailType })
}

/** The bus accepted a request but refused its entry. The name of this error is the entry's error code. */
class RefusedEntry extends Error {
  constructor(code: string) {
    super('the bus refused an event')
    this.name = code
  }
}

/** Whether the bus refused an entry temporarily. The SDK retries failed requests, but not refused entries. */
const isPassingRefusal = (error: unknown): boolean => error instanceof RefusedEntry && isUnavailable(error)
