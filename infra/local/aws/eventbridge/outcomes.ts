import * as v from 'valibot'
import { ownSource } from '../../../../shared/env.ts'
import { OutcomeDetail, outcomeTypes } from '../../../../shared/events/outcome.ts'

/** The outcomes of events that the console shows. */
export type Outcomes = ReturnType<typeof openOutcomes>

const maxOutcomes = 50

const OutcomeEvent = v.object({
  source: v.literal(ownSource),
  'detail-type': v.picklist(outcomeTypes),
  detail: OutcomeDetail,
})

/** Keeps the newest outcomes that were told on a bus, in memory. */
export function openOutcomes() {
  const newest: OutcomeDetail[] = []
  return {
    /** Keeps an event of the bus, if it tells an outcome. */
    keep(event: unknown): void {
      const parsed = v.safeParse(OutcomeEvent, event)
      if (!parsed.success) return
      newest.unshift(parsed.output.detail)
      newest.splice(maxOutcomes)
    },
    /** Lists the outcomes, the one that was told last first. */
    list: (): readonly OutcomeDetail[] => newest,
  }
}
