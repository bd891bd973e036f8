import { make } from '../../../authorization-page/dom.ts'
import * as ui from './elements.ts'
import type { Api } from './api.ts'

const maxNoteLength = 20

/** Shows the panel with the user's referrals, notes on the direct ones, and a download of all of them. */
export function showCommunity(api: Api): HTMLElement {
  const panel = ui.makePanel('community', 'Community')
  const filters = {
    Show: ui.makeSelect('type', { 'direct referrals': 'DIRECT', 'entire downline': 'COMMUNITY' }),
    Keyword: ui.makeInput('keyword', { type: 'search', placeholder: 'nickname or email' }),
    'Joined from': ui.makeInput('beginDate', { type: 'date' }),
    to: ui.makeInput('endDate', { type: 'date' }),
  }
  const download = () =>
    void panel.attempt(async () => {
      const csv = await api.download('/community/members/export', ui.readControls(filters), 'text/csv')
      saveAs(csv, 'members.csv')
    })
  ui.showPagedList(panel, {
    label: 'Members',
    filters,
    extras: [ui.makeButton('Export as CSV', download)],
    read: (query) => api.get('/community/members', query),
    size: 5,
    columns: 'nickname email note joined_at level direct_count team_count package_amount team_performance',
    cells: { note: (member) => makeNote(api, panel, member) },
    none: 'Nobody matches.',
  })
  return panel.element
}

/** Makes an editable note on a direct referral; an empty text for any other member. */
function makeNote(api: Api, panel: ui.Panel, { user_id, nickname, note }: ui.Row): HTMLElement | string {
  if (typeof note !== 'string') return ''
  const input = ui.makeInput('note', {
    value: note,
    maxlength: String(maxNoteLength),
    size: '14',
    'aria-label': `Note on ${String(nickname)}`,
  })
  const saved = make('span', { role: 'status', class: 'good' })
  const onsubmit = (event: Event) => {
    event.preventDefault()
    void panel.attempt(async () => {
      await api.post('/community/members/note', { target_user_id: user_id, note: input.value })
      saved.replaceChildren('saved')
    })
  }
  return make('form', { class: 'note', onsubmit }, input, make('button', { type: 'submit' }, 'Save'), saved)
}

function saveAs(content: Blob, name: string): void {
  const url = URL.createObjectURL(content)
  make('a', { href: url, download: name }).click()
  URL.revokeObjectURL(url)
}
