import { make } from '../../../../authorization-page/dom.ts'
import type { Api } from '../api.ts'
import type { Exact } from '../exact-json.ts'
import {
  makeFilter,
  makePager,
  makePanel,
  makeSelect,
  makeTable,
  type Page,
  type Panel,
  showDay,
} from '../view.ts'

interface Member {
  user_id: number
  nickname: string
  email: string
  joined_at: number
  level: number
  direct_count: number
  team_count: number
  package_amount: Exact
  team_performance: Exact
  note: string | null
}

const pageSize = 5
/** Characters of a note. */
const longestNote = 20

/** The members whom the user brought, with a note for each direct one, and all of them as a file. */
export function showCommunity(api: Api): HTMLElement {
  const panel = makePanel('community', 'Community')
  const filters = {
    type: makeSelect('type', [
      ['DIRECT', 'direct referrals'],
      ['COMMUNITY', 'entire downline'],
    ]),
    keyword: make('input', {
      name: 'keyword',
      type: 'search',
      placeholder: 'nickname or email',
      autocomplete: 'off',
    }),
    beginDate: make('input', { name: 'beginDate', type: 'date' }),
    endDate: make('input', { name: 'endDate', type: 'date' }),
  }
  const query = () =>
    Object.fromEntries(Object.entries(filters).map(([name, { value }]) => [name, value.trim()]))
  const list = make('div', {})
  let newest = 0
  const load = (current: number): Promise<void> =>
    panel.attempt(async () => {
      const mine = ++newest
      const page = await api.get<Page<Member>>('/community/members', { ...query(), current, size: pageSize })
      // An answer that a later question has overtaken is not what the filters say any more.
      if (mine !== newest) return
      list.replaceChildren(
        showMembers(page.records, (member) => makeNote(api, panel, member)),
        makePager(page, (number) => void load(number)),
      )
    })
  const save = () =>
    void panel.attempt(async () => {
      saveAs(await api.download('/community/members/export', query(), 'text/csv'), 'members.csv')
    })
  panel.body.append(
    make(
      'form',
      {
        class: 'filters',
        'aria-label': 'Filter members',
        onchange: () => void load(1),
        onsubmit(event) {
          event.preventDefault()
          void load(1)
        },
      },
      makeFilter('Show', filters.type),
      makeFilter('Keyword', filters.keyword),
      makeFilter('Joined from', filters.beginDate),
      makeFilter('to', filters.endDate),
      make('button', { type: 'button', onclick: save }, 'Export as CSV'),
    ),
    list,
  )
  void load(1)
  return panel.element
}

const showMembers = (members: Member[], note: (member: Member) => HTMLElement | string): HTMLElement =>
  makeTable(
    'Members',
    [
      { head: 'Nickname', cell: (member) => member.nickname },
      { head: 'Email', cell: (member) => member.email },
      { head: 'Note', cell: note },
      { head: 'Joined', cell: (member) => showDay(member.joined_at) },
      { head: 'Level', numeric: true, cell: (member) => String(member.level) },
      { head: 'Direct', numeric: true, cell: (member) => String(member.direct_count) },
      { head: 'Team', numeric: true, cell: (member) => String(member.team_count) },
      { head: 'Packages', numeric: true, cell: (member) => String(member.package_amount) },
      { head: 'Team performance', numeric: true, cell: (member) => String(member.team_performance) },
    ],
    members,
    'Nobody matches.',
  )

/** A note that can be edited, of a direct referral; nothing for anybody else. */
function makeNote(api: Api, panel: Panel, { user_id, nickname, note }: Member): HTMLElement | string {
  if (note === null) return ''
  const input = make('input', {
    value: note,
    maxlength: String(longestNote),
    size: '14',
    'aria-label': `Note on ${nickname}`,
    autocomplete: 'off',
  })
  const saved = make('span', { role: 'status', class: 'good' })
  return make(
    'form',
    {
      class: 'note',
      // What is typed here is no filter.
      onchange: (event) => event.stopPropagation(),
      onsubmit(event) {
        event.preventDefault()
        void panel.attempt(async () => {
          await api.post('/community/members/note', { target_user_id: user_id, note: input.value })
          saved.replaceChildren('saved')
        })
      },
    },
    input,
    make('button', { type: 'submit' }, 'Save'),
    saved,
  )
}

function saveAs(content: Blob, name: string): void {
  const url = URL.createObjectURL(content)
  make('a', { href: url, download: name }).click()
  URL.revokeObjectURL(url)
}
