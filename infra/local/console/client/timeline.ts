/** A signing key as the console shows it. Instants are epoch milliseconds. */
export interface SigningKey {
  kid: string
  state: 'published' | 'active' | 'retiring' | 'retired'
  published_at: number
  active_at: number | null
  retiring_at: number | null
  retired_at: number | null
}

const width = 600
const labelWidth = 92
const rowHeight = 26
const barHeight = 14

/** Draws each key as a bar from its publication to its retirement or now, with a colour for each state. */
export function drawTimeline(keys: SigningKey[]): Element {
  const now = Date.now()
  const first = Math.min(...keys.map((key) => key.published_at))
  const xOf = (instant: number) =>
    labelWidth + ((instant - first) / Math.max(now - first, 1)) * (width - labelWidth)
  const rows = keys.flatMap(({ kid, published_at, active_at, retiring_at, retired_at }, row) => {
    const steps = { published: published_at, active: active_at, retiring: retiring_at, retired: retired_at }
    const reached = Object.entries(steps).flatMap(([state, from]) => (from === null ? [] : [{ state, from }]))
    const bars = reached.flatMap(({ state, from }, index) => {
      if (state === 'retired') return []
      const x = xOf(from)
      const barWidth = Math.max(xOf(reached[index + 1]?.from ?? now) - x, 3)
      return [makeSvg('rect', { class: state, x, y: row * rowHeight, width: barWidth, height: barHeight })]
    })
    return [makeSvg('text', { x: 0, y: row * rowHeight + barHeight }, kid.slice(0, 9)), ...bars]
  })
  const label = `Life of ${keys.length} signing keys; the table below says the same in words`
  const viewBox = `0 0 ${width + 3} ${keys.length * rowHeight}`
  return makeSvg('svg', { viewBox, class: 'timeline', role: 'img', 'aria-label': label }, ...rows)
}

function makeSvg(
  name: string,
  attributes: Record<string, string | number>,
  ...children: (Node | string)[]
): Element {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name)
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, String(value))
  element.append(...children)
  return element
}
