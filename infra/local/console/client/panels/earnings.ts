import uPlot from 'uplot'
import { make } from '../../../../authorization-page/dom.ts'
import type { Api } from '../api.ts'
import type { Exact } from '../exact-json.ts'
import { makeFilter, makePanel, makeSelect, makeTable } from '../view.ts'

interface Point {
  date: string
  currency: string
  amount: Exact
}

interface CurrencyAmount {
  currency: string
  amount: Exact
}

interface Overview {
  network_rewards: Exact
  devices: number
  traffic_gb: Exact
  total_earnings: CurrencyAmount[]
  yesterday_earnings: CurrencyAmount[]
}

const chartHeight = 240

/** The dashboard: its figures, and earnings by day as a chart and as a table. */
export function showEarnings(api: Api): HTMLElement {
  const panel = makePanel('earnings', 'Earnings')
  void panel.attempt(async () => {
    const [overview, points] = await Promise.all([
      api.get<Overview>('/dashboard/overview'),
      api.get<Point[]>('/dashboard/earnings'),
    ])
    const currencies = [...new Set(points.map(({ currency }) => currency))]
    const chosen = makeSelect(
      'earned',
      currencies.map((currency) => [currency, currency]),
    )
    // The reward currency earns daily: the one with the most days is the one to look at first.
    chosen.value = mostEarned(points) ?? ''
    const chart = make('div', { class: 'chart' })
    const table = make('div', {})
    panel.body.replaceChildren(showFigures(overview), makeFilter('Currency', chosen), chart, table)
    const earned = () => points.filter(({ currency }) => currency === chosen.value)
    const draw = () => drawChart(chart, chosen.value, earned())
    const choose = () => {
      draw()
      table.replaceChildren(listEarned(chosen.value, earned()))
    }
    let width = 0
    const fit = () => {
      // A change of height is none of the chart's: it may even be its own doing.
      if (chart.clientWidth !== width) draw()
      width = chart.clientWidth
    }
    choose()
    chosen.addEventListener('change', choose)
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw)
    new ResizeObserver(fit).observe(chart)
  })
  return panel.element
}

function mostEarned(points: Point[]): string | undefined {
  const days: Record<string, number> = {}
  for (const { currency, amount } of points)
    days[currency] = (days[currency] ?? 0) + (Number(amount) > 0 ? 1 : 0)
  return Object.entries(days).sort(([, one], [, other]) => other - one)[0]?.[0]
}

function showFigures(overview: Overview): HTMLElement {
  const list = (amounts: CurrencyAmount[]) =>
    amounts.map(({ currency, amount }) => `${amount} ${currency}`).join(', ') || 'nothing'
  const figures: Record<string, string> = {
    'Network rewards': String(overview.network_rewards),
    Earned: list(overview.total_earnings),
    Yesterday: list(overview.yesterday_earnings),
    Devices: String(overview.devices),
    'Traffic, GB': String(overview.traffic_gb),
  }
  return make(
    'dl',
    { class: 'figures' },
    ...Object.entries(figures).map(([name, value]) =>
      make('div', {}, make('dt', {}, name), make('dd', {}, value)),
    ),
  )
}

function drawChart(place: HTMLElement, currency: string, points: Point[]): void {
  const style = getComputedStyle(place)
  const colour = (name: string) => style.getPropertyValue(name)
  const axis = {
    stroke: colour('--soft'),
    grid: { stroke: colour('--line') },
    ticks: { stroke: colour('--line') },
  }
  place.replaceChildren()
  new uPlot(
    {
      width: Math.max(place.clientWidth, 240),
      height: chartHeight,
      scales: { x: { time: true }, y: { range: (_chart, _least, most) => [0, most * 1.1 || 1] } },
      axes: [axis, { ...axis, size: 70 }],
      series: [
        { value: '{YYYY}-{MM}-{DD}' },
        {
          label: currency,
          stroke: colour('--link'),
          fill: colour('--link-field'),
          width: 2,
          points: { show: true, size: 5, fill: colour('--link') },
        },
      ],
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    },
    // The position of a dot on the screen: exact amounts stand in the table.
    [points.map(({ date }) => Date.parse(date) / 1000), points.map(({ amount }) => Number(amount))],
    place,
  )
  // Its legend follows the pointer and says nothing by itself: the table below is for everybody.
  place.querySelector('.uplot')?.setAttribute('aria-hidden', 'true')
}

function listEarned(currency: string, points: Point[]): HTMLElement {
  const table = makeTable(
    'Earnings by day',
    [
      { head: 'Day', cell: ({ date }) => date },
      { head: `Earned, ${currency}`, numeric: true, cell: ({ amount }) => String(amount) },
    ],
    points.toReversed(),
    'Nothing earned.',
  )
  return make('details', {}, make('summary', {}, 'As a table'), table)
}
