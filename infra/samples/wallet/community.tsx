import { useMutation, useQuery } from '@tanstack/preact-query'
import { useEffect, useRef, useState } from 'preact/hooks'
import { api, csv, dataOf, type Model, queryClient, type Query } from './api.ts'
import { showCount, showDay } from './format.ts'
import { type Columns, Filter, Pages, pageSize, Tabs, useFilters } from './list.tsx'
import { Button, Card, Failed, Icon, Money, SaveButton } from './parts.tsx'

type Member = Model<'CommunityMemberVO'>

const showType = (type: string) => (type === 'COMMUNITY' ? 'Whole downline' : 'Direct referrals')

/** The people whom the user has invited, and whom they have invited in turn. */
export function Community() {
  const { query: chosen, current } = useFilters()
  const { keyword, beginDate, endDate, type } = chosen
  const filters = { keyword, beginDate, endDate, type: type as Query<'/community/members'>['type'] }
  const query = useQuery({
    queryKey: ['members', filters, current],
    queryFn: () =>
      dataOf(api.GET('/community/members', { params: { query: { ...filters, current, size: pageSize } } })),
    placeholderData: (previous) => previous,
  })
  const save = () => api.GET('/community/members/export', { params: { query: filters }, ...csv })
  const empty = keyword ? 'Nobody matches.' : 'Nobody here yet. Whom you invite shows up here.'
  return (
    <>
      <h1>Community</h1>
      <Tabs label="Members" name="type" choices={['', 'COMMUNITY']} show={showType} />
      <Card title={showType(type ?? '')} actions={<SaveButton name="members.csv" request={save} />}>
        <search class="filters">
          <Filter label="Name or email" name="keyword" type="search" />
          <Filter label="Joined from" name="beginDate" type="date" />
          <Filter label="To" name="endDate" type="date" />
        </search>
        <Pages query={query} name="members" columns={columns} empty={empty} />
      </Card>
    </>
  )
}

const columns: Columns<Member> = [
  [
    'Member',
    ({ nickname, email }) => (
      <>
        <strong>
          <bdi>{nickname}</bdi>
        </strong>
        <small>{email}</small>
      </>
    ),
    'main',
  ],
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
  const button = useRef<HTMLButtonElement>(null)
  const field = useRef<HTMLInputElement>(null)
  const isOpen = draft !== undefined
  useEffect(() => field.current?.focus(), [isOpen])
  const close = () => {
    setDraft(undefined)
    // The button is there again when the page has been drawn.
    setTimeout(() => button.current?.focus())
  }
  const { mutate, isPending, error } = useMutation({
    mutationFn: (newNote: string) =>
      dataOf(api.POST('/community/members/note', { body: { target_user_id: id, note: newNote } })),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['members'] }).then(close),
  })
  if (note === null) return <span class="quiet">—</span>
  const text = note || 'Add a note'
  if (!isOpen)
    return (
      <button
        ref={button}
        class="outline secondary note"
        aria-label={`${text} (note on ${nickname})`}
        onClick={() => setDraft(note)}
      >
        <bdi>{text}</bdi> <Icon name="edit" />
      </button>
    )
  // The service counts code points.
  const length = Array.from(draft.trim().normalize()).length
  const submit = (event: Event) => {
    event.preventDefault()
    mutate(draft)
  }
  return (
    <form class="note" onSubmit={submit} onKeyDown={({ key }) => key === 'Escape' && close()}>
      <input
        ref={field}
        aria-label={`Note on ${nickname}`}
        aria-invalid={length > maxNoteLength}
        value={draft}
        onInput={({ currentTarget }) => setDraft(currentTarget.value)}
      />
      <button aria-busy={isPending} disabled={length > maxNoteLength}>
        Save
      </button>
      <Button onClick={close}>Cancel</Button>
      <small>{`${length} of ${maxNoteLength} characters`}</small>
      {error && <Failed error={error} />}
    </form>
  )
}
