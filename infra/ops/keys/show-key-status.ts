import type { KeyStatus } from './read-key-status.ts'

const instant = (at: number | null): string => (at === null ? '-' : new Date(at).toISOString())

/** The status for a person. */
export function showKeyStatus({ keys, evidence, next_due }: KeyStatus): string {
  const lines = keys.flatMap(({ kid, arn, state, published_at, active_at, retiring_at, retired_at }) => [
    `${state.padEnd(10)}${kid}`,
    `          ${arn}`,
    `          published ${instant(published_at)}  active ${instant(active_at)}`,
    `          retiring  ${instant(retiring_at)}  retired ${instant(retired_at)}`,
  ])
  const records = evidence.map(
    ({ sequence, at, action, trigger }) => `${sequence}  ${instant(at)}  ${action} (${trigger.kind})`,
  )
  return [...lines, '', 'evidence', ...records, '', `next due  ${instant(next_due)}`].join('\n')
}
