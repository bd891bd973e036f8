import { makeSvg } from './elements.ts'

/** A signing key. Instants are epoch milliseconds. */
export interface SigningKey {
  kid: string
  state: 'published' | 'active' | 'retiring' | 'retired'
  published_at: number
  active_at: number | null
  retiring_at: number | null
  retired_at: number | null
}

const width = 600
const rowHeight = 26
const labelWidth = 92
const barHeight = 14

/** Draws the life of each key as a bar with a colour for each state, and a line at the present. */
export function drawTimeline(keys: SigningKey[], nextDue: number | null): Element {
  const now = Date.now()
  const first = Math.min(...keys.map((key) => key.published_at), now)
  const last = Math.max(now + (now - first) * 0.15, Math.min(nextDue ?? now, now + (now - first))) + 1
  const xOf = (instant: number) =>
    labelWidth + ((Math.min(instant, last) - first) / (last - first)) * (width - labelWidth)
  const height = keys.length * rowHeight + 22
  const rows = keys.flatMap((key, row) => {
    const y = row * rowHeight + 4
    const bars = listStates(key, now).map(({ state, from, to }) => {
      const x = xOf(from)
      const bar = { x, y, width: Math.max(xOf(to) - x, 3), height: barHeight, rx: 3 }
      return makeSvg('rect', { class: state, ...bar })
    })
    return [makeSvg('text', { x: 0, y: y + barHeight - 2 }, key.kid.slice(0, 9)), ...bars]
  })
  const x = xOf(now)
  return makeSvg(
    'svg',
    {
      viewBox: `0 0 ${width} ${height}`,
      class: 'timeline',
      role: 'img',
      'aria-label': `Life of ${keys.length} signing keys; the table below says the same in words`,
    },
    ...rows,
    makeSvg('line', { class: 'now', x1: x, x2: x, y1: 0, y2: height - 18 }),
    makeSvg('text', { x: Math.min(x - 10, width - 26), y: height - 4 }, 'now'),
  )
}

/** The states that a key has gone through before it was retired, the last one until now. */
function listStates(key: SigningKey, now: number): { state: string; from: number; to: number }[] {
  const { published_at, active_at, retiring_at, retired_at } = key
  const instants = { published: published_at, active: active_at, retiring: retiring_at, retired: retired_at }
  const reached = Object.entries(instants).flatMap(([state, from]) =>
    from === null ? [] : [{ state, from }],
  )
  return reached
    .map(({ state, from }, index) => ({ state, from, to: reached[index + 1]?.from ?? now }))
    .filter(({ state }) => state !== 'retired')
}
