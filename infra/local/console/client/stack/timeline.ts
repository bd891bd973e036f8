/** A signing key; instants are epoch milliseconds. */
export interface SigningKey {
  kid: string
  state: 'published' | 'active' | 'retiring' | 'retired'
  published_at: number
  active_at: number | null
  retiring_at: number | null
  retired_at: number | null
}

const namespace = 'http://www.w3.org/2000/svg'
const width = 600
const rowHeight = 26
const labelWidth = 92
const barHeight = 14

/** Draws the life of each key as a bar from its publication on, a colour for each state, with a line for the present. */
export function drawTimeline(keys: SigningKey[], nextDue: number | null): Element {
  const now = Date.now()
  const first = Math.min(...keys.map((key) => key.published_at), now)
  const last = Math.max(now + (now - first) * 0.15, Math.min(nextDue ?? now, now + (now - first))) + 1
  const place = (instant: number) =>
    labelWidth + ((Math.min(instant, last) - first) / (last - first)) * (width - labelWidth)
  const height = keys.length * rowHeight + 22
  const svg = element('svg', { viewBox: `0 0 ${width} ${height}`, class: 'timeline', role: 'img' })
  svg.setAttribute(
    'aria-label',
    `Life of ${keys.length} signing keys; the table below says the same in words`,
  )
  keys.forEach((key, row) => {
    const y = row * rowHeight + 4
    svg.append(text(key.kid.slice(0, 9), 0, y + barHeight - 2))
    for (const { state, from, to } of spans(key, now))
      svg.append(
        element('rect', {
          class: state,
          x: place(from),
          y,
          width: Math.max(place(to) - place(from), 3),
          height: barHeight,
          rx: 3,
        }),
      )
  })
  const x = place(now)
  svg.append(element('line', { class: 'now', x1: x, x2: x, y1: 0, y2: height - 18 }))
  svg.append(text('now', Math.min(x - 10, width - 26), height - 4))
  return svg
}

/** The states that a key has gone through, the last one until now. */
function spans(key: SigningKey, now: number): { state: string; from: number; to: number }[] {
  const steps = [
    { state: 'published', from: key.published_at },
    { state: 'active', from: key.active_at },
    { state: 'retiring', from: key.retiring_at },
    { state: 'retired', from: key.retired_at },
  ].flatMap(({ state, from }) => (from === null ? [] : [{ state, from }]))
  return steps
    .map(({ state, from }, index) => ({ state, from, to: steps[index + 1]?.from ?? now }))
    .filter(({ state }) => state !== 'retired')
}

function text(content: string, x: number, y: number): Element {
  const created = element('text', { x, y })
  created.append(content)
  return created
}

function element(name: string, attributes: Record<string, string | number>): Element {
  const created = document.createElementNS(namespace, name)
  for (const [attribute, value] of Object.entries(attributes)) created.setAttribute(attribute, String(value))
  return created
}
