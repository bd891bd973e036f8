import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import type { Model } from './api.ts'

interface ChartProps {
  /** One point a day, ascending, of one currency. */
  points: Model<'EarningPointVO'>[]
  /** Called with the index of the day under the pointer, or without one. */
  onPoint: (index: number | undefined) => void
}

const height = 220
const halfDay = 43_200
const isDark = matchMedia('(prefers-color-scheme: dark)')

/** Bars of earnings by day. Only their heights are doubles: the page's text has the exact amounts. */
export function EarningsChart({ points, onPoint }: ChartProps) {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = place.current
    if (!element) return undefined
    const heights = points.map(({ amount }) => Number(amount))
    const data: uPlot.AlignedData = [points.map(({ date }) => Date.parse(date) / 1000), heights]
    let chart: uPlot | undefined
    const draw = () => {
      chart?.destroy()
      chart = new uPlot(describeChart(element, onPoint), data, element)
    }
    // Draws at once, and again in another width or, because a canvas follows no style sheet, other colours.
    const width = new ResizeObserver(draw)
    width.observe(element)
    isDark.addEventListener('change', draw)
    return () => {
      width.disconnect()
      isDark.removeEventListener('change', draw)
      chart?.destroy()
    }
  }, [points, onPoint])
  return <div class="chart" ref={place} role="img" aria-label="Earnings by day, of which a list follows" />
}

function describeChart(element: HTMLElement, onPoint: ChartProps['onPoint']): uPlot.Options {
  // The style sheet gives the colours: of the text, of the lines and of the bars.
  const { color, borderTopColor, accentColor, fontFamily } = getComputedStyle(element)
  const axis = { stroke: color, font: `12px ${fontFamily}`, ticks: { show: false } }
  const paths = uPlot.paths.bars?.({ size: [0.65, 28], radius: 0.25 })
  return {
    width: element.clientWidth,
    height,
    padding: [12, 4, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
    // A date is a day without a time zone: its start in UTC is shown in UTC.
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'UTC'),
    scales: {
      x: { range: (_chart, min, max) => [min - halfDay, max + halfDay] },
      y: { range: (_chart, _min, max) => [0, max > 0 ? max * 1.1 : 1] },
    },
    axes: [
      { ...axis, grid: { show: false }, space: 72, size: 28, values: [[86_400, '{D} {MMM}']] as never },
      { ...axis, grid: { stroke: borderTopColor, width: 1 }, size: 56 },
    ],
    series: [{}, { fill: accentColor, width: 0, points: { show: false }, ...(paths && { paths }) }],
    hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? undefined)] },
  }
}
