import { useMutation } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { api, csv, dataOf, type Model, queryClient, type Query } from './api.ts'
import { showCount, showDay } from './format.ts'
import { type Columns, List, useChoices } from './list.tsx'
import { Button, Failed, Heading, Money } from './parts.tsx'

type Member = Model<'CommunityMemberVO'>

const showType = (type: string) => (type === 'COMMUNITY' ? 'Whole downline' : 'Direct referrals')

/** The people whom the user has invited, and whom they have invited in turn. */
export function Community() {
  const { type = '', keyword } = useChoices().chosen
  return (
    <>
      <h1>Community</h1>
      <List
        title={showType(type)}
        name="members"
        filters={[
          { label: 'Show', name: 'type', values: ['DIRECT', 'COMMUNITY'], show: showType },
          { label: 'Name or email', name: 'keyword', type: 'search' },
          { label: 'Joined from', name: 'beginDate', type: 'date' },
          { label: 'To', name: 'endDate', type: 'date' },
        ]}
        columns={columns}
        empty={keyword ? 'Nobody matches.' : 'Nobody here yet. Whom you invite shows up here.'}
        request={(query: Query<'/community/members'>) => api.GET('/community/members', { params: { query } })}
        save={(query) => api.GET('/community/members/export', { params: { query }, ...csv })}
      />
    </>
  )
}

const columns: Columns<Member> = [
  ['Member', ({ nickname, email }) => <Heading main={nickname} detail={email} />, 'main'],
  ['Joined', (member) => showDay(member.joined_at)],
  ['Level', (member) => member.level, 'number'],
  ['Invited', (member) => showCount(member.direct_count), 'number'],
  ['Team', (member) => showCount(member.team_count), 'number'],
  ['Packages', (member) => <Money amount={member.package_amount} />, 'number'],
  ['Team packages', (member) => <Money amount={member.team_performance} />, 'number'],
  ['Note', (member) => <Note member={member} />],
]

const maxNoteLength = 20

/** The user's note on a direct referral, which is edited in place: Enter keeps it, Escape does not. */
function Note({ member: { user_id: id, nickname, note } }: { member: Member }) {
  const [draft, setDraft] = useState<string>()
  const cancel = () => setDraft(undefined)
  const { mutate, isPending, error } = useMutation({
    mutationFn: (newNote: string) =>
      dataOf(api.POST('/community/members/note', { body: { target_user_id: id, note: newNote } })),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['members'] }).then(cancel),
  })
  if (note === null) return <span class="quiet">—</span>
  const text = draft ?? note
  // The service counts code points.
  const length = Array.from(text.trim().normalize()).length
  const submit = (event: Event) => {
    event.preventDefault()
    mutate(text)
  }
  return (
    <form class="note" onSubmit={submit} onKeyDown={({ key }) => key === 'Escape' && cancel()}>
      <input
        aria-label={`Note on ${nickname}`}
        placeholder="Add a note"
        dir="auto"
        aria-invalid={length > maxNoteLength || undefined}
        value={text}
        onInput={({ currentTarget }) => setDraft(currentTarget.value)}
      />
      {text !== note && (
        <>
          <button aria-busy={isPending} disabled={length > maxNoteLength}>
            Save
          </button>
          <Button onClick={cancel}>Cancel</Button>
          <small>{`${length} of ${maxNoteLength} characters`}</small>
        </>
      )}
      {error && <Failed error={error} />}
    </form>
  )
}
