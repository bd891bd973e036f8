import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge'
import type { SQSRecord } from 'aws-lambda'
import { awsClient } from '../aws/aws-client.ts'
import { clientOptions } from '../aws/client-options.ts'
import { ownSource, requireEnv } from '../env.ts'
import { errorSummary, log } from '../log.ts'
import { type OutcomeDetail, outcomeType } from './outcome.ts'

/** How long a batch waits for the bus, in milliseconds. Its events have taken effect before. */
const maxMilliseconds = 2_000

/** Maximum number of entries of one call (AWS: PutEvents). Ten outcomes are far below its maximum size. */
const maxEntries = 10

const { requestHandler, ...options } = clientOptions()
const bus = awsClient(
  new EventBridgeClient({
    ...options,
    requestHandler: { ...requestHandler, requestTimeout: maxMilliseconds / 2 },
    maxAttempts: 2,
  }),
)

/**
 * Tells the outcomes of messages on the bus, with the service as their source: one call for ten. Resolves
 * with the messages whose outcomes the bus has not taken, perhaps all of them; never rejects.
 */
export async function tellOutcomes(outcomes: ReadonlyMap<SQSRecord, OutcomeDetail>): Promise<SQSRecord[]> {
  const messages = [...outcomes.keys()]
  const told = [...outcomes.values()]
  const untold: SQSRecord[] = []
  const abortSignal = AbortSignal.timeout(maxMilliseconds)
  for (let start = 0; start < told.length; start += maxEntries) {
    const areTaken = await putOutcomes(told.slice(start, start + maxEntries), abortSignal)
    untold.push(...messages.slice(start, start + maxEntries).filter((_, i) => !areTaken[i]))
  }
  return untold
}

/** Puts up to ten outcomes on the bus. Resolves with whether each was taken. */
async function putOutcomes(outcomes: readonly OutcomeDetail[], abortSignal: AbortSignal): Promise<boolean[]> {
  try {
    const { Entries = [] } = await bus.send(
      new PutEventsCommand({
        Entries: outcomes.map((outcome) => ({
          EventBusName: requireEnv('EVENT_BUS_NAME'),
          Source: ownSource,
          DetailType: outcomeType(outcome),
          Detail: JSON.stringify(outcome),
        })),
      }),
      { abortSignal },
    )
    const codes = outcomes.map((_, i) => Entries[i]?.ErrorCode)
    const refused = codes.find((code) => code !== undefined)
    if (refused !== undefined) log.warn('the bus refused an outcome', { code: refused })
    return codes.map((code) => code === undefined)
  } catch (error) {
    log.warn('outcomes could not be told', { cause: errorSummary(error) })
    return outcomes.map(() => false)
  }
}
