import uPlot from 'uplot'
import { make } from '../../../authorization-page/dom.ts'
import type { Api, Exact } from './api.ts'
import { makeDetails, makeFacts, makeFilter, makePanel, makeSelect, makeTable } from './elements.ts'

interface Earning {
  currency: string
  amount: Exact
}

type Point = Earning & { date: string }
type Overview = Record<'network_rewards' | 'devices' | 'traffic_gb', Exact> &
  Record<'total_earnings' | 'yesterday_earnings', Earning[]>

const chartHeight = 240

/** Shows the rewards dashboard: its figures, and the earnings by day as a chart and as a table. */
export function showEarnings(api: Api): HTMLElement {
  const panel = makePanel('earnings', 'Earnings')
  void panel.attempt(async () => {
    const [overview, points] = await Promise.all([
      api.get<Overview>('/dashboard/overview'),
      api.get<Point[]>('/dashboard/earnings'),
    ])
    const chart = make('div', { class: 'chart' })
    const table = make('div')
    const options = Object.fromEntries(points.map(({ currency }) => [currency, currency]))
    const currencies = makeSelect('earned', options)
    currencies.value = findMostEarned(points) ?? ''
    panel.body.replaceChildren(
      showFigures(overview),
      makeFilter('Currency', currencies),
      chart,
      makeDetails('As a table', table),
    )
    const draw = () => {
      const shown = points.filter(({ currency }) => currency === currencies.value)
      drawChart(chart, currencies.value, shown)
      const rows = shown.toReversed().map((point) => ({ ...point }))
      table.replaceChildren(makeTable('Earnings by day', 'date amount currency', rows, 'Nothing earned.'))
    }
    let width = 0
    const fit = () => {
      // Redraw only at a new width: drawing changes the height, which must not cause another drawing.
      if (chart.clientWidth !== width) draw()
      width = chart.clientWidth
    }
    fit()
    currencies.addEventListener('change', draw)
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw)
    new ResizeObserver(fit).observe(chart)
  })
  return panel.element
}

/** Finds the currency in which earnings were made on most days. */
function findMostEarned(points: Point[]): string | undefined {
  const earned = Object.groupBy(
    points.filter(({ amount }) => Number(amount) > 0),
    ({ currency }) => currency,
  )
  const [most] = Object.entries(earned).sort(([, a = []], [, b = []]) => b.length - a.length)
  return most?.[0]
}

function showFigures(overview: Overview): HTMLElement {
  const list = (amounts: Earning[]) =>
    amounts.map(({ currency, amount }) => `${amount} ${currency}`).join(', ') || 'nothing'
  return makeFacts('figures', {
    'Network rewards': String(overview.network_rewards),
    Earned: list(overview.total_earnings),
    Yesterday: list(overview.yesterday_earnings),
    Devices: String(overview.devices),
    'Traffic, GB': String(overview.traffic_gb),
  })
}

function drawChart(place: HTMLElement, currency: string, points: Point[]): void {
  // Asks the browser for the computed colours, because a canvas does not support light-dark().
  const [soft = '', faint = '', stroke = '', fill = ''] = ['soft', 'line', 'link', 'link-field'].map(
    (name) => {
      place.style.color = `var(--${name})`
      return getComputedStyle(place).color
    },
  )
  place.removeAttribute('style')
  const line = { stroke: faint }
  const axis = { stroke: soft, grid: line, ticks: line }
  const dots = { show: true, size: 5, fill: stroke }
  place.replaceChildren()
  new uPlot(
    {
      width: Math.max(place.clientWidth, 240),
      height: chartHeight,
      scales: { x: { time: true }, y: { range: (_chart, _least, most) => [0, most * 1.1 || 1] } },
      axes: [axis, { ...axis, size: 70 }],
      series: [{ value: '{YYYY}-{MM}-{DD}' }, { label: currency, stroke, fill, width: 2, points: dots }],
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    },
    // The chart rounds amounts to doubles. The table shows them exactly.
    [points.map(({ date }) => Date.parse(date) / 1000), points.map(({ amount }) => Number(amount))],
    place,
  )
  // Hides the chart from assistive technology: its legend only follows the pointer, and the table has the
  // same data.
  place.querySelector('.uplot')?.setAttribute('aria-hidden', 'true')
}
