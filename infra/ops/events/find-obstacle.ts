import { acceptedSources } from '../../event-patterns.ts'
import { events } from '../../events.ts'

/** Why the bus of a stage would not take an event; undefined if it does. */
export function findObstacle(
  stage: string,
  event: { detailType: string; source: string },
): string | undefined {
  const row = events.find(({ detailType }) => detailType === event.detailType)
  if (row === undefined) return 'no function takes events of this detail-type'
  const sources = acceptedSources(stage, row)
  if (sources === undefined || sources.includes(event.source)) return undefined
  return `the bus takes it only with the source ${sources.join(' or ')}`
}
