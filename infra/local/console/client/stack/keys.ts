import { make } from '../../../../authorization-page/dom.ts'
import { makePanel, makeTable, showInstant } from '../view.ts'
import { showChanges } from './read-local.ts'
import { drawTimeline, type SigningKey } from './timeline.ts'

/** The answer of `/_local/keys`. */
export interface Keys {
  keys: SigningKey[]
  evidence: { sequence: number; at: number; action: string; trigger: { kind: string }; hash: string }[]
  next_due: number | null
}

/** The signing keys, the life of each as a line, and the records of every step. */
export function makeKeys(): { element: HTMLElement; show: (keys: Keys) => void } {
  const panel = makePanel('keys', 'Signing keys')
  const show = showChanges((status: Keys) => {
    const { keys, evidence, next_due: nextDue } = status
    const evidenceTable = makeTable(
      'Evidence',
      [
        { head: '#', numeric: true, cell: ({ sequence }) => String(sequence) },
        { head: 'When', cell: ({ at }) => showInstant(at) },
        { head: 'Step', cell: ({ action }) => action },
        { head: 'Because of', cell: ({ trigger }) => trigger.kind },
        { head: 'Record', cell: ({ hash }) => make('code', {}, hash.slice(0, 12)) },
      ],
      evidence.toReversed(),
      'No step yet.',
    )
    panel.body.replaceChildren(
      drawTimeline(keys, nextDue),
      makeTable(
        'Signing keys',
        [
          { head: 'Key', cell: ({ kid }) => make('code', {}, `${kid.slice(0, 12)}…`) },
          { head: 'State', cell: ({ state }) => make('span', { class: `state ${state}` }, state) },
          { head: 'Since', cell: (key) => showInstant(stateSince(key)) },
        ],
        keys.toReversed(),
        'No key yet.',
      ),
      make('p', { class: 'soft' }, 'Next step: ', nextDue === null ? 'none' : showInstant(nextDue)),
      make('details', {}, make('summary', {}, `Evidence (${evidence.length})`), evidenceTable),
    )
  })
  return { element: panel.element, show }
}

const stateSince = ({ published_at, active_at, retiring_at, retired_at }: SigningKey): number =>
  retired_at ?? retiring_at ?? active_at ?? published_at
