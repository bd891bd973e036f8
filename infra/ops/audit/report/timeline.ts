import { formatInstant } from '../../terminal.ts'
import type { ReportKey } from '../audit.ts'
import { escapeHtml } from './html.ts'

const width = 1000
const left = 190
const right = 24
const top = 34
const rowHeight = 34
const barHeight = 16

type Phase = 'published' | 'active' | 'retiring' | 'retired'

/**
 * SVG patterns for key states. States differ by pattern as well as colour, so a black-and-white print is
 * readable.
 */
const patterns = `<defs>
<pattern id="published" width="6" height="6" patternUnits="userSpaceOnUse"><rect width="6" height="6" fill="#dbe9f6"/><path d="M0 6 6 0" stroke="#2f6ea5" stroke-width="1"/></pattern>
<pattern id="retiring" width="6" height="6" patternUnits="userSpaceOnUse"><rect width="6" height="6" fill="#f7e3c8"/><circle cx="3" cy="3" r="1.2" fill="#a05a00"/></pattern>
</defs>`

const fills: Record<Phase, string> = {
  published: 'url(#published)',
  active: '#1f6f3f',
  retiring: 'url(#retiring)',
  retired: '#c9cdd2',
}

/**
 * Draws the states of all signing keys over time as SVG: a row per key, a bar per state, and a line for now.
 */
export function drawTimeline(keys: ReportKey[], now: number): string {
  const begin = Math.min(now - 60_000, ...keys.map(({ published_at: at }) => at))
  const end = Math.max(now, ...keys.map(({ remove_after: at }) => at ?? 0))
  const x = scale(begin, now, end)
  const height = top + keys.length * rowHeight + 44
  const rows = keys.map((key, index) => drawKey(key, top + index * rowHeight, x, now))
  const title = `States of ${keys.length} signing ${keys.length === 1 ? 'key' : 'keys'}, ${formatInstant(begin)} to ${formatInstant(end)}`
  return [
    `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeHtml(title)}" xmlns="http://www.w3.org/2000/svg">`,
    patterns,
    ...drawAxis([begin, now, end], x, height),
    ...rows,
    `<line x1="${x(now)}" y1="${top - 8}" x2="${x(now)}" y2="${height - 40}" stroke="#b3261e" stroke-width="1.5" stroke-dasharray="4 3"/>`,
    `<text x="${x(now)}" y="${top - 13}" text-anchor="middle" class="now">now</text>`,
    drawLegend(height - 14),
    '</svg>',
  ].join('\n')
}

function drawKey(key: ReportKey, y: number, x: (instant: number) => number, now: number): string {
  const bars = phasesOf(key, now).map(({ phase, from, to }) => {
    const tip = `${key.kid} ${phase}: ${formatInstant(from)} to ${to === now && phase !== 'retired' ? 'now' : formatInstant(to)}`
    const wide = Math.max(x(to) - x(from), 1.5)
    return `<rect x="${x(from)}" y="${y}" width="${wide}" height="${barHeight}" fill="${fills[phase]}" stroke="#40464d" stroke-width="0.5"><title>${escapeHtml(tip)}</title></rect>`
  })
  return [
    `<text x="${left - 8}" y="${y + 12}" text-anchor="end" class="kid">${escapeHtml(key.kid.slice(0, 12))}… ${key.signs ? '●' : ''}</text>`,
    ...bars,
    drawRemaining(key, y, x, now),
  ].join('\n')
}

/** Draws an outline for the time that a retiring key stays in the JWKS. */
function drawRemaining(key: ReportKey, y: number, x: (instant: number) => number, now: number): string {
  if (key.state !== 'retiring' || key.remove_after === null || key.remove_after <= now) return ''
  const wide = x(key.remove_after) - x(now)
  const tip = `${key.kid} stays in the JWKS until ${formatInstant(key.remove_after)}`
  return `<rect x="${x(now)}" y="${y}" width="${wide}" height="${barHeight}" fill="none" stroke="#a05a00" stroke-dasharray="3 3"><title>${escapeHtml(tip)}</title></rect>`
}

/** Lists the states that a signing key has had, with their start and end; the current one ends now. */
function phasesOf(key: ReportKey, now: number): { phase: Phase; from: number; to: number }[] {
  const starts: [Phase, number | null][] = [
    ['published', key.published_at],
    ['active', key.active_at],
    ['retiring', key.retiring_at],
    ['retired', key.retired_at],
  ]
  const reached = starts.flatMap(([phase, from]) => (from === null ? [] : [{ phase, from }]))
  return reached
    .map((entry, index) => ({ ...entry, to: reached[index + 1]?.from ?? now }))
    .filter(({ from, to }) => to > from)
}

/**
 * Maximum share of the timeline's width for the future. Without it, a day of future would squeeze an hour of
 * history.
 */
const maxFutureShare = 0.25

/**
 * Returns a function from instants to x coordinates. The past and the future each have their own linear
 * scale.
 */
function scale(begin: number, now: number, end: number): (instant: number) => number {
  const future = Math.min((end - now) / (end - begin), maxFutureShare)
  const middle = left + (1 - future) * (width - left - right)
  return (instant) =>
    instant <= now
      ? left + ((instant - begin) / (now - begin)) * (middle - left)
      : middle + ((instant - now) / (end - now)) * (width - right - middle)
}

function drawAxis(
  [begin, now, end]: [number, number, number],
  x: (instant: number) => number,
  height: number,
): string[] {
  const steps = 4
  const past = Array.from({ length: steps + 1 }, (_, index) => begin + ((now - begin) * index) / steps)
  // Omits the label of now if the label of the end would overlap it.
  const instants = x(end) - x(now) > 90 ? [...past, end] : [...past.slice(0, -1), end]
  const label = (instant: number) =>
    now - begin > 3 * 86_400_000
      ? formatInstant(instant).slice(0, 10)
      : formatInstant(instant).slice(5, now - begin > 3_600_000 ? 16 : 19)
  return instants.map((instant, index) => {
    const anchor = index === 0 ? 'start' : index === instants.length - 1 ? 'end' : 'middle'
    return `<line x1="${x(instant)}" y1="${top - 4}" x2="${x(instant)}" y2="${height - 44}" stroke="#d7dbe0"/><text x="${x(instant)}" y="${height - 32}" text-anchor="${anchor}">${label(instant)}</text>`
  })
}

function drawLegend(y: number): string {
  const phases = Object.entries(fills)
  return phases
    .map(
      ([phase, fill], index) =>
        `<rect x="${left + index * 130}" y="${y - 10}" width="22" height="12" fill="${fill}" stroke="#40464d" stroke-width="0.5"/><text x="${left + index * 130 + 28}" y="${y}">${phase}</text>`,
    )
    .join('\n')
}
