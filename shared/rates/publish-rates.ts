import { ConditionFailed } from '../db/write.ts'
import { applyOnce, type EventRecord, type Outcome } from '../events/event-record.ts'
import { RejectedEvent } from '../events/rejected-event.ts'
import type { Big } from '../money.ts'
import { settings } from '../settings.ts'
import { putRates } from './rates.ts'

/**
 * Replaces the rates by those of a later publication, an earlier one having no effect. A publication is whole: a currency
 * that it leaves out has no rate any more, rather than one of unknown age.
 *
 * Throws Refused for another quote currency than the deployment's.
 */
export async function publishRates(
  { quote, asOf, rates }: { quote: string; asOf: number; rates: Record<string, Big> },
  record: EventRecord,
): Promise<Outcome> {
  if (quote !== settings().quoteCurrency) {
    throw new RejectedEvent('unknown_quote')
  }
  try {
    return await applyOnce(record, [putRates(quote, asOf, rates)])
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error
    return applyOnce(record, [])
  }
}
